// Shrinking: removes things from a finding one by one, for as long as it still shows the same.
#include <algorithm>

#include "observe/stress/explorer.hpp"
#include "observe/stress/strategies.hpp"

namespace polychron::stress {

namespace {

/// The essence of a finding, without the names and numbers that change as it shrinks.
std::string gist(const std::string& what) {
  std::string text;
  for (const char c : what)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) text += c;
  // The subject of "gave" or "was rejected" may change, too.
  const auto end = text.find(") ");
  return text.substr(end == std::string::npos ? 0 : end, 40);
}

class Shrinker {
 public:
  explicit Shrinker(Finding finding) : best_(std::move(finding)), gist_(gist(best_.what)) {}

  Finding run() {
    for (bool smaller = true; smaller && tries_ < most;) {
      smaller = false;
      smaller |= without_clients();
      smaller |= without_calls();
      smaller |= without_faults();
      smaller |= with_plainer_options();
      smaller |= with_a_plainer_schedule();
    }
    return std::move(best_);
  }

 private:
  static constexpr std::size_t most = 4000;

  bool without_clients() {
    bool smaller = false;
    for (std::size_t c = best_.program.clients.size(); c-- > 0;) {
      auto program = best_.program;
      program.clients.erase(program.clients.begin() + static_cast<std::ptrdiff_t>(c));
      smaller |= still_found(program);
    }
    return smaller;
  }
  bool without_calls() {
    bool smaller = false;
    for (std::size_t c = 0; c < best_.program.clients.size(); ++c)
      for (std::size_t i = best_.program.clients[c].size(); i-- > 0;) {
        auto program = best_.program;
        auto& calls = program.clients[c];
        calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i));
        smaller |= still_found(program);
      }
    return smaller;
  }
  bool without_faults() {
    bool smaller = false;
    for (std::size_t i = best_.program.faults.size(); i-- > 0;) {
      auto program = best_.program;
      program.faults.erase(program.faults.begin() + static_cast<std::ptrdiff_t>(i));
      smaller |= still_found(program);
    }
    return smaller;
  }
  bool with_plainer_options() {
    bool smaller = false;
    const auto plainer = [&](auto change) {
      auto program = best_.program;
      change(program);
      if (program != best_.program) smaller |= still_found(program);
    };
    plainer([](Program& p) { p.backend = Computes::symbolic; });
    plainer([](Program& p) {
      p.contexts = 1;
      for (auto& fault : p.faults) fault.context = 0;
      for (auto& calls : p.clients)
        for (auto& call : calls) call.context = 0, call.foreign = false;
    });
    plainer([](Program& p) { p.interrupts = false; });
    plainer([](Program& p) { p.late = false; });
    plainer([](Program& p) { p.lanes = 1; });
    plainer([](Program& p) { p.max_in_flight = enough_places; });
    plainer([](Program& p) { p.spare_bytes = enough_bytes; });
    plainer([](Program& p) { p.blocks = true; });
    for (std::size_t c = 0; c < best_.program.clients.size(); ++c)
      for (std::size_t i = 0; i < best_.program.clients[c].size(); ++i) {
        plainer([&](Program& p) { p.clients[c][i].then = false; });
        plainer([&](Program& p) { p.clients[c][i].foreign = false; });
        plainer([&](Program& p) { p.clients[c][i].deadline = 0; });
        plainer([&](Program& p) {
          if (p.clients[c][i].kind != Kind::cancel) p.clients[c][i].cancellation = 0;
        });
      }
    return smaller;
  }

  /// The same program, with choices of the schedule replaced by the first possible ones: all from
  /// some place on, and then one by one.
  bool with_a_plainer_schedule() {
    bool smaller = false;
    for (std::size_t keep = 0; keep < best_.schedule.size();
         keep += 1 + best_.schedule.size() / 40) {
      auto schedule = best_.schedule;
      schedule.resize(keep);
      if (found(best_.program, schedule)) {
        smaller = true;
        break;
      }
    }
    for (std::size_t i = 0; i < best_.schedule.size() && tries_ < most; ++i) {
      if (best_.schedule[i] == 0) continue;
      auto schedule = best_.schedule;
      schedule[i] = 0;
      smaller |= found(best_.program, schedule);
    }
    return smaller;
  }

  /// True if `program` still shows the finding, under the schedule as far as it goes, or under some
  /// others.
  bool still_found(const Program& program) {
    if (found(program, best_.schedule)) return true;
    for (std::uint64_t seed = 0; seed < 30 && tries_ < most; ++seed) {
      RandomStrategy random(seed);
      if (seen(program, random)) return true;
      PctStrategy pct(seed, 1 + seed % 4, best_.schedule.size());
      if (seen(program, pct)) return true;
    }
    return false;
  }
  bool found(const Program& program, const Schedule& schedule) {
    // An impossible pick becomes another one. After the schedule's end it is always the first.
    class Leniently final : public Strategy {
     public:
      explicit Leniently(const Schedule& schedule)
          : strategy_(0, schedule), left_(schedule.size()) {}
      std::size_t pick(std::span<const Runnable> runnables) override {
        return left_ > 0 ? --left_, strategy_.pick(runnables) : 0;
      }
      std::optional<std::size_t> interrupt(const Runnable& running,
                                           std::span<const Runnable> runnables) override {
        if (left_ == 0) return std::nullopt;
        --left_;
        return strategy_.interrupt(running, runnables);
      }

     private:
      MutatingStrategy strategy_;
      std::size_t left_;
    };
    Leniently strategy(schedule);
    return seen(program, strategy);
  }
  bool seen(const Program& program, Strategy& strategy) {
    ++tries_;
    auto result = stress::run(program, strategy, &stage_);
    if (!result.finding || gist(*result.finding) != gist_) return false;
    while (!result.schedule.empty() && result.schedule.back() == 0) result.schedule.pop_back();
    best_.what = *result.finding;
    best_.program = program;
    best_.schedule = std::move(result.schedule);
    return true;
  }

  Stage stage_;
  Finding best_;
  const std::string gist_;
  std::size_t tries_ = 0;
};

}  // namespace

Finding shrink(Finding finding) { return Shrinker(std::move(finding)).run(); }

}  // namespace polychron::stress
