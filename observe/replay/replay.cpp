#include "observe/replay/replay.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>

#include "kernels/cpu/cpu_backend.hpp"
#include "observe/replay/caller.hpp"
#include "observe/replay/order.hpp"
#include "observe/replay/transcript.hpp"
#include "observe/stress/checked_backend.hpp"
#include "observe/stress/run_recording.hpp"
#include "observe/trace/check.hpp"
#include "runtime/handles.hpp"

namespace polychron::replay {

namespace {

/// Where a script is run: once.
class Theatre {
 public:
  Theatre(const Script& script, stress::Strategy& strategy, Progress* progress)
      : script_(script),
        recording_(script.contents ? TraceCalls::payloads : TraceCalls::sizes),
        world_(strategy, [this](const ContextOptions&) { return backend(); }),
        stage_{script, {}, {}} {
    // A call leads to some ten messages, and waits for others to some more.
    world_.set_most_steps(100'000 + 1'000 * script.calls.size());
    for (std::size_t i = 0; i < script.contexts.size(); ++i) open(i, progress);
    world_.run();
  }
  ~Theatre() { end(); }

  stress::World& world() { return world_; }
  Stage& stage() { return stage_; }
  const stress::RunRecording& recording() const { return recording_; }
  std::vector<const Listener*> listeners() const {
    std::vector<const Listener*> all;
    for (const auto& site : stage_.sites) all.push_back(site.listener.get());
    return all;
  }
  /// Says what lanes did with storage that they must not.
  std::optional<std::string> broken() const {
    for (const auto& checks : checks_)
      if (checks->broken) return checks->broken;
    return std::nullopt;
  }
  /// Ends all contexts. Returns the actors that are left then, if any.
  std::vector<std::string> end() {
    stage_.answers.clear();
    stage_.sites.clear();
    contexts_.clear();
    world_.run();
    std::vector<std::string> left;
    for (const auto& remaining : world_.registry().present()) left.push_back(remaining.actor);
    return left;
  }

 private:
  void open(std::size_t number, Progress* progress) {
    const auto& context = script_.contexts[number];
    at_ = std::make_shared<AtWork>();
    const auto lanes = static_cast<int>(context.lanes);
    const auto listener = std::make_shared<Listener>(script_, number, at_, progress,
                                                     recording_.observer_for(context.label, lanes));
    world_.observe(listener);
    if (progress != nullptr)
      world_.place([&context](msg::Ticket ticket) {
        const auto known = context.placement.find(ticket);
        return known == context.placement.end() ? nullptr : &known->second;
      });
    ContextOptions options;
    options.label = context.label;
    options.lanes = lanes;
    // Room for everything except what had none in the recording (backend.cpp).
    options.memory_limit = std::numeric_limits<std::uint64_t>::max() - 1;
    contexts_.push_back(world_.settle(world_.runtime().create_context(options)).value());
    stage_.sites.push_back({detail::ContextHandle::of(contexts_.back())->port, listener, {}});
  }
  Result<std::shared_ptr<kernels::Backend>> backend() {
    auto real = script_.contents ? kernels::make_cpu_backend() : nullptr;
    checks_.push_back(std::make_shared<stress::Checks>());
    return std::shared_ptr<kernels::Backend>(std::make_shared<stress::CheckedBackend>(
        make_backend(at_, std::move(real)), checks_.back()));
  }

  const Script& script_;
  stress::RunRecording recording_;
  std::shared_ptr<AtWork> at_;
  std::vector<std::shared_ptr<stress::Checks>> checks_;
  stress::World world_;
  Stage stage_;
  std::vector<polychron::Context> contexts_;
};

}  // namespace

Replayed replay(std::span<const std::byte> recording) {
  const auto part = whole_part(trace::join(recording));
  const auto script = script_of(part.joined);
  RecordedOrder order(script);
  Replayed result;
  {
    Theatre theatre(script, order, &order);
    std::vector<std::size_t> in_order;
    for (const auto& turn : script.order)
      if (turn.kind == Turn::Kind::call) in_order.push_back(turn.call);
    Caller caller(theatre.stage(), in_order, false);
    theatre.world().set_clients({&caller});
    order.run(theatre.world(), theatre.listeners());
    theatre.world().set_clients({});
    result.recording = theatre.recording().file();
    if (theatre.world().exhausted())
      result.differences.push_back("the replay went on for ever, and was ended");
  }
  const auto recorded = transcript_of(part);
  auto found = differences(recorded, transcript_of(trace::read_records(result.recording)));
  std::ranges::move(found, std::back_inserter(result.differences));
  result.contexts = script.contexts.size();
  result.left_out = part.left_out;
  result.calls = script.calls.size();
  result.contents = script.contents;
  for (const auto& context : recorded)
    for (const auto& [ticket, entry] : context) {
      const bool answered_with_error = !entry.answer.empty() && entry.answer != "bytes";
      result.operations += entry.carried_out;
      result.values += entry.answer == "bytes";
      result.errors +=
          answered_with_error || std::ranges::any_of(entry.told, [](const std::string& told) {
            return told.find(": ") != std::string::npos;
          });
    }
  return result;
}

namespace {

/// One schedule of them all; what is wrong with it.
std::optional<std::string> run_once(const Script& script, std::uint64_t seed,
                                    std::vector<std::byte>& recording) {
  stress::RandomStrategy strategy(seed);
  Theatre theatre(script, strategy, nullptr);
  std::map<std::uint64_t, std::vector<std::size_t>> threads;
  for (std::size_t i = 0; i < script.calls.size(); ++i)
    threads[script.calls[i].thread].push_back(i);
  std::deque<Caller> callers;
  std::vector<stress::Client*> clients;
  for (auto& [thread, calls] : threads)
    clients.push_back(&callers.emplace_back(theatre.stage(), std::move(calls), true));
  theatre.world().set_clients(clients);
  theatre.world().run();
  theatre.world().set_clients({});
  theatre.stage().end_leases();
  theatre.world().run();
  if (theatre.world().exhausted()) return "it goes on for ever";
  recording = theatre.recording().file();
  if (auto broken = theatre.broken()) return broken;
  for (const auto& [call, answered] : theatre.stage().answers)
    if (!answered()) return "call " + std::to_string(call + 1) + " was never answered";
  if (!std::ranges::all_of(callers, &Caller::done))
    return "a call could not be made: what it needs was never there";
  const auto left = theatre.end();
  if (!left.empty()) return left.front() + " stayed behind";
  if (auto broken = theatre.broken()) return broken;
  const auto verdict = trace::check(trace::join(recording));
  if (!verdict.broken.empty()) return verdict.broken.front();
  return std::nullopt;
}

}  // namespace

Varied vary(std::span<const std::byte> recording, const Variation& variation,
            const std::function<bool(std::uint64_t)>& go_on) {
  const auto part = whole_part(trace::join(recording));
  const auto script = script_of(part.joined);
  Varied result;
  while (result.schedules < variation.schedules) {
    const auto seed = variation.seed + result.schedules;
    ++result.schedules;
    if (auto wrong = run_once(script, seed, result.recording)) {
      result.finding = std::move(wrong);
      result.seed = seed;
      break;
    }
    if (go_on && !go_on(result.schedules)) break;
  }
  return result;
}

}  // namespace polychron::replay
