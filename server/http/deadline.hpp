// The time within which a connection must get on.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

namespace polychron::server {

/// Cancels the socket's operations when the time is over; the socket stays open, so that its client
/// can be told. Of one executor. The timer is touched only if the new time is earlier than the one
/// that it waits for.
class Deadline : public std::enable_shared_from_this<Deadline> {
 public:
  explicit Deadline(boost::asio::ip::tcp::socket& socket)
      : socket_(&socket), timer_(socket.get_executor()) {}

  void set(std::chrono::steady_clock::duration time) {
    expired_ = false;
    at_ = Clock::now() + time;
    if (at_ < armed_) arm();
  }
  void never() { at_ = Clock::time_point::max(); }
  /// True if the time was over before the next call of set().
  bool expired() const { return expired_; }
  /// The socket is going.
  void end() {
    socket_ = nullptr;
    timer_.cancel();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void arm() {
    armed_ = at_;
    timer_.expires_at(at_);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code failed) {
      if (!failed) self->wake();
    });
  }
  void wake() {
    armed_ = Clock::time_point::max();
    if (!socket_ || at_ == Clock::time_point::max()) return;
    if (Clock::now() < at_) return arm();
    expired_ = true;
    boost::system::error_code ignored;
    socket_->cancel(ignored);
    // An operation that had just completed was not cancelled, and the next one is to be.
    at_ = Clock::now() + std::chrono::milliseconds(100);
    arm();
  }

  boost::asio::ip::tcp::socket* socket_;
  boost::asio::steady_timer timer_;
  Clock::time_point at_ = Clock::time_point::max();
  Clock::time_point armed_ = Clock::time_point::max();
  bool expired_ = false;
};

}  // namespace polychron::server
