// The HTTP server: listens, and serves each connection by a coroutine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/service.hpp"
#include "core/viewer.hpp"

namespace polychron::server {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  ///< 0: a free one
  std::size_t connections = 1024;
  std::size_t requests_per_connection = 1'000'000;
  std::size_t header_bytes = 16 * 1024;
  std::uint64_t body_bytes = std::uint64_t{64} << 20;
  std::uint64_t json_bytes = std::uint64_t{16} << 20;
  std::chrono::seconds header_timeout{10};    ///< from a request's first byte to its last header
  std::chrono::seconds idle_timeout{60};      ///< between requests
  std::chrono::seconds transfer_timeout{30};  ///< for a body or an answer, and 1 s for each 64 KiB
  std::string certificate, key, client_ca;    ///< files; TLS if there is a certificate
  std::vector<std::string> hosts;             ///< names of this server for browsers; "*": any
  bool page = true;                           ///< the page at /, and what it shows
  /// The bytes of the recording for /recording; empty: there is none.
  std::function<std::vector<std::byte>()> recording;
  /// A page of it for /recording/view.
  std::function<Future<Viewer::Page>()> view;
};

class HttpServer {
 public:
  /// Listens. Throws Error (bad_data): the address, the port, a file of TLS.
  HttpServer(boost::asio::io_context& io, HttpOptions options, Service& service);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Reads the files of TLS again, for connections that come. Throws Error (bad_data): nothing has
  /// changed then.
  void read_tls_again();
  /// Accepts no more connections, ends those that are idle, and the others after their answer.
  void drain();
  /// Ends all connections now.
  void abort();
  std::size_t connections() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace polychron::server
