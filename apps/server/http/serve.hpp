// From an accepted socket to a connection of a transport, with TLS or without.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "http/deadline.hpp"
#include "http/listener.hpp"

namespace polychron::server {

using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

/// What the connections of both transports have: a stream, its deadline, its place in the table.
template <class Stream>
class StreamOf {
 public:
  StreamOf(Stream opened, std::shared_ptr<HttpShared> all)
      : stream(std::move(opened)),
        shared(std::move(all)),
        deadline(std::make_shared<Deadline>(socket())) {}
  ~StreamOf() { deadline->end(); }
  StreamOf(const StreamOf&) = delete;
  StreamOf& operator=(const StreamOf&) = delete;

  boost::asio::ip::tcp::socket& socket() { return boost::beast::get_lowest_layer(stream); }
  /// TLS's, where there is TLS.
  boost::asio::awaitable<void> handshake() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      deadline->set(shared->options.header_timeout);
      co_await stream.async_handshake(boost::asio::ssl::stream_base::server,
                                      boost::asio::use_awaitable);
    }
  }

  Stream stream;
  const std::shared_ptr<HttpShared> shared;
  const std::shared_ptr<Deadline> deadline;
  Connections::Place place;
};

/// Serves it by a Connection<Stream>, which has serve() and close(End).
template <template <class> class Connection, class Stream>
boost::asio::awaitable<void> serve_stream(std::shared_ptr<HttpShared> shared, Stream stream,
                                          Peer peer) {
  const auto connection = std::make_shared<Connection<Stream>>(std::move(stream), shared);
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto place =
      shared->connections.enter(peer, [executor, weak = std::weak_ptr(connection)](End which) {
        boost::asio::post(executor, [weak, which] {
          if (const auto open = weak.lock()) open->close(which);
        });
      });
  if (!place) co_return;  // all others compute: the client can try another server
  connection->place = *place;
  try {
    co_await connection->handshake();
    co_await connection->serve();
  } catch (const std::exception&) {
    // The client is gone, or too slow to be told.
  }
  shared->connections.remove(*place);
}

template <template <class> class Connection>
boost::asio::awaitable<void> serve_accepted(std::shared_ptr<HttpShared> shared, Accepted accepted) {
  boost::system::error_code ignored;
  accepted.socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  if (accepted.tls)
    return serve_stream<Connection>(
        std::move(shared), TlsStream(std::move(accepted.socket), *accepted.tls), accepted.peer);
  return serve_stream<Connection>(std::move(shared), std::move(accepted.socket), accepted.peer);
}

}  // namespace polychron::server
