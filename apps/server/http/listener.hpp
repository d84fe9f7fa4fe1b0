// Accepts connections, of either transport, and has each served by a coroutine.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>

#include "http/shared.hpp"

namespace polychron::server {

/// A connection that has been accepted.
struct Accepted {
  boost::asio::ip::tcp::socket socket;
  Peer peer;
  std::shared_ptr<boost::asio::ssl::context> tls;  ///< null: none
};

/// How a transport serves a connection until its end.
struct Transport {
  const char* name;      ///< for errors
  const char* protocol;  ///< in TLS's negotiation
  boost::asio::awaitable<void> (*serve)(std::shared_ptr<HttpShared>, Accepted);
};

/// HTTP/1.1.
extern const Transport http_transport;

class Listener {
 public:
  /// Listens. Throws Error (bad_data): the address, the port, a file of TLS.
  Listener(boost::asio::io_context& io, std::shared_ptr<HttpShared> shared, std::uint16_t port,
           const Transport& transport);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const;
  /// Reads the files of TLS again, for connections that come. Throws Error (bad_data): nothing has
  /// changed then.
  void read_tls_again();
  /// Accepts no more connections.
  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace polychron::server
