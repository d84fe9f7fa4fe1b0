// The open connections of both transports, and which of them may stay when there are too many.
//
// Invariants: at most `most` connections stay open, and `most_of_address` of one address. Of each,
// one in 16 runs no request: there is always one to end, and a health check gets its answer.
// The connection ends that waits for its client longest, of the address with the most connections:
// an attacker ends its own. One that computes stays.
#pragma once

#include <array>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>

namespace polychron::server {

/// A client's address: of IPv6 the first 64 bits, which a network gives to one client.
using Peer = std::array<unsigned char, 16>;
Peer peer_of(const boost::asio::ip::address& address);

/// Which connections an order to end is for.
enum class End { if_idle, unless_running, now };

/// Thread-safe.
class Connections {
 public:
  enum class State {
    idle,          ///< waits for a request
    transferring,  ///< the client sends, or reads an answer
    running,       ///< the server computes
    ending         ///< was told to end
  };
  struct Limits {
    std::size_t most = 1024;
    std::size_t most_of_address = 512;
  };
  struct Count {
    std::size_t all = 0;
    std::size_t open = 0;  ///< all but those that end
    std::size_t running = 0;
  };
  struct Entry {
    std::map<Peer, Count>::iterator peer;
    std::function<void(End)> close;  ///< posts to the connection's executor
    State state = State::idle;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };
  using Place = std::list<Entry>::iterator;

  explicit Connections(Limits limits) : limits_(limits) {}

  /// Adds a connection, and ends others until there are no more than may stay. Nothing if all of
  /// them run.
  std::optional<Place> enter(const Peer& peer, std::function<void(End)> close);
  /// Ends one that waits for its client, for its file descriptor.
  void end_one();
  void remove(Place place);
  /// To idle or transferring. Call it again when a transfer gets on.
  void wait(Place place, State state);
  /// To running. False, and nothing, if too many other connections run and this is no health check.
  bool run(Place place, bool is_health_check);
  void end_all(End which);
  std::size_t size() const;

 private:
  // All with the lock.
  /// Of all that wait, or of those of one address.
  Place first_to_end(const Count* of);
  void end(Place place);
  void forget(Place place);
  void set(Place place, State state);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
  std::map<Peer, Count> peers_;  ///< those with entries
  Count all_;
};

}  // namespace polychron::server
