// One connection of gRPC: moves bytes between a socket and a Session.
//
// Invariants: the client is read no faster than it reads; one that reads nothing ends.
#include <sys/socket.h>

#include <netinet/tcp.h>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "grpc/session.hpp"
#include "grpc/transport.hpp"
#include "http/serve.hpp"

namespace polychron::server {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// Something that a coroutine of the same executor waits for.
class Signal {
 public:
  explicit Signal(const asio::any_io_executor& executor) : timer_(executor) {}
  void emit() { timer_.cancel(); }
  asio::awaitable<void> wait() {
    error_code ignored;
    timer_.expires_at(asio::steady_timer::time_point::max());
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

 private:
  asio::steady_timer timer_;
};

/// How long a connection that ends may take to say so.
constexpr std::chrono::seconds ending_time(2);

/// A peer that has vanished is noticed: calls may be an hour apart.
void keep_alive(asio::ip::tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  for (const auto& [option, value] :
       {std::pair(TCP_KEEPIDLE, 60), std::pair(TCP_KEEPINTVL, 10), std::pair(TCP_KEEPCNT, 3)})
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof(value));
}

template <class Stream>
class Connection : public StreamOf<Stream>,
                   public std::enable_shared_from_this<Connection<Stream>> {
 public:
  using StreamOf<Stream>::StreamOf;

  asio::awaitable<void> serve();
  void close(End which) {
    error_code ignored;
    if (which == End::now || !session_)
      this->socket().close(ignored);
    else if (session_->close(which)) {
      ends_ = true;
      this->deadline->set(ending_time);
    }
  }

 private:
  asio::awaitable<void> read();
  asio::awaitable<void> write();
  /// There may be output, or one call less.
  void wake() {
    output_->emit();
    progress_->emit();
  }

  std::shared_ptr<Session> session_;
  std::optional<Signal> output_, progress_;
  bool gone_ = false;
  bool writes_ = true;
  bool ends_ = false;
};

template <class Stream>
asio::awaitable<void> Connection<Stream>::serve() {
  const auto executor = co_await asio::this_coro::executor;
  keep_alive(this->socket());
  this->deadline->never();
  output_.emplace(executor);
  progress_.emplace(executor);
  session_ = std::make_shared<Session>(executor, this->shared, this->place, [this] { wake(); });
  session_->begin();
  asio::co_spawn(executor, write(), [self = this->shared_from_this()](std::exception_ptr) {
    self->writes_ = false;
    self->gone_ = true;
    error_code ignored;
    self->socket().close(ignored);
    self->progress_->emit();
  });
  try {
    co_await read();
  } catch (const std::exception&) {
    // Out of memory: as if the client were gone.
  }
  gone_ = true;
  session_->abandon();
  wake();
  // Calls that still run use what the server has.
  while (writes_ || session_->is_running()) {
    co_await progress_->wait();
  }
}

template <class Stream>
asio::awaitable<void> Connection<Stream>::read() {
  std::array<std::byte, 32 * 1024> bytes;
  error_code failed;
  while (!gone_ && !failed) {
    if (session_->is_full()) {
      co_await progress_->wait();
      continue;
    }
    const auto got = co_await this->stream.async_read_some(
        asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failed));
    if (!failed && !session_->receive(std::span(bytes).first(got))) co_return;
    wake();
  }
}

/// Sends what the session has, and waits for more, until that or the connection is over.
template <class Stream>
asio::awaitable<void> Connection<Stream>::write() {
  error_code failed;
  while (!failed) {
    std::string frames;  // one that waits holds none
    if (!gone_) session_->collect(frames);
    progress_->emit();
    if (frames.empty()) {
      if (session_->is_over() || (gone_ && !session_->is_running())) co_return;
      co_await output_->wait();
      continue;
    }
    this->deadline->set(ends_ ? ending_time : this->shared->options.transfer_timeout);
    co_await asio::async_write(this->stream, asio::buffer(frames),
                               asio::redirect_error(asio::use_awaitable, failed));
    this->deadline->never();
  }
}

asio::awaitable<void> serve_grpc(std::shared_ptr<HttpShared> shared, Accepted accepted) {
  return serve_accepted<Connection>(std::move(shared), std::move(accepted));
}

}  // namespace

const Transport grpc_transport{"gRPC", "h2", serve_grpc};

}  // namespace polychron::server
