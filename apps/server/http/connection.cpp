// One connection: reads requests, lets them be answered, writes the answers, in order.
//
// Invariants: a body takes memory only as it arrives; a connection that makes no progress ends; a
// request whose client is gone is cancelled.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/body.hpp"
#include "http/head.hpp"
#include "http/routes.hpp"
#include "http/serve.hpp"
#include "http/watch.hpp"

namespace polychron::server {

namespace {

std::string head_of(const HttpReply& reply, std::size_t size, bool keep_alive, bool chunked) {
  std::string head = "HTTP/1.1 " + std::to_string(static_cast<int>(reply.status)) + " ";
  head += phrase(reply.status);
  head += "\r\nContent-Type: " + reply.type;
  if (!reply.parts) head += "\r\nContent-Length: " + std::to_string(size);
  if (reply.parts && chunked) head += "\r\nTransfer-Encoding: chunked";
  head += "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store";
  for (const auto& [name, value] : reply.headers) head += "\r\n" + name + ": " + value;
  head += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  return head;
}

/// The size of a chunk.
std::string hex(std::size_t size) {
  std::array<char, 2 * sizeof(size)> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), size, 16).ptr;
  return {digits.begin(), end};
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
  request.takes_chunks = parser.get().version() >= 11;
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
class Connection : public StreamOf<Stream> {
 public:
  using StreamOf<Stream>::place;

  Connection(Stream opened, std::shared_ptr<HttpShared> all)
      : StreamOf<Stream>(std::move(opened), std::move(all)),
        buffer_(shared->options.header_bytes + 16 * 1024) {}

  /// Serves requests until the connection ends.
  asio::awaitable<void> serve();
  /// Ends it, if it is as `which` says. On its own executor.
  void close(End which);

 private:
  using StreamOf<Stream>::stream;
  using StreamOf<Stream>::shared;
  using StreamOf<Stream>::deadline;
  using StreamOf<Stream>::socket;

  /// Nothing at the end of the connection.
  asio::awaitable<std::optional<Incoming>> read_request(bool is_last);
  asio::awaitable<bool> read_head(Parser& parser);
  asio::awaitable<HttpReply> answer_running(HttpRequest& request);
  asio::awaitable<void> write(HttpReply& reply, bool keep_alive, bool head_only);
  asio::awaitable<void> write_stream(HttpReply& reply, const HttpRequest& request, bool keep_alive);
  asio::awaitable<void> send(const std::vector<asio::const_buffer>& bytes);
  asio::awaitable<void> linger();
  void wait(Connections::State state);
  void log(const HttpRequest& request, const HttpReply& reply, std::uint64_t received,
           std::chrono::steady_clock::time_point begin);

  beast::flat_buffer buffer_;
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
    deadline->expire();
  }
}

template <class Stream>
asio::awaitable<bool> Connection<Stream>::read_head(Parser& parser) {
  const auto& options = shared->options;
  parser.header_limit(static_cast<std::uint32_t>(options.header_bytes));
  parser.body_limit(boost::none);
  error_code failed;
  if (buffer_.size() == 0) {
    // Idle: the clock of a request begins with its first byte.
    deadline->set(options.idle_timeout);
    auto space = buffer_.prepare(4096);
    const auto got =
        co_await stream.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return false;
    buffer_.commit(got);
  }
  deadline->set(options.header_timeout);
  co_await http::async_read_header(stream, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, failed));
  if (!failed) co_return true;
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    throw Refusal(Status::headers, "the request's header has more than " +
                                       std::to_string(options.header_bytes) + " bytes");
  if (deadline->expired())
    throw Refusal(Status::too_slow, "the request's header did not arrive in time");
  if (failed.category() == http::make_error_code(http::error::bad_method).category() &&
      failed != http::error::end_of_stream && failed != http::error::partial_message)
    throw Refusal(Status::bad_request, "not an HTTP request: " + failed.message());
  co_return false;
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::write(HttpReply& reply, bool keep_alive, bool head_only) {
  auto size = reply.size();
  BudgetShare share(shared->service.budget);
  try {
    share.set(size < Worker::large ? 0 : size);  // until the client has read it
  } catch (const Refusal& refusal) {
    reply = refuse(refusal, {});
    size = reply.size();
  }
  const auto head = head_of(reply, size, keep_alive, false);
  std::vector<asio::const_buffer> parts{asio::buffer(head)};
  if (!head_only) {
    parts.push_back(asio::buffer(reply.text));
    for (const auto& each : reply.binary)
      parts.emplace_back(static_cast<const void*>(each.data()), each.size());
  }
  co_await send(parts);
}

