#include "stress/accounts.hpp"

#include <map>

namespace polychron::stress {

namespace {

constexpr std::uint64_t value_bytes = sizeof(std::uint64_t);

/// Copies that there must have been, and such as there may have been besides.
struct Copies {
  std::uint64_t least = 0, more = 0;
};

Copies copies_of(const Program& program, const Made& made) {
  if (made.call.kind == Kind::write) {
    // What is moved is copied if the device has to take it from where it lies.
    if (made.call.way == 0) return {1, 0};
    return {0, program.few_bytes() ? 1U : 0U};
  }
  if (made.call.kind != Kind::read) return {};
  // Into a buffer, and from there into borrowed memory. The device may have copied what nobody
  // gets.
  const std::uint64_t all = made.call.way == 2 ? 2 : 1;
  const bool answered = made.answer && made.answer->value;
  return answered ? Copies{all, 0} : Copies{0, all};
}

std::optional<std::string> differs(const char* what, std::uint64_t counted, std::uint64_t made) {
  if (counted == made) return std::nullopt;
  return std::string(what) + " are counted as " + std::to_string(counted) + ", of " +
         std::to_string(made);
}

}  // namespace

std::optional<std::string> check_accounts(const Program& program, const History& history,
                                          const ContextStats& stats) {
  std::map<Kind, std::uint64_t> made;
  Copies copies;
  for (const auto& call : history.calls) {
    if (!call.submitted) continue;
    ++made[call.call.kind];
    const auto [least, more] = copies_of(program, call);
    copies.least += least, copies.more += more;
  }
  if (auto wrong = differs("writes", stats.writes, made[Kind::write])) return wrong;
  if (auto wrong = differs("reads", stats.reads, made[Kind::read])) return wrong;
  if (auto wrong = differs("dispatches", stats.dispatches, made[Kind::dispatch])) return wrong;
  if (auto wrong = differs("computes", stats.computes, made[Kind::compute])) return wrong;
  if (auto wrong = differs("exports", stats.exports, made[Kind::lend])) return wrong;
  // Programs begin with two graphs.
  if (auto wrong = differs("builds", stats.builds, made[Kind::build] + 2)) return wrong;
  if (stats.copies < copies.least || stats.copies > copies.least + copies.more)
    return "copies are counted as " + std::to_string(stats.copies) + ", expected " +
           std::to_string(copies.least) + " to " + std::to_string(copies.least + copies.more);
  return differs("copied bytes", stats.copied_bytes, stats.copies * value_bytes);
}

}  // namespace polychron::stress
