// polychron::stress, for embedders: their clients on a World, under strategies.
#include <deque>

#include "observe/stress/checked_backend.hpp"
#include "observe/stress/fault_backend.hpp"
#include "observe/stress/relay.hpp"
#include "observe/stress/run_recording.hpp"
#include "observe/stress/strategies.hpp"
#include "observe/stress/world.hpp"
#include "polychron/stress.hpp"

namespace polychron::stress {

namespace {

/// Lets other steps run between the sends of a client or an actor. An embedder's handle may outlive
/// the world and send its own end then.
class Between final : public Relay {
 public:
  Between(std::shared_ptr<World*> world, std::shared_ptr<msg::Observer> recording)
      : Relay(std::move(recording)), world_(std::move(world)) {}
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    Relay::sent(from, to, message);
    if (*world_ != nullptr) (*world_)->interrupt();
  }

 private:
  const std::shared_ptr<World*> world_;  ///< holds null when the world is gone
};

/// The scenario did not fail: the schedule belongs to another one.
bool is_another_worlds(const std::exception& error) {
  const auto* const typed = dynamic_cast<const Error*>(&error);
  return typed != nullptr && typed->kind() == ErrorKind::bad_data &&
         typed->message().starts_with("this schedule is another world's");
}

}  // namespace

struct Simulation::State {
  class Steps final : public Client {
   public:
    Steps(State& state, std::string name, std::vector<std::function<void()>> steps)
        : state_(state), name_(std::move(name)), steps_(std::move(steps)) {}
    bool ready() const override { return at_ < steps_.size() && !state_.failed; }
    void step() override {
      const auto& step = steps_[at_++];
      const auto what = name_ + ", step " + std::to_string(at_);
      auto& around = state_.under_way;
      state_.trace.push_back(what);
      if (!around.empty()) state_.trace.back() += " (in the middle of " + around.back() + ")";
      around.push_back(what);
      try {
        step();
      } catch (const std::exception& error) {
        state_.fail(what + ": " + error.what(), is_another_worlds(error));
      } catch (...) {
        state_.fail(what + " threw something that is not a std::exception", false);
      }
      around.pop_back();
    }

   private:
    State& state_;
    const std::string name_;
    const std::vector<std::function<void()>> steps_;
    std::size_t at_ = 0;
  };

  /// `recording`: null without a recording.
  State(Strategy& strategy, bool may_nest, RunRecording* recording)
      : world(strategy,
              [this](const ContextOptions& options) -> Result<std::shared_ptr<kernels::Backend>> {
                auto backend = detail::make_backend(options);
                if (!backend) return backend;
                return std::shared_ptr<kernels::Backend>(std::make_shared<CheckedBackend>(
                    std::make_shared<FaultBackend>(std::move(backend).value(), faults), checks));
              }),
        nested(may_nest) {
    world.observe([this, recording](const ContextOptions& options) {
      return std::make_shared<Between>(
          here,
          recording == nullptr ? nullptr : recording->observer_for(options.label, options.lanes));
    });
    world.allow_interrupts(true);
    world.spare_actors(true);
    checks->between = [this] { world.interrupt(); };
  }
  ~State() {
    checks->between = nullptr;
    *here = nullptr;
  }

  void fail(const std::string& what, bool of_another_world) {
    if (!failed) failed = what;
    strange |= of_another_world;
  }

  std::shared_ptr<Checks> checks = std::make_shared<Checks>();
  std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>();
  World world;
  std::shared_ptr<World*> here = std::make_shared<World*>(&world);
  const bool nested;
  std::deque<Steps> clients;
  std::vector<std::string> trace;
  std::vector<std::string> under_way;  ///< steps, the innermost last
  std::optional<std::string> failed;   ///< the first exception of a client
  bool strange = false;                ///< the schedule is of another scenario
};

Runtime& Simulation::runtime() { return state_.world.runtime(); }

Context Simulation::create_context(const ContextOptions& options) {
  return runtime().create_context(options).get();
}

void Simulation::client(std::string name, std::vector<std::function<void()>> steps) {
  state_.clients.emplace_back(state_, std::move(name), std::move(steps));
  std::vector<Client*> clients;
  for (auto& each : state_.clients) clients.push_back(&each);
  state_.world.set_clients(std::move(clients), !state_.nested);
}

void Simulation::run() {
  state_.world.run();
  if (state_.failed) throw std::runtime_error(*state_.failed);
}

std::chrono::steady_clock::time_point Simulation::now() const { return state_.world.now(); }

