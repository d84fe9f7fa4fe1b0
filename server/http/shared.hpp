// What the files of http/ share.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/server.hpp"
#include "protocol/json.hpp"
#include "protocol/target.hpp"

namespace polychron::server {

/// A request as the router needs it. The body is there.
struct HttpRequest {
  std::string method;
  std::string target;
  Target parsed;
  std::string trace;  ///< traceparent
  std::string accept_encoding;
  std::optional<std::size_t> json_length;
  Body body;
  Cancellation cancellation{};
};

struct HttpReply {
  Status status = Status::ok;
  std::string type = "application/json";
  std::string text;
  std::vector<Buffer> binary{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string message{};  ///< of a refusal, for the log
  std::string id{};       ///< of the request
};

/// The open connections, so that they can be ended.
class Connections {
 public:
  enum class State { idle, busy, ending };
  struct Entry {
    std::function<void(bool idle_only)> close;  ///< posts to the connection's executor
    State state = State::idle;
  };
  using Place = std::list<Entry>::iterator;

  Place add(std::function<void(bool)> close);
  void remove(Place place);
  void set_idle(Place place, bool idle);
  /// Ends one idle connection, the one that has been idle longest. False if none is.
  bool close_idlest();
  /// Ends the idlest until there are fewer than `most`, those that are about to end not counted.
  /// False if too many are busy.
  bool make_room(std::size_t most);
  void close_all(bool idle_only);
  std::size_t size() const;

 private:
  bool end_idlest();  ///< with the lock

  mutable std::mutex mutex_;
  std::list<Entry> open_;  ///< idle ones in the order of their last request
};

/// Shared by the listener and all connections.
struct HttpShared {
  HttpShared(HttpOptions of_server, Service& of_all)
      : options(std::move(of_server)), service(of_all) {}
  const HttpOptions options;
  Service& service;
  std::atomic<std::shared_ptr<boost::asio::ssl::context>> tls{};  ///< null: none
  Connections connections;
};

/// A reply that refuses.
HttpReply refuse(const Refusal& refusal);

/// Refuses an inference whose body need not be read: no such model, its queue is full, or the body
/// of `announced` bytes does not fit beside the others. Throws Refusal, and counts it.
void refuse_early(HttpShared& shared, const HttpRequest& request, std::uint64_t announced);

/// Answers the request. Never throws.
boost::asio::awaitable<HttpReply> answer(HttpShared& shared, HttpRequest& request);

/// Throws Refusal (unauthorized) unless the header has one of the tokens, if there are any.
void check_token(const Service& service, const Target& target, std::string_view authorization);

/// Serves a connection until its end.
boost::asio::awaitable<void> serve_connection(std::shared_ptr<HttpShared> shared,
                                              boost::asio::ip::tcp::socket socket);

}  // namespace polychron::server
