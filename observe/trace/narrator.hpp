// Joins records into a trace: in parts, each of which adds to what those before it found.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "observe/recording/record_numbers.hpp"
#include "observe/trace/joined_trace.hpp"
#include "observe/trace/records.hpp"

namespace polychron::trace {

/// One use. Nothing is assumed of the records but that they are such: numbers may be any.
class Narrator {
 public:
  explicit Narrator(Records records) { joined_.records = std::move(records); }
  JoinedTrace narrate();

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, and a number in it
  /// An event on an actor's track, by its begin.
  struct Span {
    Time begin, end;
    Index event;
  };

  Time time_of(std::int64_t at) const;
  static Time duration_of(std::uint64_t duration);

  // -- who there is (narrator_actors.cpp)
  void find_contexts();
  void find_actors();
  void label_actors();
  MaybeIndex context_of(std::uint64_t number) const;
  Index actor_of(std::uint64_t context, std::uint64_t number, const std::string& kind, Time seen);
  Index caller_of(std::uint64_t thread, Time seen);

  // -- what happened (narrator_events.cpp)
  void match_messages();
  void add_calls();
  void add_handlings();
  void add_operations();
  void add_steps();
  void order_events();
  void find_causes();
  const std::string& message_name(const recording::About& about) const;
  std::string object_of(std::uint64_t context, const recording::Footprint& footprint) const;
  /// The innermost event of an actor at a time.
  MaybeIndex event_at(Index actor, Time at) const;

  // -- what follows from it (narrator_waits.cpp)
  void find_states();
  /// The ends of operations that go on after they were carried out: leases, and the device's work.
  void find_ends();
  /// When others may go on.
  Time over(Index event) const;
  /// The operations that lanes carried out, and the order in which they did.
  void list_operations();
  /// The last of these to end before the operation began: the operation ahead on its lane, a lease
  /// of a tensor or the device's work on it, or an operation of another lane.
  MaybeIndex waited_for(const Operation& operation) const;
  std::string reason_of_wait(MaybeIndex on) const;
  void find_waits();
  void add_caller_waits();
  void count();

  JoinedTrace joined_;
  const Records& records_ = joined_.records;
  std::map<std::uint64_t, Index> contexts_;
  std::map<Key, Index> actors_;
  std::map<std::uint64_t, Index> callers_;  ///< by thread
  std::vector<MaybeIndex> handled_of_sent_;
  std::vector<Index> actor_of_handled_, sender_of_sent_, receiver_of_sent_;
  std::vector<MaybeIndex> event_of_handled_, call_of_sent_;
  std::vector<Index> event_of_carried_;
  std::map<Key, Index> carried_operations_;  ///< by context and ticket: the event
  /// Operations that go on, by context and tensor: in the order of their begin.
  std::map<Key, std::vector<Index>> going_on_;
  std::map<Index, Time> ends_;    ///< of those that have ended
  std::map<Index, Index> ahead_;  ///< by operation: the one before it on its lane
  /// Operations by context, lane and turn.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Index> turns_;
  std::vector<std::vector<Span>> tracks_;  ///< handlings and operations of each actor
};

}  // namespace polychron::trace
