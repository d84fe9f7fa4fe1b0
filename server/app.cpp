#include "app.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "grpc/server.hpp"

namespace polychron::server {

namespace asio = boost::asio;

/// In the order in which they depend on each other.
class App::Parts {
 public:
  explicit Parts(const ServerOptions& options);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  void end();
  int wait();
  HttpServer& http() { return http_; }
  GrpcServer* grpc() { return grpc_.get(); }
  Service& service() { return service_; }

 private:
  asio::awaitable<void> watch_signals();
  asio::awaitable<void> drain();
  RuntimeOptions runtime_options();
  Repository::Options repository_options();
  HttpOptions http_options();

  const ServerOptions options_;
  AccessLog log_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::thread_pool builders_{1};
  Runtime runtime_;
  Metrics metrics_;
  std::vector<std::jthread> threads_;  ///< run io_: loads need callbacks
  Repository repository_;
  Service service_;
  HttpServer http_;
  std::unique_ptr<GrpcServer> grpc_;  ///< null: none
  std::atomic<bool> cut_off_{false};
};

RuntimeOptions App::Parts::runtime_options() {
  RuntimeOptions options;
  options.executor = [this](std::function<void()> task) { asio::post(io_, std::move(task)); };
  options.log = [this](const LogRecord& record) {
    log_.server(std::string(to_string(record.level)) + ": " + record.source + ": " +
                printable(record.message, 1000));
  };
  return options;
}

Repository::Options App::Parts::repository_options() {
  return {options_.models, options_.model, options_.poll,
          [this](const std::string& line) { log_.server(line); }};
}

HttpOptions App::Parts::http_options() {
  auto options = options_.http;
  if (options_.record_bytes > 0) {
    TraceOptions trace;
    trace.max_bytes = options_.record_bytes;
    runtime_.start_trace(trace);
    options.recording = [this] { return runtime_.trace(); };
  }
  return options;
}

App::Parts::Parts(const ServerOptions& options)
    : options_(options),
      log_(options.log, options.quiet),
      runtime_(runtime_options()),
      repository_(repository_options(),
                  {runtime_, io_.get_executor(), builders_.get_executor(), metrics_}),
      service_(options.service, repository_, metrics_, log_),
      http_(io_, http_options(), service_) {
  if (options.grpc) {
    const auto& http = options.http;
    grpc_ = std::make_unique<GrpcServer>(
        GrpcOptions{http.address, options.grpc_port, http.body_bytes, http.certificate, http.key,
                    http.client_ca, http.tokens},
        service_);
    log_.server("serving gRPC on " + http.address + ":" + std::to_string(grpc_->port()));
  }
  asio::co_spawn(io_, watch_signals(), asio::detached);
  for (int i = 0; i < std::max(options.io_threads, 1); ++i)
    threads_.emplace_back([this] { io_.run(); });
  const auto scheme = options.http.certificate.empty() ? "http" : "https";
  log_.server(std::string("serving ") + scheme + "://" + options.http.address + ":" +
              std::to_string(http_.port()));
}

App::Parts::~Parts() {
  io_.stop();
  wait();
  // In this order: a load that is under way waits for replies, which come by the loop.
  io_.restart();
  std::jthread loop([this] { io_.run(); });
  runtime_.shutdown(std::chrono::seconds(10));
  grpc_.reset();
  repository_.stop();
  builders_.join();
  work_.reset();
  io_.stop();
}

asio::awaitable<void> App::Parts::watch_signals() {
  for (;;) {
    const int signal = co_await signals_.async_wait(asio::use_awaitable);
    if (signal == SIGHUP) {
      repository_.look();
      continue;
    }
    end();
    if (cut_off_) co_return;
  }
}

void App::Parts::end() {
  if (service_.draining.exchange(true)) {
    cut_off_ = true;
    log_.server("a second signal: ends at once");
    return io_.stop();
  }
  log_.server("ends: waits for the requests in flight");
  if (grpc_) grpc_->not_ready();
  asio::co_spawn(io_, drain(), asio::detached);
}

asio::awaitable<void> App::Parts::drain() {
  asio::steady_timer timer(io_, options_.notice);
  co_await timer.async_wait(asio::use_awaitable);
  const auto end = std::chrono::steady_clock::now() + options_.drain;
  http_.drain();
  if (grpc_) grpc_->drain(options_.drain);
  const auto busy = [&] { return http_.connections() > 0 || (grpc_ && !grpc_->drained()); };
  while (busy() && std::chrono::steady_clock::now() < end) {
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::use_awaitable);
  }
  if (http_.connections() > 0) {
    cut_off_ = true;
    log_.server(std::to_string(http_.connections()) + " connections are cut off");
    http_.abort();
  }
  io_.stop();
}

int App::Parts::wait() {
  for (auto& each : threads_)
    if (each.joinable()) each.join();
  return cut_off_ ? 1 : 0;
}

App::App(const ServerOptions& options) {
  if (!std::filesystem::is_directory(options.models))
    throw Error(ErrorKind::bad_data, "'" + printable(options.models) + "' is not a folder");
  parts_ = std::make_unique<Parts>(options);
}

App::~App() = default;

std::uint16_t App::http_port() const { return parts_->http().port(); }

std::uint16_t App::grpc_port() const { return parts_->grpc() ? parts_->grpc()->port() : 0; }

Service& App::service() { return parts_->service(); }

void App::drain() { parts_->end(); }

int App::wait() { return parts_->wait(); }

}  // namespace polychron::server