void Simulation::advance(std::chrono::milliseconds by) { state_.world.advance(by); }

void Simulation::fail_kernel(std::uint64_t nth, ErrorKind kind) {
  state_.faults->fail(FaultPoint::execute, nth, {.kind = kind});
}

namespace {

struct Run {
  std::optional<std::string> what;
  std::vector<std::string> steps;
  Schedule schedule;
};

/// Checks the world when the scenario has returned and released everything.
std::optional<std::string> look(Simulation::State& state) {
  state.world.set_clients({});
  state.clients.clear();  // releases what they hold, too
  state.world.run();
  if (state.failed) return state.failed;
  if (state.world.exhausted()) return "it goes on for ever";
  if (state.checks->broken) return state.checks->broken;
  if (state.world.callback_exceptions() != 0) return "a callback threw";
  for (const auto& remaining : state.world.registry().present())
    return remaining.actor + " stays: does something outlive the scenario?";
  return std::nullopt;
}

Run run(const Scenario& scenario, Strategy& strategy, bool nested,
        RunRecording* recording = nullptr) {
  Run result;
  Simulation::State state(strategy, nested, recording);
  Simulation simulation(state);
  try {
    scenario(simulation);
  } catch (const std::exception& error) {
    result.what = state.failed.value_or(error.what());
    state.strange |= is_another_worlds(error);
  }
  if (const auto seen = look(state); seen && !result.what) result.what = seen;
  if (state.strange)
    throw Error(ErrorKind::bad_data, "the scenario is not the one that this token was made with");
  result.steps = std::move(state.trace);
  result.schedule = state.world.schedule();
  return result;
}

std::unique_ptr<Strategy> strategy_of(const std::string& name, std::uint64_t seed,
                                      std::size_t steps) {
  if (name == "random") return std::make_unique<RandomStrategy>(seed);
  if (name == "pct") return std::make_unique<PctStrategy>(seed, 1 + seed % 4, steps);
  if (name == "pos") return std::make_unique<PosStrategy>(seed);
  if (name == "round-robin") return std::make_unique<RoundRobinStrategy>();
  throw Error(ErrorKind::type_error, "there is no strategy '" + name + "'");
}

/// The token also says whether the search was `nested`.
std::string token_of(const Schedule& schedule, bool nested) {
  return (nested ? "s" : "t") + to_string(schedule);
}

/// Finds the shortest part of the schedule that shows the same finding if always the first goes on
/// after it.
Run shortened(const Scenario& scenario, Run found, bool nested) {
  const auto whole = found.schedule;
  for (std::size_t keep = 0; keep < whole.size(); keep += 1 + whole.size() / 100) {
    Schedule part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(keep));
    ReplayStrategy strategy(part);
    auto again = run(scenario, strategy, nested);
    if (again.what != found.what) continue;
    again.schedule = std::move(part);
    return again;
  }
  return found;
}

}  // namespace

SearchReport search(const Scenario& scenario, const SearchOptions& options) {
  constexpr std::array in_turn{"random", "pct", "pos"};
  SearchReport report;
  std::size_t steps = 40;
  while (report.schedules < options.schedules) {
    const auto seed = options.seed + report.schedules++;
    const bool mixed = options.strategy == "mixed";
    const auto strategy =
        strategy_of(mixed ? in_turn[seed % in_turn.size()] : options.strategy, seed, steps);
    auto found = run(scenario, *strategy, options.nested);
    steps = found.schedule.size();
    if (!found.what) continue;
    found = shortened(scenario, std::move(found), options.nested);
    const auto token = token_of(found.schedule, options.nested);
    report.finding = replay(scenario, token);
    if (!report.finding || report.finding->what != *found.what)
      report.finding = SearchFinding{*found.what, std::move(found.steps), 1, token, {}};
    report.finding->schedules = report.schedules;
    break;
  }
  return report;
}

std::optional<SearchFinding> replay(const Scenario& scenario, const std::string& token) {
  if (token.empty() || (token.front() != 's' && token.front() != 't'))
    throw Error(ErrorKind::bad_data, "this is not a replay token");
  ReplayStrategy strategy(schedule_from_string(token.substr(1)));
  RunRecording recording;
  auto found = run(scenario, strategy, token.front() == 's', &recording);
  if (!found.what) return std::nullopt;
  return SearchFinding{*found.what, std::move(found.steps), 1, token, recording.file()};
}

}  // namespace polychron::stress
