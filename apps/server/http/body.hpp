// The body of a request: read straight into the block that its tensors keep, or skipped.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <cstring>

#include "http/await.hpp"
#include "http/block.hpp"
#include "http/deadline.hpp"
#include "http/request.hpp"
#include "http/shared.hpp"

namespace polychron::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Parser = http::request_parser<http::buffer_body>;

template <class Name>
std::string_view field(const Parser& parser, Name name) {
  const auto value = parser.get()[name];
  return {value.data(), value.size()};
}

/// Reads one body. What it refers to lives longer.
template <class Stream>
class BodyReader {
 public:
  BodyReader(Stream& stream, beast::flat_buffer& buffer, Deadline& deadline, HttpShared& shared,
             Connections::Place place)
      : stream_(stream), buffer_(buffer), deadline_(deadline), shared_(shared), place_(place) {}

  /// Throws Refusal; system_error where the client is gone.
  asio::awaitable<void> read(Parser& parser, HttpRequest& request);
  /// Reads a body that was refused, and forgets it. False if it did not come.
  asio::awaitable<bool> skip(std::uint64_t length);

 private:
  asio::awaitable<void> go_on();
  asio::awaitable<void> read_sized(HttpRequest& request, std::uint64_t size);
  asio::awaitable<void> read_chunked(Parser& parser, HttpRequest& request);
  /// Notes that bytes have come.
  void note(Transfer& transfer, std::uint64_t bytes);
  /// The same. Throws if they did not come, or not in time.
  void check(Transfer& transfer, std::uint64_t bytes, error_code failed);

  Stream& stream_;
  beast::flat_buffer& buffer_;
  Deadline& deadline_;
  HttpShared& shared_;
  const Connections::Place place_;
};

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::go_on() {
  constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code failed;
  const auto data = asio::buffer(text);
  co_await asio::async_write(stream_, data, asio::redirect_error(asio::use_awaitable, failed));
}

template <class Stream>
void BodyReader<Stream>::note(Transfer& transfer, std::uint64_t bytes) {
  if (transfer.pass(bytes)) shared_.connections.wait(place_, Connections::State::transferring);
  deadline_.set_at(transfer.due());
}

template <class Stream>
void BodyReader<Stream>::check(Transfer& transfer, std::uint64_t bytes, error_code failed) {
  if (deadline_.is_over())
    throw Refusal(Status::unavailable,
                  "too many connections: this one has waited for its client longest", 1);
  if (deadline_.expired()) throw Refusal(Status::too_slow, "the body did not arrive in time");
  if (failed) throw boost::system::system_error(failed);
  note(transfer, bytes);
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read_sized(HttpRequest& request, std::uint64_t size) {
  const auto offset = offset_for(request.json_length);
  const auto block = std::make_shared<Block>(offset + size, shared_.service.budget);
  std::byte* const begin = block->bytes.data() + offset;
  auto at = std::min<std::uint64_t>(size, buffer_.size());
  block->share.set(at);
  std::memcpy(begin, buffer_.data().data(), at);
  buffer_.consume(at);
  Transfer transfer(shared_.options.transfer_timeout);
  note(transfer, at);
  // Straight into the block: no copy after this one. Memory is counted as it fills.
  constexpr std::uint64_t step = 1 << 20;
  while (at < size) {
    const auto part = std::min(step - at % step, size - at);
    block->share.set(at + part);
    error_code failed;
    const auto space = asio::buffer(begin + at, part);
    const auto got =
        co_await stream_.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
    check(transfer, got, failed);
    at += got;
  }
  request.body = {block, {begin, size}};
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read_chunked(Parser& parser, HttpRequest& request) {
  const auto most =
      request.compressed ? shared_.options.body_bytes : most_plain(shared_.options, request);
  GrowingBody body(offset_for(request.json_length), most, shared_.service.budget);
  Transfer transfer(shared_.options.transfer_timeout);
  note(transfer, 0);
  parser.eager(true);  // all chunks that have come are one step
  while (!parser.is_done()) {
    const auto space = body.space();
    auto& into = parser.get().body();
    into.data = space.data();
    into.size = space.size();
    error_code failed;
    co_await http::async_read_some(stream_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, failed));
    if (failed == http::error::need_buffer) failed = {};
    const auto used = space.size() - into.size;
    check(transfer, used, failed);
    body.add(used);
  }
  request.body = body.take();
}

template <class Stream>
asio::awaitable<bool> BodyReader<Stream>::skip(std::uint64_t length) {
  auto left = length - std::min<std::uint64_t>(length, buffer_.size());
  buffer_.consume(length - left);
  Transfer transfer(shared_.options.transfer_timeout);
  note(transfer, 0);
  std::vector<char> unread(std::min<std::uint64_t>(left, 64 * 1024));
  error_code failed;
  while (left > 0 && !failed && !deadline_.expired()) {
    const auto space = asio::buffer(unread.data(), std::min<std::uint64_t>(left, unread.size()));
    const auto got =
        co_await stream_.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
    left -= got;
    if (!failed) note(transfer, got);
  }
  co_return left == 0;
}

template <class Stream>
asio::awaitable<void> BodyReader<Stream>::read(Parser& parser, HttpRequest& request) {
  if (field(parser, http::field::expect) == "100-continue" && buffer_.size() == 0) co_await go_on();
  if (parser.chunked())
    co_await read_chunked(parser, request);
  else if (const auto size = parser.content_length().value_or(0); size > 0)
    co_await read_sized(request, size);
  deadline_.never();
}

/// Replaces a compressed body by what it has. Throws Refusal.
inline asio::awaitable<void> decompress_body(HttpShared& shared, HttpRequest& request) {
  // Few bytes may become many: all is work for the worker.
  const auto bytes = std::max(Worker::large, request.body.bytes.size());
  request.body = co_await async_work(shared.worker, bytes, [&] {
    return decompressed(request.body.bytes, offset_for(request.json_length),
                        most_plain(shared.options, request), shared.service.budget);
  });
}

}  // namespace polychron::server
