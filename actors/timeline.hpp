// The order of a lane: it decides which operation runs next. No actor, no message, no clock.
//
// Operations arrive in any order. Each waits for its turn (a resequencer). At its turn it starts,
// unless it must wait: for an operation of another lane (Stamp::waits), or for an unfinished
// earlier one of this lane on the same tensor or graph. Two things keep an operation unfinished for
// longer than it runs: a lease, which lasts until it ends, and a wait for another lane. Independent
// operations go on (the table of Tomasulo 1967, with tensors as registers).
//
// Waiting operations are indexed by the thing that they wait for. So the time of an arrival, a
// start or an end depends on the operation's footprint, not on the number of waiting operations.
//
// Invariants: operations that share a tensor, at least one of them writing, are carried out in
// order of their turns; an operation is done exactly once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "messages/conditions.hpp"
#include "messages/device.hpp"

namespace polychron::actors {

class Timeline {
 public:
  using Ask = std::function<void(const msg::Wait&)>;
  /// `done_elsewhere` is true if a wait is known to be over; `ask` is called once for each that is
  /// not.
  Timeline(std::function<bool(const msg::Wait&)> done_elsewhere, Ask ask);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  /// True if this operation need not wait. The caller carries it out at once, and calls advance(),
  /// or keep_running() if it goes on. This is the common case; it does not allocate.
  bool may_start(const msg::carry_out& arrived) const;
  void advance() { ++next_; }
  /// Keeps an operation that started at once and goes on, until finish(): a lease that was granted,
  /// or an execution that was submitted.
  void keep_running(msg::carry_out&& started, msg::Clock::time_point now, bool granted);

  /// Keeps an operation for which may_start() is false.
  void keep(msg::carry_out&& arrived, msg::Clock::time_point now);
  /// The next operation that may be carried out, or nullptr. It stays here until finish().
  msg::carry_out* next();
  /// The operation at `turn` is done.
  void finish(msg::Ticket turn);
  /// The lease at `turn` was granted: the fences of error scopes no longer wait for it.
  void granted(msg::Ticket turn);
  /// The operation at `turn` if it is under way, or nullptr.
  msg::carry_out* running(msg::Ticket turn);

  /// Another lane has finished the operations of this wait.
  void reached(const msg::Wait& wait);
  /// Calls `tell` when this lane has finished the operations of `wait`; at once if it already has.
  void when_done(const msg::Wait& wait, std::function<void()> tell);

  bool done(msg::Ticket turn) const { return turn < next_ && !entries_.contains(turn); }
  /// All operations before this turn are done.
  msg::Ticket done_below() const { return entries_.empty() ? next_ : entries_.begin()->first; }
  /// True if nothing waits or runs, and no other lane asks.
  bool idle() const { return entries_.empty() && early_.empty() && asked_.empty(); }

  /// Every operation that has arrived and is not done, with the reason for its wait.
  std::vector<PendingOperation> pending() const;
  /// The description of an operation that has arrived but has not started, for pending().
  PendingOperation describe(const msg::carry_out& arrived, std::string waits_for,
                            msg::Clock::time_point since) const;

 private:
  struct Entry;
  struct Group;
  using Queue = std::deque<Group>;
  struct HashWait {
    std::size_t operator()(const msg::Wait& wait) const noexcept;
  };

  void take_turns();
  void admit(std::unique_ptr<Entry> entry);
  void enqueue(Entry& entry, msg::Object object, bool exclusive);
  void leave(msg::Object object);
  void unblock(Entry& entry);
  void release_dependents(Entry& entry);
  bool free_for(msg::Object object, bool exclusive) const;
  /// One thing that `entry` waits for, as text for people.
  std::string obstacle(const Entry& entry) const;

  const std::function<bool(const msg::Wait&)> done_elsewhere_;
  const Ask ask_;
  msg::Ticket next_ = 1;
  std::map<msg::Ticket, std::pair<msg::carry_out, msg::Clock::time_point>>
      early_;                                              ///< ahead of their turn
  std::map<msg::Ticket, std::unique_ptr<Entry>> entries_;  ///< their turn has come: not done
  std::unordered_map<msg::Object, Queue> queues_;          ///< of what entries touch
  std::unordered_map<msg::Wait, std::vector<Entry*>, HashWait> awaited_;  ///< from other lanes
  std::set<msg::Ticket> ready_;  ///< turns of entries that may start
  std::multimap<msg::Ticket, std::pair<msg::Object, std::function<void()>>>
      asked_;  ///< by other lanes, about turns that have not come
  std::unordered_map<const Entry*, std::unique_ptr<Entry>> questions_;  ///< of other lanes
};

}  // namespace polychron::actors
