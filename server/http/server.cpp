#include "http/server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "http/shared.hpp"

namespace polychron::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// -- the open connections -------------------------------------------------------------------------

Connections::Place Connections::add(std::function<void(bool)> close) {
  const std::lock_guard lock(mutex_);
  return open_.insert(open_.end(), {std::move(close), State::idle});
}

void Connections::remove(Place place) {
  const std::lock_guard lock(mutex_);
  open_.erase(place);
}

void Connections::set_idle(Place place, bool idle) {
  const std::lock_guard lock(mutex_);
  place->state = idle ? State::idle : State::busy;
  if (idle) open_.splice(open_.end(), open_, place);
}

bool Connections::end_idlest() {
  const auto idlest = std::find_if(open_.begin(), open_.end(),
                                   [](const auto& each) { return each.state == State::idle; });
  if (idlest == open_.end()) return false;
  idlest->state = State::ending;
  idlest->close(true);
  return true;
}

bool Connections::close_idlest() {
  const std::lock_guard lock(mutex_);
  return end_idlest();
}

bool Connections::make_room(std::size_t most) {
  const std::lock_guard lock(mutex_);
  auto staying = static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [](const auto& each) { return each.state != State::ending; }));
  for (; staying >= most; --staying)
    if (!end_idlest()) return false;
  return true;
}

void Connections::close_all(bool idle_only) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : open_) each.close(idle_only);
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

// -- the listener ---------------------------------------------------------------------------------

struct HttpServer::State : std::enable_shared_from_this<HttpServer::State> {
  State(asio::io_context& loop, HttpOptions options, Service& service)
      : io(loop),
        shared(std::make_shared<HttpShared>(std::move(options), service)),
        acceptor(asio::make_strand(loop)) {}

  asio::io_context& io;
  const std::shared_ptr<HttpShared> shared;
  tcp::acceptor acceptor;

  void listen();
  asio::awaitable<void> accept();
};

namespace {

[[noreturn]] void bad(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::bad_data, what + ": " + why);
}

std::shared_ptr<asio::ssl::context> tls_of(const HttpOptions& options) {
  if (options.certificate.empty()) {
    if (!options.key.empty() || !options.client_ca.empty())
      bad("TLS", "a key or a CA of clients was given, and no certificate");
    return nullptr;
  }
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  error_code failed;
  tls->use_certificate_chain_file(options.certificate, failed);
  if (failed) bad("the certificate '" + options.certificate + "'", failed.message());
  const auto& key = options.key.empty() ? options.certificate : options.key;
  tls->use_private_key_file(key, asio::ssl::context::pem, failed);
  if (failed) bad("the key '" + key + "'", failed.message());
  if (options.client_ca.empty()) return tls;
  tls->load_verify_file(options.client_ca, failed);
  if (failed) bad("the CA of clients '" + options.client_ca + "'", failed.message());
  tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  return tls;
}

}  // namespace

void HttpServer::State::listen() {
  const auto& options = shared->options;
  error_code failed;
  const auto address = asio::ip::make_address(options.address, failed);
  if (failed) bad("address '" + options.address + "'", "expected an IP address");
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol());
  acceptor.set_option(asio::socket_base::reuse_address(true));
  acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    bad("HTTP on " + options.address + ":" + std::to_string(options.port), failed.message());
}

asio::awaitable<void> HttpServer::State::accept() {
  asio::steady_timer pause(acceptor.get_executor());
  auto& gauge = shared->service.metrics.connections();
  while (acceptor.is_open()) {
    error_code failed;
    auto strand = asio::make_strand(io);
    tcp::socket socket(strand);
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (failed == asio::error::operation_aborted) co_return;
    if (failed) {
      // No more files, most likely: wait until connections end.
      shared->connections.close_idlest();
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
      continue;
    }
    // At the limit the connection that is idle longest makes room. If all are busy, the new one
    // ends: its client can try another server.
    if (!shared->connections.make_room(shared->options.connections)) continue;
    gauge.Increment();
    asio::co_spawn(strand, serve_connection(shared, std::move(socket)),
                   [&gauge, keep = shared](std::exception_ptr) { gauge.Decrement(); });
  }
}

HttpServer::HttpServer(asio::io_context& io, HttpOptions options, Service& service)
    : state_(std::make_shared<State>(io, std::move(options), service)) {
  state_->shared->tls = tls_of(state_->shared->options);
  state_->listen();
  asio::co_spawn(
      state_->acceptor.get_executor(),
      [state = state_]() -> asio::awaitable<void> { return state->accept(); }, asio::detached);
}

HttpServer::~HttpServer() { drain(); }

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

void HttpServer::read_tls_again() { state_->shared->tls = tls_of(state_->shared->options); }

void HttpServer::drain() {
  asio::post(state_->acceptor.get_executor(), [state = state_] {
    error_code ignored;
    state->acceptor.close(ignored);
  });
  state_->shared->connections.close_all(true);
}

void HttpServer::abort() { state_->shared->connections.close_all(false); }

std::size_t HttpServer::connections() const { return state_->shared->connections.size(); }

}  // namespace polychron::server
