// Notices that a client has gone while its request runs.
#pragma once

#include <sys/socket.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <memory>
#include <polychron/cancellation.hpp>

namespace polychron::server {

namespace asio = boost::asio;
using boost::system::error_code;

/// Ends the operations of a request whose client closes the connection.
class DisconnectWatch {
 public:
  DisconnectWatch(asio::ip::tcp::socket& socket, Cancellation cancellation) {
    auto seen = [&socket, cancellation, over = over_](error_code failed) mutable {
      if (*over || failed == asio::error::operation_aborted) return;
      char byte = 0;
      // Bytes of a next request also wake it; they say nothing about this one.
      const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (failed || got == 0 || (got < 0 && errno != EAGAIN)) cancellation.cancel();
    };
    socket.async_wait(asio::ip::tcp::socket::wait_read,
                      asio::bind_cancellation_slot(signal_.slot(), std::move(seen)));
  }
  ~DisconnectWatch() {
    *over_ = true;
    signal_.emit(asio::cancellation_type::all);
  }
  DisconnectWatch(const DisconnectWatch&) = delete;
  DisconnectWatch& operator=(const DisconnectWatch&) = delete;

 private:
  asio::cancellation_signal signal_;
  /// The handler may already wait in the queue of the connection's strand.
  const std::shared_ptr<bool> over_ = std::make_shared<bool>(false);
};

}  // namespace polychron::server
