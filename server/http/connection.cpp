// One connection: reads requests, lets them be answered, writes the answers, in order.
//
// Invariants: a body takes memory only as it arrives; a connection that makes no progress ends; a
// request whose client is gone is cancelled.
#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <charconv>
#include <cstring>

#include "http/deadline.hpp"
#include "http/shared.hpp"
#include "http/watch.hpp"
#include "protocol/compression.hpp"

namespace polychron::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Parser = http::request_parser<http::buffer_body>;

namespace {

/// A block that a body is read into, and that its tensors keep.
struct Block {
  Block(std::size_t size, Budget& budget) : bytes(Buffer::uninitialized(size)), share(budget) {}
  Buffer bytes;
  Share share;
};

std::string_view field(const Parser& parser, http::field name) {
  const auto value = parser.get()[name];
  return {value.data(), value.size()};
}

std::string_view field(const Parser& parser, const char* name) {
  const auto value = parser.get()[name];
  return {value.data(), value.size()};
}

std::optional<std::size_t> json_length_of(const Parser& parser) {
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
std::size_t offset_for(std::optional<std::size_t> json_length) {
  constexpr auto border = Buffer::alignment;
  return (border - json_length.value_or(0) % border) % border;
}

[[noreturn]] void too_large(std::uint64_t size, std::uint64_t most, const char* what) {
  throw Refusal(Status::too_large, std::string(what) + " has " + describe_bytes(size) +
                                       ", at most " + describe_bytes(most));
}

std::string head_of(const HttpReply& reply, std::size_t size, bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(static_cast<int>(reply.status)) + " ";
  head += phrase(reply.status);
  head += "\r\nContent-Type: " + reply.type;
  head += "\r\nContent-Length: " + std::to_string(size);
  head += "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store";
  for (const auto& [name, value] : reply.headers) head += "\r\n" + name + ": " + value;
  head += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  return head;
}

}  // namespace

template <class Stream>
class Connection {
 public:
  Connection(Stream stream, std::shared_ptr<HttpShared> shared)
      : stream_(std::move(stream)),
        shared_(std::move(shared)),
        buffer_(shared_->options.header_bytes + 16 * 1024),
        deadline_(std::make_shared<Deadline>(socket())) {}
  ~Connection() { deadline_->end(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Stream& stream() { return stream_; }
  asio::ip::tcp::socket& socket() { return beast::get_lowest_layer(stream_); }

  /// Serves requests until the connection ends.
  asio::awaitable<void> serve(Connections::Place place);
  /// TLS's, where there is TLS.
  asio::awaitable<void> handshake();
  /// Ends it, or only if it waits for a request. On its own executor.
  void close(bool idle_only) {
    error_code ignored;
    if (idle_ || !idle_only) socket().close(ignored);
  }

 private:
  /// False at the end of the connection.
  asio::awaitable<bool> read_head(Parser& parser);
  asio::awaitable<void> read_body(Parser& parser, HttpRequest& request);
  asio::awaitable<void> read_sized(HttpRequest& request, std::uint64_t size);
  asio::awaitable<void> read_chunked(Parser& parser, HttpRequest& request);
  /// Makes a copy of `bytes` the request's body.
  void take_copy(HttpRequest& request, std::span<const std::byte> bytes);
  asio::awaitable<void> write(HttpReply reply, bool keep_alive, bool head_only);
  asio::awaitable<void> write_text(std::string text);
  asio::awaitable<void> linger();
  void set_idle(Connections::Place place, bool idle);
  void allow(std::uint64_t bytes);
  void log(const HttpRequest& request, const HttpReply& reply, std::uint64_t received,
           std::chrono::steady_clock::time_point begin);

  Stream stream_;
  std::shared_ptr<HttpShared> shared_;
  beast::flat_buffer buffer_;
  const std::shared_ptr<Deadline> deadline_;
  std::uint64_t sent_ = 0;
  bool idle_ = true;
};

/// Sets the time within which that many bytes must have passed.
template <class Stream>
void Connection<Stream>::allow(std::uint64_t bytes) {
  deadline_->set(shared_->options.transfer_timeout + std::chrono::seconds(bytes / (64 * 1024)));
}

template <class Stream>
asio::awaitable<bool> Connection<Stream>::read_head(Parser& parser) {
  const auto& options = shared_->options;
  parser.header_limit(static_cast<std::uint32_t>(options.header_bytes));
  parser.body_limit(boost::none);
  error_code failed;
  if (buffer_.size() == 0) {
    // Idle: the clock of a request begins with its first byte.
    deadline_->set(options.idle_timeout);
    auto space = buffer_.prepare(4096);
    const auto got =
        co_await stream_.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return false;
    buffer_.commit(got);
  }
  deadline_->set(options.header_timeout);
  co_await http::async_read_header(stream_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, failed));
  if (!failed) co_return true;
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    throw Refusal(Status::headers, "the request's header has more than " +
                                       std::to_string(options.header_bytes) + " bytes");
  if (deadline_->expired())
    throw Refusal(Status::too_slow, "the request's header did not arrive in time");
  if (failed.category() == http::make_error_code(http::error::bad_method).category() &&
      failed != http::error::end_of_stream && failed != http::error::partial_message)
    throw Refusal(Status::bad_request, "not an HTTP request: " + failed.message());
  co_return false;
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::write_text(std::string text) {
  error_code failed;
  const auto data = asio::buffer(text);
  co_await asio::async_write(stream_, data, asio::redirect_error(asio::use_awaitable, failed));
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::read_sized(HttpRequest& request, std::uint64_t size) {
  if (size == 0) co_return;
  const auto offset = offset_for(request.json_length);
  const auto block = std::make_shared<Block>(offset + size, shared_->service.budget);
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
    if (deadline_->expired())
      throw Refusal(Status::too_slow, "the body of " + describe_bytes(size) +
                                          " did not arrive in time; " + describe_bytes(at) +
                                          " came");
    if (failed) throw boost::system::system_error(failed);
  }
  request.body = {block, {begin, size}};
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::read_chunked(Parser& parser, HttpRequest& request) {
  const auto most = shared_->options.body_bytes;
  auto share = std::make_shared<Share>(shared_->service.budget);
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
    if (deadline_->expired()) throw Refusal(Status::too_slow, "the body did not arrive in time");
    if (failed) throw boost::system::system_error(failed);
    bytes.resize(bytes.size() - parser.get().body().size);
    if (bytes.size() > most) too_large(bytes.size(), most, "the body");
  }
  take_copy(request, bytes);
}

template <class Stream>
void Connection<Stream>::take_copy(HttpRequest& request, std::span<const std::byte> bytes) {
  const auto offset = offset_for(request.json_length);
  const auto block = std::make_shared<Block>(offset + bytes.size(), shared_->service.budget);
  block->share.grow_to(bytes.size());
  std::memcpy(block->bytes.data() + offset, bytes.data(), bytes.size());
  request.body = {block, block->bytes.bytes().subspan(offset)};
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::read_body(Parser& parser, HttpRequest& request) {
  const auto& options = shared_->options;
  const auto length = parser.content_length();
  if (length && *length > options.body_bytes) too_large(*length, options.body_bytes, "the body");
  request.json_length = json_length_of(parser);
  const auto encoding = field(parser, http::field::content_encoding);
  const bool compressed = is_compressed(encoding);
  allow(length.value_or(options.body_bytes));
  if (field(parser, http::field::expect) == "100-continue" && buffer_.size() == 0)
    co_await write_text("HTTP/1.1 100 Continue\r\n\r\n");
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

template <class Stream>
asio::awaitable<void> Connection<Stream>::write(HttpReply reply, bool keep_alive, bool head_only) {
  auto size = reply.text.size();
  for (const auto& each : reply.binary) size += each.size();
  const auto head = head_of(reply, size, keep_alive);
  std::vector<asio::const_buffer> parts{asio::buffer(head)};
  if (!head_only) {
    parts.push_back(asio::buffer(reply.text));
    for (const auto& each : reply.binary)
      parts.emplace_back(static_cast<const void*>(each.data()), each.size());
  }
  allow(size);
  sent_ = asio::buffer_size(parts);
  co_await asio::async_write(stream_, parts, asio::use_awaitable);
}

template <class Stream>
void Connection<Stream>::log(const HttpRequest& request, const HttpReply& reply,
                             std::uint64_t received, std::chrono::steady_clock::time_point begin) {
  auto& service = shared_->service;
  service.metrics.http_answered(reply.status);
  if (!service.log.wants_requests()) return;
  service.log.request({request.method, request.target, static_cast<int>(reply.status),
                       std::chrono::steady_clock::now() - begin, received, sent_, reply.id,
                       request.trace, reply.message});
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::serve(Connections::Place place) {
  auto& service = shared_->service;
  for (std::size_t served = 1;; ++served) {
    set_idle(place, true);
    Parser parser;
    HttpRequest request;
    HttpReply reply;
    bool keep_alive = false, whole = false;
    std::uint64_t received = 0;
    auto begin = std::chrono::steady_clock::now();
    try {
      if (!co_await read_head(parser)) co_return;
      set_idle(place, false);
      begin = std::chrono::steady_clock::now();
      const auto method = parser.get().method_string(), target = parser.get().target();
      request.method.assign(method.data(), method.size());
      request.target.assign(target.data(), target.size());
      request.parsed = parse_target(request.target);
      request.trace = field(parser, "traceparent");
      request.accept_encoding = field(parser, http::field::accept_encoding);
      check_token(shared_->options, request.parsed, field(parser, http::field::authorization));
      co_await read_body(parser, request);
      whole = true;
      received = request.body.bytes.size();
      keep_alive = parser.keep_alive() && served < shared_->options.requests_per_connection;
    } catch (const Refusal& refusal) {
      reply = refuse(refusal);  // the rest of the request is unread: the connection ends
    } catch (const Error& error) {
      reply = refuse(refusal_of(error));
    }
    if (whole) {
      deadline_->never();
      const Watch watch(socket(), request.cancellation);
      reply = co_await answer(*shared_, request);
    }
    keep_alive = keep_alive && !service.draining;
    const bool head_only = request.method == "HEAD";
    HttpReply noted{reply.status, {}, {}, {}, {}, reply.message, reply.id};
    co_await write(std::move(reply), keep_alive, head_only);
    log(request, noted, received, begin);
    if (!keep_alive) break;
  }
  co_await linger();
}

template <class Stream>
void Connection<Stream>::set_idle(Connections::Place place, bool idle) {
  idle_ = idle;
  shared_->connections.set_idle(place, idle);
}

/// Ends our side and reads what the client still sends: a reset would destroy an answer that it has
/// not read yet.
template <class Stream>
asio::awaitable<void> Connection<Stream>::linger() {
  error_code failed;
  socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  deadline_->set(std::chrono::seconds(2));
  std::array<char, 16 * 1024> unread;
  while (!failed) {
    const auto space = asio::buffer(unread);
    co_await socket().async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
  }
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::handshake() {
  if constexpr (!std::is_same_v<Stream, asio::ip::tcp::socket>) {
    deadline_->set(shared_->options.header_timeout);
    co_await stream_.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
  }
}

namespace {

template <class Stream>
asio::awaitable<void> serve_stream(std::shared_ptr<HttpShared> shared, Stream stream) {
  const auto connection = std::make_shared<Connection<Stream>>(std::move(stream), shared);
  const auto executor = co_await asio::this_coro::executor;
  const auto place =
      shared->connections.add([executor, weak = std::weak_ptr(connection)](bool idle_only) {
        asio::post(executor, [weak, idle_only] {
          if (const auto open = weak.lock()) open->close(idle_only);
        });
      });
  try {
    co_await connection->handshake();
    co_await connection->serve(place);
  } catch (const std::exception&) {
    // The client is gone, or too slow to be told.
  }
  shared->connections.remove(place);
}

}  // namespace

asio::awaitable<void> serve_connection(std::shared_ptr<HttpShared> shared,
                                       asio::ip::tcp::socket socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (shared->tls)
    return serve_stream(shared,
                        asio::ssl::stream<asio::ip::tcp::socket>(std::move(socket), *shared->tls));
  return serve_stream(shared, std::move(socket));
}

}  // namespace polychron::server