/// Sends each part when it is there. Meanwhile the connection runs, and the client may leave. A
/// slow client has the time of a transfer for each part.
template <class Stream>
asio::awaitable<void> Connection<Stream>::write_stream(HttpReply& reply, const HttpRequest& request,
                                                       bool keep_alive) {
  const DisconnectWatch watch(socket(), request.cancellation);
  const bool chunked = request.takes_chunks;
  auto text = head_of(reply, 0, keep_alive, chunked);
  for (bool ended = false; !ended;) {
    const auto part = co_await reply.parts();
    ended = part.empty();
    if (chunked) text += hex(part.size()) + "\r\n" + part + "\r\n";
    if (!chunked) text += part;
    const std::vector<asio::const_buffer> bytes{asio::buffer(text)};
    co_await send(bytes);
    deadline->never();
    text.clear();
  }
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::send(const std::vector<asio::const_buffer>& bytes) {
  sent_ += asio::buffer_size(bytes);
  Transfer transfer(shared->options.transfer_timeout);
  deadline->set_at(transfer.due());
  const auto go_on = [&, passed = std::size_t{0}](error_code failed, std::size_t all) mutable {
    if (transfer.pass(all - std::exchange(passed, all))) wait(state_);
    deadline->set_at(transfer.due());
    return failed ? std::size_t{0} : std::size_t{Transfer::least};
  };
  co_await asio::async_write(stream, bytes, go_on, asio::use_awaitable);
}

template <class Stream>
void Connection<Stream>::log(const HttpRequest& request, const HttpReply& reply,
                             std::uint64_t received, std::chrono::steady_clock::time_point begin) {
  auto& service = shared->service;
  service.metrics.http_answered(reply.status);
  if (!service.log.wants_requests()) return;
  service.log.request({request.method, request.target, static_cast<int>(reply.status),
                       std::chrono::steady_clock::now() - begin, received, sent_, reply.id,
                       request.trace, reply.message});
}

/// Reads a request, or as much of it as shows that it is refused.
template <class Stream>
asio::awaitable<std::optional<Incoming>> Connection<Stream>::read_request(bool is_last) {
  Parser parser;
  Incoming incoming;
  auto& request = incoming.request;
  try {
    if (!co_await read_head(parser)) co_return std::nullopt;
    wait(Connections::State::transferring);
    incoming.begin = std::chrono::steady_clock::now();
    const auto header = header_of(parser, request);
    const bool goes_on = parser.keep_alive() && !is_last;
    incoming.refusal = refusal_by_header(*shared, header, request);
    if (incoming.refusal) {
      incoming.after = goes_on ? after_refusal(parser, shared->options) : After::close;
      incoming.unread = header.length;
      co_return incoming;
    }
    BodyReader<Stream> body(stream, buffer_, *deadline, *shared, place);
    co_await body.read(parser, request);
    incoming.after = goes_on ? After::keep : After::close;
    if (request.compressed) co_await decompress_body(*shared, request);
  } catch (const boost::system::system_error&) {
    throw;  // the client is gone
  } catch (...) {
    incoming.refusal = current_refusal();
  }
  co_return incoming;
}

template <class Stream>
asio::awaitable<HttpReply> Connection<Stream>::answer_running(HttpRequest& request) {
  if (!shared->connections.run(place, request.route->audience == Audience::probes))
    co_return refuse(Refusal(Status::unavailable, "too many connections run requests", 1),
                     request.parsed.path);
  state_ = Connections::State::running;
  const DisconnectWatch watch(socket(), request.cancellation);
  co_return co_await answer(*shared, request);
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::serve() {
  const auto& draining = shared->service.draining;
  for (std::size_t served = 1;; ++served) {
    wait(Connections::State::idle);
    if (served > 1 && draining) break;
    auto incoming = co_await read_request(served >= shared->options.requests_per_connection);
    if (!incoming) co_return;
    auto& request = incoming->request;
    const auto received = request.body.bytes.size();
    HttpReply reply;  // g++ 12 frees a conditional expression with co_await twice
    if (incoming->refusal)
      reply = refuse(*incoming->refusal, request.parsed.path);
    else
      reply = co_await answer_running(request);
    request.body = {};
    sent_ = 0;
    // Without chunks, the end of a stream is that of the connection.
    const bool has_end = !reply.parts || request.takes_chunks;
    const bool keep_alive = incoming->after != After::close && !draining && has_end;
    if (reply.parts) {
      co_await write_stream(reply, request, keep_alive);
    } else {
      wait(Connections::State::transferring);
      co_await write(reply, keep_alive, request.method == "HEAD");
    }
    log(request, reply, received, incoming->begin);
    if (!keep_alive) break;
    BodyReader<Stream> body(stream, buffer_, *deadline, *shared, place);
    if (incoming->after == After::skip_body && !co_await body.skip(incoming->unread)) break;
  }
  co_await linger();
}

template <class Stream>
void Connection<Stream>::wait(Connections::State state) {
  state_ = state;
  shared->connections.wait(place, state);
}

/// Ends our side and reads what the client still sends: a reset would destroy an answer that it has
/// not read yet.
template <class Stream>
asio::awaitable<void> Connection<Stream>::linger() {
  error_code failed;
  socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  deadline->set(std::chrono::seconds(2));
  std::array<char, 16 * 1024> unread;
  while (!failed && !deadline->expired()) {
    const auto space = asio::buffer(unread);
    co_await socket().async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
  }
}

namespace {

asio::awaitable<void> serve_http(std::shared_ptr<HttpShared> shared, Accepted accepted) {
  return serve_accepted<Connection>(std::move(shared), std::move(accepted));
}

}  // namespace

const Transport http_transport{"HTTP", "http/1.1", serve_http};

}  // namespace polychron::server
