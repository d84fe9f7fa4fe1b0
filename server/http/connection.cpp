// One connection: reads requests, lets them be answered, writes the answers, in order.
//
// Invariants: a body takes memory only as it arrives; a connection that makes no progress ends; a
// request whose client is gone is cancelled.
#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/stream_traits.hpp>

#include "http/body.hpp"
#include "http/head.hpp"
#include "http/watch.hpp"

namespace polychron::server {

namespace {

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
  /// Ends it. `idle_only`: only if it waits for a request; one that has come, and is not read yet,
  /// is answered. On its own executor.
  void close(bool idle_only) {
    error_code ignored;
    if (!idle_only)
      socket().close(ignored);
    else if (idle_ && socket().available(ignored) == 0)
      socket().cancel(ignored);  // a read that has succeeded goes on
  }

 private:
  /// False at the end of the connection.
  asio::awaitable<bool> read_head(Parser& parser);
  asio::awaitable<void> write(HttpReply reply, bool keep_alive, bool head_only);
  asio::awaitable<void> linger();
  void set_idle(Connections::Place place, bool idle);
  void log(const HttpRequest& request, const HttpReply& reply, std::uint64_t received,
           std::chrono::steady_clock::time_point begin);

  Stream stream_;
  std::shared_ptr<HttpShared> shared_;
  beast::flat_buffer buffer_;
  const std::shared_ptr<Deadline> deadline_;
  std::uint64_t sent_ = 0;
  bool idle_ = true;
};

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
  deadline_->set(transfer_time(shared_->options, size));
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
    if (served > 1 && service.draining) break;
    Parser parser;
    BodyReader<Stream> body(stream_, buffer_, *deadline_, *shared_);
    HttpRequest request;
    HttpReply reply;
    bool keep_alive = false, whole = false, skips = false;
    std::uint64_t received = 0;
    auto begin = std::chrono::steady_clock::now();
    try {
      if (!co_await read_head(parser)) co_return;
      set_idle(place, false);
      begin = std::chrono::steady_clock::now();
      const auto method = parser.get().method_string(), target = parser.get().target();
      request.method.assign(method.data(), method.size());
      request.target.assign(target.data(), target.size());
      const auto to = addressee_of(parser.get(), parser.chunked());
      request.parsed = parse_target(to.path);
      request.trace = field(parser, "traceparent");
      request.accept_encoding = field(parser, http::field::accept_encoding);
      refuse_foreign_pages(shared_->options, parser.get(), to.host, request.parsed.action);
      check_token(service, request.parsed, field(parser, http::field::authorization));
      body.check_length(parser);
      const bool goes_on = parser.keep_alive() && served < shared_->options.requests_per_connection;
      keep_alive = skips = goes_on && can_skip(parser);
      refuse_early(*shared_, request, parser.content_length().value_or(0));
      keep_alive = skips = false;
      co_await body.read(parser, request);
      whole = true;
      received = request.body.bytes.size();
      keep_alive = goes_on;
    } catch (const Refusal& refusal) {
      reply = refuse(refusal);  // a body that is unread, and not skipped, ends the connection
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
    if (!keep_alive || (skips && !co_await body.skip(parser))) break;
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
  while (!failed && !deadline_->expired()) {
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
  if (const auto tls = shared->tls.load())  // the stream keeps what it needs of it
    return serve_stream(shared, asio::ssl::stream<asio::ip::tcp::socket>(std::move(socket), *tls));
  return serve_stream(shared, std::move(socket));
}

}  // namespace polychron::server
