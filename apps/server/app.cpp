#include "app.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "grpc/transport.hpp"
#include "http/listener.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

/// The event loop and its threads. They run as long as anything may wait for a callback.
class Loop {
 public:
  explicit Loop(int threads) {
    for (int i = 0; i < std::max(threads, 1); ++i) threads_.emplace_back([this] { run(); });
  }
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  void stop() {
    io_.stop();
    for (auto& each : threads_)
      if (each.joinable()) each.join();
  }
  asio::io_context& io() { return io_; }

 private:
  void run() {
    // A handler that runs out of memory costs its own request.
    while (!io_.stopped()) try {
        io_.run();
      } catch (const std::exception&) {
      }
  }

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<std::thread> threads_;
};

}  // namespace

/// In the order in which they depend on each other.
class App::Parts {
 public:
  explicit Parts(const ServerOptions& options);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  void read_again();
  void end();
  int wait();
  Listener& http() { return http_; }
  Listener* grpc() { return grpc_.get(); }
  Service& service() { return service_; }

 private:
  asio::awaitable<void> watch_signals();
  asio::awaitable<void> drain();
  void ended(bool cut_off);
  void close();
  RuntimeOptions runtime_options();
  Repository::Options repository_options();
  HttpOptions http_options();

  const ServerOptions options_;
  AccessLog log_;
  Loop loop_;  // runs before anything waits for a callback, also where a constructor throws
  asio::signal_set signals_{loop_.io(), SIGTERM, SIGINT, SIGHUP};
  asio::thread_pool builders_{1};
  Metrics metrics_;
  Runtime runtime_;
  Repository repository_;
  Service service_;
  Viewer viewer_;
  const std::shared_ptr<HttpShared> shared_;
  Listener http_;
  std::unique_ptr<Listener> grpc_;  ///< null: none
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<bool> cut_off_;  ///< set at the end
};

RuntimeOptions App::Parts::runtime_options() {
  RuntimeOptions options;
  options.executor = [this](std::function<void()> task) {
    asio::post(loop_.io(), std::move(task));
  };
  options.log = [this](const LogRecord& record) {
    log_.server(std::string(to_string(record.level)) + ": " + record.source + ": " +
                printable(record.message, 1000));
  };
  return options;
}

Repository::Options App::Parts::repository_options() {
  return {options_.models, options_.model, options_.engines, options_.poll,
          [this](const std::string& line) { log_.server(line); }};
}

HttpOptions App::Parts::http_options() {
  auto options = options_.http;
  if (options_.record_bytes > 0) {
    TraceOptions trace;
    trace.max_bytes = options_.record_bytes;
    runtime_.start_trace(trace);
    options.recording = [this] { return runtime_.trace(); };
    options.view = [this] { return viewer_.page([this] { return runtime_.trace(); }); };
  }
  return options;
}

App::Parts::Parts(const ServerOptions& options)
    : options_(options),
      log_(options.log, options.quiet),
      loop_(options.io_threads),
      runtime_(runtime_options()),
      repository_(repository_options(),
                  {runtime_, loop_.io().get_executor(), builders_.get_executor(), metrics_}),
      service_(options.service, repository_, metrics_, log_),
      viewer_(options.viewer),
      shared_(std::make_shared<HttpShared>(http_options(), service_)),
      http_(loop_.io(), shared_, options.http.port, http_transport) {
  const auto& http = options.http;
  if (options.grpc) {
    try {
      grpc_ = std::make_unique<Listener>(loop_.io(), shared_, options.grpc_port, grpc_transport);
    } catch (...) {
      close();  // HTTP may have clients by now
      throw;
    }
    log_.server("serving gRPC on " + http.address + ":" + std::to_string(grpc_->port()));
  }
  asio::co_spawn(loop_.io(), watch_signals(), asio::detached);
  const auto scheme = http.certificate.empty() ? "http" : "https";
  log_.server(std::string("serving ") + scheme + "://" + http.address + ":" +
              std::to_string(http_.port()));
}

App::Parts::~Parts() { close(); }

void App::Parts::close() {
  // Everything that waits gets a reply, by the loop, which still runs. Engines may use the loop as
  // long as they hold requests. Then nothing refers to the parts any more.
  runtime_.shutdown(std::chrono::seconds(10));
  repository_.stop();
  viewer_.stop();
  http_.close();
  grpc_.reset();
  while (metrics_.connections.Value() > 0 || metrics_.unfinished() > 0) {
    shared_->connections.end_all(End::now);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  builders_.join();
  loop_.stop();
}

asio::awaitable<void> App::Parts::watch_signals() {
  for (;;) {
    const int signal = co_await signals_.async_wait(asio::use_awaitable);
    if (signal == SIGHUP)
      read_again();
    else
      end();
  }
}

void App::Parts::read_again() {
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const std::exception& error) {
      log_.server(std::string("reads again: ") + error.what() + "; the old one stays");
    }
  };
  attempt([&] { log_.open_again(); });
  attempt([&] { http_.read_tls_again(); });
  if (grpc_) attempt([&] { grpc_->read_tls_again(); });
  if (!options_.tokens.empty())
    attempt([&] { service_.tokens.replace(read_tokens(options_.tokens)); });
  repository_.look();
}

void App::Parts::end() {
  if (service_.draining.exchange(true)) {
    log_.server("a second signal: ends at once");
    return ended(true);
  }
  log_.server("ends: waits for the requests in flight");
  asio::co_spawn(loop_.io(), drain(), asio::detached);
}

asio::awaitable<void> App::Parts::drain() {
  asio::steady_timer timer(loop_.io(), options_.notice);
  co_await timer.async_wait(asio::use_awaitable);
  const auto end = std::chrono::steady_clock::now() + options_.drain;
  http_.close();
  if (grpc_) grpc_->close();
  auto& connections = shared_->connections;
  const auto busy = [&] { return connections.size() > 0; };
  connections.end_all(End::if_idle);
  while (busy() && std::chrono::steady_clock::now() < end) {
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::use_awaitable);
    connections.end_all(End::if_idle);  // one may have become idle since
  }
  if (connections.size() > 0)
    log_.server(std::to_string(connections.size()) + " connections are cut off");
  ended(busy());
}

void App::Parts::ended(bool cut_off) {
  const std::lock_guard lock(mutex_);
  if (!cut_off_) cut_off_ = cut_off;
  wake_.notify_all();
}

int App::Parts::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return cut_off_.has_value(); });
  return *cut_off_ ? 1 : 0;
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

void App::read_again() { parts_->read_again(); }

void App::drain() { parts_->end(); }

int App::wait() { return parts_->wait(); }

}  // namespace polychron::server
