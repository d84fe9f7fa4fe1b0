#include "observe/stress/explorer.hpp"

#include <algorithm>
#include <bit>

#include "observe/stress/distinct.hpp"
#include "observe/stress/strategies.hpp"

namespace polychron::stress {

namespace {

constexpr std::uint64_t runs_per_program = 3;
constexpr std::uint64_t check_every = 1024;  ///< one schedule in this many is run twice

/// State that a search keeps from one run to the next.
class Explorer {
 public:
  explicit Explorer(const Exploration& exploration) : exploration_(exploration) {}

  Report run(const std::function<bool(const Report&)>& go_on) {
    for (std::uint64_t i = 0; report_.schedules < exploration_.schedules; ++i) {
      explore(exploration_.seed + i * exploration_.stride);
      ++report_.programs;
      if (report_.finding || (go_on && !go_on(report_))) break;
    }
    return std::move(report_);
  }

 private:
  void explore(std::uint64_t seed) {
    auto program = random_program(seed, exploration_.swarm);
    counts_.clear();
    steps_ = 40;
    for (std::uint64_t run = 0; run < runs_per_program; ++run) {
      auto search = exploration_.search;
      if (search == Search::mixed) search = searches[1 + (seed + run) % (searches.size() - 2)];
      // A program's first run is random, which may show something new.
      if (search == Search::coverage && run > 0 && !corpus_.empty()) {
        const auto& [known, schedule] = corpus_[(seed * 31 + run) % corpus_.size()];
        auto prefix = schedule;
        prefix.resize(mix(seed, run) % (prefix.size() + 1));
        MutatingStrategy strategy(mix(seed, run), std::move(prefix));
        if (try_out(known, seed, strategy)) return;
        continue;
      }
      if (try_out(program, seed, search, mix(seed, run))) return;
    }
  }

  static std::uint64_t mix(std::uint64_t seed, std::uint64_t run) {
    return seed * 0x9e3779b97f4a7c15U + run;
  }

  bool try_out(const Program& program, std::uint64_t seed, Search search, std::uint64_t number) {
    switch (search) {
      case Search::pct: {
        PctStrategy strategy(number, 1 + number % 4, steps_);
        return try_out(program, seed, strategy);
      }
      case Search::pos: {
        PosStrategy strategy(number);
        return try_out(program, seed, strategy);
      }
      case Search::surw: {
        SurwStrategy strategy(number, counts_);
        const bool found = try_out(program, seed, strategy);
        if (counts_.empty()) counts_ = strategy.made();
        return found;
      }
      case Search::round_robin: {
        RoundRobinStrategy strategy;
        return try_out(program, seed, strategy);
      }
      default: {
        RandomStrategy strategy(number);
        return try_out(program, seed, strategy);
      }
    }
  }

  bool try_out(const Program& program, std::uint64_t seed, Strategy& strategy) {
    auto result = stress::run(program, strategy, &stage_);
    ++report_.schedules;
    report_.messages += result.messages;
    steps_ = result.schedule.size();
    const auto before = pairs_.size();
    pairs_.insert(result.pairs.begin(), result.pairs.end());
    if (pairs_.size() != before) {
      report_.coverage.emplace_back(report_.schedules, pairs_.size());
      corpus_.emplace_back(program, result.schedule);
    }
    for (const auto state : result.states) states_.add(state);
    if (std::has_single_bit(report_.schedules))
      report_.states.emplace_back(report_.schedules, states_.count());
    if (!result.finding && report_.schedules % check_every == 1) check_again(program, result);
    if (!result.finding) return false;
    Finding finding{*result.finding,   program, std::move(result.schedule), seed,
                    report_.schedules, {}};
    if (exploration_.shrinks) finding = shrink(std::move(finding));
    finding.token = token_of(finding.program, finding.schedule);
    report_.finding = std::move(finding);
    return true;
  }

  /// Checks that a run depends only on its program and schedule. Otherwise no finding could be
  /// trusted.
  void check_again(const Program& program, RunResult& result) {
    ReplayStrategy strategy(result.schedule);
    const auto again = stress::run(program, strategy, &stage_);
    if (again.schedule == result.schedule && again.states == result.states && !again.finding)
      return;
    result.finding = "the same schedule took another course: " +
                     again.finding.value_or(std::to_string(again.messages) + " messages, not " +
                                            std::to_string(result.messages));
  }

  const Exploration exploration_;
  Stage stage_;
  Report report_;
  std::set<MessagePair> pairs_;
  Distinct states_;
  std::vector<std::pair<Program, Schedule>> corpus_;
  StepCounts counts_;
  std::size_t steps_ = 0;
};

}  // namespace

std::string_view to_string(Search search) noexcept {
  constexpr std::array names{"mixed", "random", "pct", "pos", "surw", "coverage", "round-robin"};
  return names[static_cast<std::size_t>(search)];
}

Report explore(const Exploration& exploration, const std::function<bool(const Report&)>& go_on) {
  return Explorer(exploration).run(go_on);
}

}  // namespace polychron::stress
