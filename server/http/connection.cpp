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
#include <utility>

#include "http/body.hpp"
#include "http/head.hpp"
#include "http/listener.hpp"
#include "http/routes.hpp"
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

/// What follows an answer.
enum class After { keep, skip_body, close };

/// A request that has come, or was refused before all of it has.
struct Incoming {
  HttpRequest request;
  std::optional<Refusal> refusal{};
  After after = After::close;
  std::uint64_t unread = 0;  ///< the bytes of a body that is to be skipped
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// Reads the header into `request`. Throws Refusal where it does not tell the body's end.
Header header_of(const Parser& parser, HttpRequest& request) {
  const auto method = parser.get().method_string(), target = parser.get().target();
  request.method.assign(method.data(), method.size());
  request.target.assign(target.data(), target.size());
  const auto to = addressee_of(parser.get(), parser.chunked());
  request.parsed = parse_target(to.path);
  request.trace = field(parser, "traceparent");
  request.accept_encoding = field(parser, http::field::accept_encoding);
  Header header{to.host,
                std::nullopt,
                field(parser, http::field::authorization),
                field(parser, http::field::content_encoding),
                field(parser, "Inference-Header-Content-Length"),
                parser.chunked(),
                parser.content_length().value_or(0)};
  if (parser.get().count(http::field::origin) > 0)
    header.origin = field(parser, http::field::origin);
  return header;
}

std::optional<Refusal> refusal_by_header(HttpShared& shared, const Header& header,
                                         HttpRequest& request) {
  try {
    check_header(shared, header, request);
    return std::nullopt;
  } catch (...) {
    return current_refusal();
  }
}

/// A refused body is skipped if it has an end that is near, and is sure to come: after "Expect:
/// 100-continue" it may not.
After after_refusal(const Parser& parser, const HttpOptions& options) {
  const auto length = parser.content_length().value_or(0);
  if (parser.chunked() || length > options.body_bytes) return After::close;
  if (length == 0) return After::keep;
  return field(parser, http::field::expect).empty() ? After::skip_body : After::close;
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

  /// Serves requests until the connection ends.
  asio::awaitable<void> serve(Connections::Place place);
  /// TLS's, where there is TLS.
  asio::awaitable<void> handshake();
  /// Ends it, if it is as `which` says. On its own executor.
  void close(End which);

 private:
  asio::ip::tcp::socket& socket() { return beast::get_lowest_layer(stream_); }
  /// Nothing at the end of the connection.
  asio::awaitable<std::optional<Incoming>> read_request(Connections::Place place, bool is_last);
  asio::awaitable<bool> read_head(Parser& parser);
  asio::awaitable<HttpReply> answer_running(Connections::Place place, HttpRequest& request);
  asio::awaitable<void> write(Connections::Place place, HttpReply& reply, bool keep_alive,
                              bool head_only);
  asio::awaitable<void> linger();
  void wait(Connections::Place place, Connections::State state);
  void log(const HttpRequest& request, const HttpReply& reply, std::uint64_t received,
           std::chrono::steady_clock::time_point begin);

  Stream stream_;
  std::shared_ptr<HttpShared> shared_;
  beast::flat_buffer buffer_;
  const std::shared_ptr<Deadline> deadline_;
  std::uint64_t sent_ = 0;
  Connections::State state_ = Connections::State::idle;
};

template <class Stream>
void Connection<Stream>::close(End which) {
  error_code ignored;
  if (which == End::now)
    socket().close(ignored);
  else if (state_ == Connections::State::idle) {
    // A request that has come, and is not read yet, is answered: its read succeeds and goes on.
    if (socket().available(ignored) == 0) socket().cancel(ignored);
  } else if (which == End::unless_running && state_ == Connections::State::transferring) {
    deadline_->expire();
  }
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
asio::awaitable<void> Connection<Stream>::write(Connections::Place place, HttpReply& reply,
                                                bool keep_alive, bool head_only) {
  auto size = reply.size();
  Share share(shared_->service.budget);
  try {
    share.set(size < Worker::large ? 0 : size);  // until the client has read it
  } catch (const Refusal& refusal) {
    reply = refuse(refusal);
    size = reply.size();
  }
  const auto head = head_of(reply, size, keep_alive);
  std::vector<asio::const_buffer> parts{asio::buffer(head)};
  if (!head_only) {
    parts.push_back(asio::buffer(reply.text));
    for (const auto& each : reply.binary)
      parts.emplace_back(static_cast<const void*>(each.data()), each.size());
  }
  sent_ = asio::buffer_size(parts);
  Transfer transfer(shared_->options.transfer_timeout);
  deadline_->set_at(transfer.due());
  const auto go_on = [&, passed = std::size_t{0}](error_code failed, std::size_t all) mutable {
    if (transfer.pass(all - std::exchange(passed, all)))
      wait(place, Connections::State::transferring);
    deadline_->set_at(transfer.due());
    return failed ? std::size_t{0} : std::size_t{Transfer::least};
  };
  co_await asio::async_write(stream_, parts, go_on, asio::use_awaitable);
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

/// Reads a request, or as much of it as shows that it is refused.
template <class Stream>
asio::awaitable<std::optional<Incoming>> Connection<Stream>::read_request(Connections::Place place,
                                                                          bool is_last) {
  Parser parser;
  Incoming incoming;
  auto& request = incoming.request;
  try {
    if (!co_await read_head(parser)) co_return std::nullopt;
    wait(place, Connections::State::transferring);
    incoming.begin = std::chrono::steady_clock::now();
    const auto header = header_of(parser, request);
    const bool goes_on = parser.keep_alive() && !is_last;
    incoming.refusal = refusal_by_header(*shared_, header, request);
    if (incoming.refusal) {
      incoming.after = goes_on ? after_refusal(parser, shared_->options) : After::close;
      incoming.unread = header.length;
      co_return incoming;
    }
    BodyReader<Stream> body(stream_, buffer_, *deadline_, *shared_, place);
    co_await body.read(parser, request);
    incoming.after = goes_on ? After::keep : After::close;
    if (request.compressed) co_await decompress_body(*shared_, request);
  } catch (const boost::system::system_error&) {
    throw;  // the client is gone
  } catch (...) {
    incoming.refusal = current_refusal();
  }
  co_return incoming;
}

template <class Stream>
asio::awaitable<HttpReply> Connection<Stream>::answer_running(Connections::Place place,
                                                              HttpRequest& request) {
  if (!shared_->connections.run(place, request.route->audience == Audience::probes))
    co_return refuse(Refusal(Status::unavailable, "too many connections run requests", 1));
  state_ = Connections::State::running;
  const Watch watch(socket(), request.cancellation);
  co_return co_await answer(*shared_, request);
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::serve(Connections::Place place) {
  const auto& draining = shared_->service.draining;
  for (std::size_t served = 1;; ++served) {
    wait(place, Connections::State::idle);
    if (served > 1 && draining) break;
    auto incoming =
        co_await read_request(place, served >= shared_->options.requests_per_connection);
    if (!incoming) co_return;
    auto& request = incoming->request;
    const auto received = request.body.bytes.size();
    HttpReply reply;  // g++ 12 frees a conditional expression with co_await twice
    if (incoming->refusal)
      reply = refuse(*incoming->refusal);
    else
      reply = co_await answer_running(place, request);
    request.body = {};
    wait(place, Connections::State::transferring);
    const bool keep_alive = incoming->after != After::close && !draining;
    co_await write(place, reply, keep_alive, request.method == "HEAD");
    log(request, reply, received, incoming->begin);
    if (!keep_alive) break;
    BodyReader<Stream> body(stream_, buffer_, *deadline_, *shared_, place);
    if (incoming->after == After::skip_body && !co_await body.skip(incoming->unread)) break;
  }
  co_await linger();
}

template <class Stream>
void Connection<Stream>::wait(Connections::Place place, Connections::State state) {
  state_ = state;
  shared_->connections.wait(place, state);
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
asio::awaitable<void> serve_stream(std::shared_ptr<HttpShared> shared, Stream stream, Peer peer) {
  const auto connection = std::make_shared<Connection<Stream>>(std::move(stream), shared);
  const auto executor = co_await asio::this_coro::executor;
  const auto place =
      shared->connections.enter(peer, [executor, weak = std::weak_ptr(connection)](End which) {
        asio::post(executor, [weak, which] {
          if (const auto open = weak.lock()) open->close(which);
        });
      });
  if (!place) co_return;  // all others compute: the client can try another server
  try {
    co_await connection->handshake();
    co_await connection->serve(*place);
  } catch (const std::exception&) {
    // The client is gone, or too slow to be told.
  }
  shared->connections.remove(*place);
}

asio::awaitable<void> serve_http(std::shared_ptr<HttpShared> shared, Accepted accepted) {
  error_code ignored;
  accepted.socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (accepted.tls)
    return serve_stream(
        shared, asio::ssl::stream<asio::ip::tcp::socket>(std::move(accepted.socket), *accepted.tls),
        accepted.peer);
  return serve_stream(shared, std::move(accepted.socket), accepted.peer);
}

}  // namespace

const Transport http_transport{"HTTP", "http/1.1", serve_http};

}  // namespace polychron::server
