// The time within which a connection must get on.
#pragma once

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

namespace polychron::server {

/// How long a client may take to send a body or to read an answer: 64 KiB pass in each `step`, and
/// on the whole 64 KiB a second, after a first `step`.
class Transfer {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t least = 64 * 1024;  ///< bytes

  explicit Transfer(std::chrono::seconds step, Clock::time_point begin = Clock::now())
      : step_(step), begin_(begin), step_begin_(begin) {}

  /// True if a step is done.
  bool pass(std::uint64_t bytes, Clock::time_point now = Clock::now()) {
    bytes_ += bytes;
    if (bytes_ < next_) return false;
    next_ = bytes_ + least;
    step_begin_ = now;
    return true;
  }
  /// When the client is too slow, unless more has passed by then.
  Clock::time_point due() const {
    return std::min(step_begin_, begin_ + std::chrono::seconds(bytes_ / least)) + step_;
  }

 private:
  std::chrono::seconds step_;
  Clock::time_point begin_;
  Clock::time_point step_begin_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = least;
};

/// Cancels the socket's operations when the time is over; the socket stays open, so that its client
/// can be told. Of one executor. The timer is touched only if the new time is earlier than the one
/// that it waits for.
class Deadline : public std::enable_shared_from_this<Deadline> {
 public:
  explicit Deadline(boost::asio::ip::tcp::socket& socket)
      : socket_(&socket), timer_(socket.get_executor()) {}

  using Clock = std::chrono::steady_clock;

  void set(Clock::duration time) { set_at(Clock::now() + time); }
  void set_at(Clock::time_point at) {
    expired_ = over_;
    at_ = over_ ? std::min(at, soon()) : at;
    if (at_ < armed_) arm();
  }
  void never() { at_ = Clock::time_point::max(); }
  /// Every time is over from now on.
  void expire() {
    over_ = true;
    at_ = Clock::time_point::min();
    wake();
  }
  /// True if the time was over before the next call of set().
  bool expired() const { return expired_; }
  /// True after expire().
  bool is_over() const { return over_; }
  /// The socket is going.
  void end() {
    socket_ = nullptr;
    timer_.cancel();
  }

 private:
  void arm() {
    armed_ = at_;
    timer_.expires_at(at_);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code failed) {
      if (failed) return;
      self->armed_ = Clock::time_point::max();
      self->wake();
    });
  }
  static Clock::time_point soon() { return Clock::now() + std::chrono::milliseconds(100); }
  void wake() {
    if (!socket_ || at_ == Clock::time_point::max()) return;
    if (Clock::now() < at_) return arm();
    expired_ = true;
    boost::system::error_code ignored;
    socket_->cancel(ignored);
    // An operation that had just completed was not cancelled, and the next one is to be.
    at_ = soon();
    arm();
  }

  boost::asio::ip::tcp::socket* socket_;
  boost::asio::steady_timer timer_;
  Clock::time_point at_ = Clock::time_point::max();
  Clock::time_point armed_ = Clock::time_point::max();
  bool expired_ = false;
  bool over_ = false;
};

}  // namespace polychron::server
