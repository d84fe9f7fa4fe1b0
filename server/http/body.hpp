// The body of a request: read straight into the block that its tensors keep, or skipped.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <charconv>
#include <cstring>

#include "http/deadline.hpp"
#include "http/shared.hpp"
#include "protocol/compression.hpp"

namespace polychron::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Parser = http::request_parser<http::buffer_body>;

/// A block that a body is read into, and that its tensors keep.
struct Block {
  Block(std::size_t size, Budget& budget) : bytes(Buffer::uninitialized(size)), share(budget) {}
  Buffer bytes;
  Share share;
};

inline std::string_view field(const Parser& parser, http::field name) {
  const auto value = parser.get()[name];
  return {value.data(), value.size()};
}

inline std::string_view field(const Parser& parser, const char* name) {
  const auto value = parser.get()[name];
  return {value.data(), value.size()};
}

inline std::optional<std::size_t> json_length_of(const Parser& parser) {
  const auto text = field(parser, "Inference-Header-Content-Length");
  if (text.empty()) return std::nullopt;
  std::size_t length = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (failed != std::errc() || end != text.data() + text.size())
    throw Refusal(Status::bad_request, "Inference-Header-Content-Length is '" +
                                           printable(text, 40) + "', expected a whole number");
  return length;
}

/// Where the body begins in its block, so that the first tensor behind the JSON lies on a border
/// that kernels like.
inline std::size_t offset_for(std::optional<std::size_t> json_length) {
  constexpr auto border = Buffer::alignment;
  return (border - json_length.value_or(0) % border) % border;
}

[[noreturn]] inline void too_large(std::uint64_t size, std::uint64_t most, const char* what) {
  throw Refusal(Status::too_large, std::string(what) + " has " + describe_bytes(size) +
                                       ", at most " + describe_bytes(most));
}

/// After "Expect: 100-continue" nobody knows if a client that is refused sends its body.
inline bool can_skip(const Parser& parser) {
  return !parser.chunked() && field(parser, http::field::expect).empty();
}

/// The time within which that many bytes must have passed.
inline std::chrono::seconds transfer_time(const HttpOptions& options, std::uint64_t bytes) {
  return options.transfer_timeout + std::chrono::seconds(bytes / (64 * 1024));
}

/// Reads one body. What it refers to lives longer.
template <class Stream>
class BodyReader {
 public:
  BodyReader(Stream& stream, beast::flat_buffer& buffer, Deadline& deadline, HttpShared& shared)
      : stream_(stream), buffer_(buffer), deadline_(deadline), shared_(shared) {}

  /// Throws Refusal (too_large) if the header announces more than a body may have.
  void check_length(const Parser& parser) const;
  /// Throws Refusal; system_error where the client is gone.
  asio::awaitable<void> read(Parser& parser, HttpRequest& request);
  /// Reads a body that was refused, and forgets it. False if it did not come.
  asio::awaitable<bool> skip(const Parser& parser);

 private:
  asio::awaitable<void> go_on();
  asio::awaitable<void> read_sized(HttpRequest& request, std::uint64_t size);
  asio::awaitable<void> read_chunked(Parser& parser, HttpRequest& request);
  /// Makes a copy of `bytes` the request's body.
  void take_copy(HttpRequest& request, std::span<const std::byte> bytes);

