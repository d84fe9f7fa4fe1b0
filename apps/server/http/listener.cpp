#include "http/listener.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "http/tls.hpp"

namespace polychron::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Listener::State : std::enable_shared_from_this<Listener::State> {
  State(asio::io_context& loop, std::shared_ptr<HttpShared> of_server, const Transport& spoken)
      : io(loop),
        shared(std::move(of_server)),
        transport(spoken),
        tls(tls_of(shared->options, spoken.protocol)),
        acceptor(asio::make_strand(loop)) {}

  asio::io_context& io;
  const std::shared_ptr<HttpShared> shared;
  const Transport& transport;
  std::atomic<std::shared_ptr<asio::ssl::context>> tls;
  tcp::acceptor acceptor;

  void listen(std::uint16_t port);
  asio::awaitable<void> accept();
};

void Listener::State::listen(std::uint16_t port) {
  const auto& name = shared->options.address;
  error_code failed;
  const auto address = asio::ip::make_address(name, failed);
  if (failed) throw Error(ErrorKind::bad_data, "address '" + name + "': expected an IP address");
  const tcp::endpoint endpoint(address, port);
  acceptor.open(endpoint.protocol());
  acceptor.set_option(asio::socket_base::reuse_address(true));
  acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    throw Error(ErrorKind::bad_data, std::string(transport.name) + " on " + name + ":" +
                                         std::to_string(port) + ": " + failed.message());
}

asio::awaitable<void> Listener::State::accept() {
  asio::steady_timer pause(acceptor.get_executor());
  auto& gauge = shared->service.metrics.connections;
  while (acceptor.is_open()) {
    error_code failed;
    auto strand = asio::make_strand(io);
    tcp::socket socket(strand);
    tcp::endpoint from;
    co_await acceptor.async_accept(socket, from, asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) co_return;
    if (failed) {
      // No more files, most likely: wait until connections end.
      shared->connections.end_one();
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
      continue;
    }
    gauge.Increment();
    asio::co_spawn(
        strand, transport.serve(shared, {std::move(socket), peer_of(from.address()), tls.load()}),
        [&gauge, keep = shared](std::exception_ptr) { gauge.Decrement(); });
  }
}

Listener::Listener(asio::io_context& io, std::shared_ptr<HttpShared> shared, std::uint16_t port,
                   const Transport& transport)
    : state_(std::make_shared<State>(io, std::move(shared), transport)) {
  state_->listen(port);
  asio::co_spawn(
      state_->acceptor.get_executor(),
      [state = state_]() -> asio::awaitable<void> { return state->accept(); }, asio::detached);
}

Listener::~Listener() { close(); }

std::uint16_t Listener::port() const { return state_->acceptor.local_endpoint().port(); }

void Listener::read_tls_again() {
  state_->tls = tls_of(state_->shared->options, state_->transport.protocol);
}

void Listener::close() {
  asio::post(state_->acceptor.get_executor(), [state = state_] {
    error_code ignored;
    state->acceptor.close(ignored);
  });
}

}  // namespace polychron::server
