#include "observe/stress/counter_check.hpp"

#include <map>

namespace polychron::stress {

namespace {

constexpr std::uint64_t value_bytes = sizeof(std::uint64_t);

/// Copies that must have been made, and further ones that may have been.
struct Copies {
  std::uint64_t least = 0, more = 0;
};

Copies copies_of(const Program& program, const Made& made) {
  if (made.call.kind == Kind::write) {
    // A moved buffer is copied only if the device has to take it from where it lies.
    if (made.call.way == 0) return {1, 0};
    return {0, program.few_bytes() ? 1U : 0U};
  }
  if (made.call.kind != Kind::read) return {};
  // One copy into a buffer, and one from there into borrowed memory. The device may have made
  // copies that no reader got.
  const std::uint64_t all = made.call.way == 2 ? 2 : 1;
  const bool answered = made.answer && made.answer->value;
  return answered ? Copies{all, 0} : Copies{0, all};
}

std::optional<std::string> differs(const char* what, std::uint64_t counted, std::uint64_t made) {
  if (counted == made) return std::nullopt;
  return std::string(what) + " are counted as " + std::to_string(counted) + ", of " +
         std::to_string(made);
}

/// Operations that have ended, and further ones that may have. A refused one may not have begun. A
/// creation or a build is counted only if it failed.
struct Ends {
  std::uint64_t least = 0, more = 0;
};

Ends ends_of(const Made& made) {
  switch (made.call.kind) {
    case Kind::write:
    case Kind::dispatch:
      return {1, 0};
    case Kind::read:
    case Kind::compute: {
      const bool answered = made.answer && made.answer->value;
      return answered ? Ends{1, 0} : Ends{0, 1};
    }
    case Kind::create:
    case Kind::constant:
    case Kind::build:
      return {0, 1};
    default:
      return {};
  }
}

}  // namespace

std::optional<std::string> check_counters(const Program& program, const History& history,
                                          const ContextStats& stats) {
  std::map<Kind, std::uint64_t> made;
  Copies copies;
  Ends ends;
  for (const auto& call : history.calls) {
    if (!call.submitted) continue;
    ++made[call.call.kind];
    const auto [least, more] = copies_of(program, call);
    copies.least += least, copies.more += more;
    const auto end = ends_of(call);
    ends.least += end.least, ends.more += end.more;
  }
  if (auto wrong = differs("writes", stats.writes, made[Kind::write])) return wrong;
  if (auto wrong = differs("reads", stats.reads, made[Kind::read])) return wrong;
  if (auto wrong = differs("dispatches", stats.dispatches, made[Kind::dispatch])) return wrong;
  if (auto wrong = differs("computes", stats.computes, made[Kind::compute])) return wrong;
  if (auto wrong = differs("exports", stats.exports, made[Kind::lend])) return wrong;
  // Programs begin with two graphs.
  if (auto wrong = differs("builds", stats.builds, made[Kind::build] + 2)) return wrong;
  const auto ended = stats.completed + stats.failed + stats.not_run;
  if (ended < ends.least || ended > ends.least + ends.more)
    return "ends are counted as " + std::to_string(ended) + ", expected " +
           std::to_string(ends.least) + " to " + std::to_string(ends.least + ends.more);
  if (stats.copies < copies.least || stats.copies > copies.least + copies.more)
    return "copies are counted as " + std::to_string(stats.copies) + ", expected " +
           std::to_string(copies.least) + " to " + std::to_string(copies.least + copies.more);
  return differs("copied bytes", stats.copied_bytes, stats.copies * value_bytes);
}

}  // namespace polychron::stress
