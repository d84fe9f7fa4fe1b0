// One HTTP/2 connection and the calls of gRPC on it. It has no socket: bytes go in and out.
//
// Owns: the library's session, and the calls until their last byte is sent or their stream ends.
// Invariants: messages and answers take memory within the budget; a call takes some 2 KiB beside
// them, and twice `most_calls` are alive at most; one whose client makes no progress ends.
#pragma once

#include <nghttp2/nghttp2.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "grpc/call.hpp"

namespace polychron::server {

/// Of one executor.
class Session : public std::enable_shared_from_this<Session> {
 public:
  static constexpr std::size_t most_calls = 128;

  /// `wake` is called when there may be output.
  Session(boost::asio::any_io_executor executor, std::shared_ptr<HttpShared> shared,
          Connections::Place place, std::function<void()> wake);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins the protocol. Once.
  void begin();
  /// False if they are no HTTP/2, or more than a client may send.
  bool receive(std::span<const std::byte> bytes);
  /// Appends frames to send, about 64 KiB at most.
  void collect(std::string& output);
  /// True while the client has to read before it may send more.
  bool is_full() const;
  /// True if nothing more will come or go.
  bool is_over() const;
  /// True while calls run, also such whose stream has ended.
  bool is_running() const { return running_ > 0; }
  /// Ends the connection in HTTP/2's way, if it is as `which` says; when the server drains, after
  /// its calls. True if it ends at once.
  bool close(End which);
  /// The connection is gone: cancels the calls.
  void abandon();

 private:
  struct Callbacks;
  using CallPtr = std::shared_ptr<Call>;

  Call* find(int stream);
  void begin_call(int stream);
  void add_header(Call& call, std::string_view name, std::string_view value);
  void end_header(const CallPtr& call);
  void add_message(Call& call, std::span<const std::byte> bytes);
  void end_message(const CallPtr& call);
  void end_stream(int stream);
  void watch(Call& call);
  /// Ends a call with a status in place of an answer.
  void refuse(Call& call, const Refusal& refusal);
  void answer(Call& call, std::string&& message);
  /// To the answer of a call that watches.
  void append(Call& call, const std::string& message);
  void submit_trailer(int stream);
  void reset(int stream, std::uint32_t code);
  void update_place();
  void look_at_calls();

  static boost::asio::awaitable<void> run(std::shared_ptr<Session> self, CallPtr call);

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<HttpShared> shared_;
  const Connections::Place place_;
  const std::function<void()> wake_;
  nghttp2_session* session_ = nullptr;
  std::map<int, CallPtr> calls_;  ///< those whose stream is open
  std::size_t running_ = 0;
  boost::asio::steady_timer timer_;
  bool timer_runs_ = false;
  bool leaving_ = false;  ///< the client was told to open no more streams
  bool gone_ = false;
};

}  // namespace polychron::server
