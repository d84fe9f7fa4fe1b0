// What happened in a recording, as turns of a replay, and how each is found again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/before.hpp"
#include "replay/turns.hpp"
#include "trace/records.hpp"

namespace polychron::replay {

using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, and a number in it
using Place = std::size_t;                            ///< in Happenings::turns

struct Happenings {
  struct Placed {
    std::int64_t at;
    Key actor;  ///< 0: a caller's thread
    Turn turn;
  };

  Happenings(const trace::Records& all, const std::vector<std::optional<std::size_t>>& sent_of,
             const std::map<ContextAndActor, Role>& known)
      : records(all), matches(sent_of), roles(known) {}
  void collect(const std::map<ContextAndTime, std::size_t>& calls, const std::vector<Call>& made);

  const std::string& message(std::uint32_t number) const {
    return trace::name_in(records.messages, std::size_t{number} + 1);
  }
  bool is(const Key& actor, std::string_view kind) const {
    const auto role = roles.find(actor);
    return role != roles.end() && role->second.kind == kind;
  }
  /// What an actor did last by then.
  std::optional<Place> last_of(const Key& actor, std::int64_t at) const;
  /// What it did before that.
  std::optional<Place> previous(Place place) const;
  void put(const std::optional<Place>& earlier, const std::optional<Place>& later) {
    if (earlier && later) before.put(*earlier, *later);
  }

  const trace::Records& records;
  const std::vector<std::optional<std::size_t>>& matches;
  const std::map<ContextAndActor, Role>& roles;
  std::vector<Placed> turns;
  Before before;
  std::map<Key, std::vector<Place>> of_actor;  ///< as seen
  std::map<std::size_t, Place> handlings;      ///< by their places in Records::handled
  std::map<Key, Place> operations, ends;       ///< by context and ticket: beginnings, ends
  std::map<Key, Place> rejections;             ///< likewise
  /// Of each context: when it was lost, and in which operation, if in one; and when its actor had
  /// others end, and ended.
  std::map<std::uint64_t, Place> losses, goings;

 private:
  Place add(std::int64_t at, int rank, Key actor, Turn turn) {
    turns.push_back({at, actor, std::move(turn)});
    return before.add({at, rank});
  }
  void add_handlings();
  void add_operations();
  void add_rejections();
  void add_calls(const std::map<ContextAndTime, std::size_t>& calls, const std::vector<Call>& made);
  void keep_actors_in_order();

  std::map<std::uint64_t, const recording::Lost*> lost_;
  std::map<std::uint64_t, std::uint64_t> contexts_;  ///< their actors
  std::map<Place, std::size_t> index_;               ///< in of_actor
};

}  // namespace polychron::replay