  Stream& stream_;
  beast::flat_buffer& buffer_;
  Deadline& deadline_;
  HttpShared& shared_;
};

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::go_on() {
  constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code failed;
  const auto data = asio::buffer(text);
  co_await asio::async_write(stream_, data, asio::redirect_error(asio::use_awaitable, failed));
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read_sized(HttpRequest& request, std::uint64_t size) {
  if (size == 0) co_return;
  const auto offset = offset_for(request.json_length);
  const auto block = std::make_shared<Block>(offset + size, shared_.service.budget);
  std::byte* const begin = block->bytes.data() + offset;
  const auto had = std::min<std::uint64_t>(size, buffer_.size());
  block->share.grow_to(had);
  std::memcpy(begin, buffer_.data().data(), had);
  buffer_.consume(had);
  // Straight into the block: no copy after this one. Memory is counted as it fills.
  constexpr std::uint64_t step = 1 << 20;
  for (auto at = had; at < size;) {
    const auto part = std::min(step, size - at);
    block->share.grow_to(at + part);
    error_code failed;
    const auto space = asio::buffer(begin + at, part);
    at += co_await asio::async_read(stream_, space,
                                    asio::redirect_error(asio::use_awaitable, failed));
    if (deadline_.expired())
      throw Refusal(Status::too_slow, "the body of " + describe_bytes(size) +
                                          " did not arrive in time; " + describe_bytes(at) +
                                          " came");
    if (failed) throw boost::system::system_error(failed);
  }
  request.body = {block, {begin, size}};
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read_chunked(Parser& parser, HttpRequest& request) {
  const auto most = shared_.options.body_bytes;
  auto share = std::make_shared<Share>(shared_.service.budget);
  std::vector<std::byte> bytes;
  while (!parser.is_done()) {
    const auto have = bytes.size();
    bytes.resize(have + 64 * 1024);
    share->grow_to(2 * bytes.size());  // it grows by doubling, and is copied once
    parser.get().body().data = bytes.data() + have;
    parser.get().body().size = bytes.size() - have;
    error_code failed;
    co_await http::async_read_some(stream_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, failed));
    if (failed == http::error::need_buffer) failed = {};
    if (deadline_.expired()) throw Refusal(Status::too_slow, "the body did not arrive in time");
    if (failed) throw boost::system::system_error(failed);
    bytes.resize(bytes.size() - parser.get().body().size);
    if (bytes.size() > most) too_large(bytes.size(), most, "the body");
  }
  take_copy(request, bytes);
}

template <class Stream>
void BodyReader<Stream>::check_length(const Parser& parser) const {
  const auto length = parser.content_length().value_or(0), most = shared_.options.body_bytes;
  if (length > most) too_large(length, most, "the body");
}

template <class Stream>
asio::awaitable<bool> BodyReader<Stream>::skip(const Parser& parser) {
  const auto length = parser.content_length().value_or(0);
  auto left = length - std::min<std::uint64_t>(length, buffer_.size());
  buffer_.consume(length - left);
  deadline_.set(transfer_time(shared_.options, left));
  std::vector<char> unread(std::min<std::uint64_t>(left, 64 * 1024));
  error_code failed;
  while (left > 0 && !failed && !deadline_.expired()) {
    const auto space = asio::buffer(unread.data(), std::min<std::uint64_t>(left, unread.size()));
    left -=
        co_await stream_.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
  }
  co_return left == 0;
}

template <class Stream>
void BodyReader<Stream>::take_copy(HttpRequest& request, std::span<const std::byte> bytes) {
  const auto offset = offset_for(request.json_length);
  const auto block = std::make_shared<Block>(offset + bytes.size(), shared_.service.budget);
  block->share.grow_to(bytes.size());
  std::memcpy(block->bytes.data() + offset, bytes.data(), bytes.size());
  request.body = {block, block->bytes.bytes().subspan(offset)};
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read(Parser& parser, HttpRequest& request) {
  const auto& options = shared_.options;
  const auto length = parser.content_length();
  request.json_length = json_length_of(parser);
  const auto encoding = field(parser, http::field::content_encoding);
  const bool compressed = is_compressed(encoding);
  deadline_.set(transfer_time(shared_.options, length.value_or(options.body_bytes)));
  if (field(parser, http::field::expect) == "100-continue" && buffer_.size() == 0) co_await go_on();
  if (parser.chunked())
    co_await read_chunked(parser, request);
  else
    co_await read_sized(request, length.value_or(0));
  if (compressed) {
    const auto plain = decompressed(request.body.bytes, options.body_bytes);
    take_copy(request, std::as_bytes(std::span(plain)));
  }
  const auto json_bytes = request.json_length.value_or(request.body.bytes.size());
  if (json_bytes > options.json_bytes) too_large(json_bytes, options.json_bytes, "the JSON");
}

}  // namespace polychron::server
