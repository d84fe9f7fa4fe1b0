// The order of a lane: which operation may be carried out next. No actor, no message, no clock.
//
// Operations arrive in any order. Each waits for its turn (a resequencer). When its turn has come
// it starts, unless it must wait: for an operation of another lane (Stamp::waits), or for an
// earlier one of this lane that is not done and that touches the same tensor or graph. Only a
// lease, which is under way until it ends, and a wait for another lane can make an operation "not
// done" for longer than it is being carried out; what does not depend on it goes on (the table of
// Tomasulo 1967, with tensors for registers).
//
// Invariants: operations that share a tensor, at least one of them writing, are carried out in
// order of their turns; an operation is done exactly once.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/conditions.hpp"
#include "messages/device.hpp"

namespace polychron::actors {

class Timeline {
 public:
  /// `done_elsewhere` tells whether an operation of another lane is known to be done; `ask` is
  /// called once for each that must be waited for.
  Timeline(std::function<bool(const msg::LaneTurn&)> done_elsewhere,
           std::function<void(const msg::LaneTurn&)> ask)
      : done_elsewhere_(std::move(done_elsewhere)), ask_(std::move(ask)) {}

  /// True if nothing stands in the way of the operation with this stamp: the caller carries it out
  /// at once and calls advance(). The common case, without a copy or an allocation.
  bool may_start(const msg::Stamp& stamp) const {
    return stamp.at.turn == next_ && waiting_.empty() && stamp.waits.empty();
  }
  void advance() { ++next_; }

  /// Keeps an operation for which may_start() is false, or which goes on after it was carried out.
  void keep(msg::Operation operation, msg::Clock::time_point now);
  void keep_running(msg::Operation operation, msg::Clock::time_point now);

  /// The next operation that may be carried out, or nullptr. It stays in the timeline until
  /// finish().
  const msg::Operation* next();
  /// The operation at `turn` is done. False if it is not there, or has not started.
  bool finish(msg::Ticket turn);
  /// Another lane's operation is done.
  void reached(const msg::LaneTurn& other);

  bool done(msg::Ticket turn) const;
  /// All operations before this turn are done.
  msg::Ticket done_below() const { return waiting_.empty() ? next_ : turn_of(waiting_.front()); }
  bool idle() const { return waiting_.empty() && early_.empty(); }

  /// Every operation that has arrived and is not done, and what it waits for.
  std::vector<PendingOperation> pending() const;

 private:
  struct Entry {
    msg::Operation operation;
    msg::Clock::time_point since;
    std::vector<msg::LaneTurn> waits;  ///< not reached yet
    bool running = false;
  };

  static msg::Ticket turn_of(const Entry& entry);
  void admit(Entry entry);
  /// The first entry before `until` that touches what `until` touches, or nullptr.
  const Entry* obstacle(std::list<Entry>::const_iterator until) const;

  const std::function<bool(const msg::LaneTurn&)> done_elsewhere_;
  const std::function<void(const msg::LaneTurn&)> ask_;
  msg::Ticket next_ = 1;
  std::map<msg::Ticket, Entry> early_;  ///< ahead of their turn; all keys > next_
  std::list<Entry> waiting_;            ///< their turn has come, and they are not done; in order
};

}  // namespace polychron::actors
