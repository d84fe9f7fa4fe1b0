#include "observe/stress/run.hpp"

#include <algorithm>
#include <set>

#include "kernels/cpu/cpu_backend.hpp"
#include "observe/stress/counter_check.hpp"
#include "observe/stress/environment_clients.hpp"
#include "observe/stress/footprints.hpp"
#include "observe/stress/model.hpp"
#include "observe/stress/scattered.hpp"
#include "observe/stress/script.hpp"
#include "observe/stress/snapshot.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "observe/stress/watcher.hpp"
#include "observe/stress/world.hpp"
#include "runtime/builder_bridge.hpp"

namespace polychron::stress {

namespace {

void prepare(Footprints& footprints, const Program& program, const World& world) {
  footprints.restart(world.first_id());
  footprints.count_faults(!program.faults.empty());
  footprints.lends(program.has(Kind::lend));
}

/// A number of a call that no program has.
constexpr std::size_t after_all = 1'000'000;

/// More than the constants of a graph that is being built.
constexpr std::uint64_t room_to_build = 64;

std::shared_ptr<kernels::Backend> backend_for(const Program& program) {
  if (program.backend == Computes::real) return kernels::make_cpu_backend();
  return std::make_shared<SymbolicBackend>(16);
}

/// Bytes that the plans of g0 and g1 keep.
std::uint64_t plan_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  const auto backend = backend_for(program);
  for (std::size_t i = 0; i < 2; ++i)
    bytes += backend->compile(graph_for(program, "g" + std::to_string(i), i + 1))
                 .value()
                 ->constant_bytes();
  return bytes;
}

/// The part of the memory limit that prepare() takes.
std::uint64_t bytes_at_first(const Program& program) {
  static const std::uint64_t symbolic = plan_bytes({.backend = Computes::symbolic}),
                             real = plan_bytes({.backend = Computes::real}) + room_to_build;
  return program.tensors * sizeof(std::uint64_t) +
         (program.backend == Computes::real ? real : symbolic);
}

unsigned latest_deadline(const Program& program) {
  unsigned latest = 0;
  for (const auto& client : program.clients)
    for (const auto& call : client) latest = std::max(latest, call.deadline);
  return latest;
}

/// The number of tensors that the calls name.
std::size_t tensors_of(const Program& program) {
  std::size_t count = program.tensors;
  for (const auto& client : program.clients)
    for (const auto& call : client) {
      count = std::max(count, call.tensor + 1);
      for (const auto input : call.inputs) count = std::max(count, input + 1);
    }
  return count;
}

void prepare(Subject& subject, World& world, std::size_t slots) {
  const auto& program = subject.program;
  ContextOptions options;
  options.lanes = program.lanes;
  options.max_in_flight = program.max_in_flight;
  if (program.few_bytes()) options.memory_limit = bytes_at_first(program) + program.spare_bytes;
  options.admission = program.blocks ? AdmissionPolicy::block : AdmissionPolicy::fail;
  subject.memory_limit = options.memory_limit;
  subject.context = world.settle(world.runtime().create_context(options)).value();
  subject.environment = environment_of(subject.context);
  for (std::size_t i = 0; i < 2; ++i)
    subject.graphs.push_back(
        world
            .settle(detail::submit_build(subject.context,
                                         graph_for(program, "g" + std::to_string(i), i + 1),
                                         {"g" + std::to_string(i)}))
            .value());
  subject.slots.resize(slots);
  for (std::size_t i = 0; i < program.tensors; ++i)
    subject.slots[i].tensor = world.settle(subject.context.create_tensor(value_descriptor)).value();
  subject.lost = subject.context.lost();
  subject.context.on_uncaptured_error(
      [&subject](const Error& e) { subject.history.uncaptured.push_back(e); });
  world.run();
}

/// Closes the scopes that are still open, and notes what they have heard.
void close_scopes(Subject& subject, World& world) {
  while (!subject.context.lost().ready()) {
    auto popped = subject.context.pop_error_scope();
    world.run();
    if (!popped.ready()) return;
    const auto found = popped.take();
    if (!found) return;
    if (found.value()) subject.history.left.push_back(*found.value());
  }
}

/// Checks what is left.
std::optional<std::string> check_quiescence(const Subject& subject, Phase phase) {
  return check(quiescent_state_of(subject, phase));
}

/// Checks the counters of a context that lives.
std::optional<std::string> check_stats(const Subject& subject) {
  const auto stats = subject.context.stats();
  if (stats.peak_bytes > subject.memory_limit)
    return std::to_string(stats.peak_bytes) + " bytes were taken, of " +
           std::to_string(subject.memory_limit);
  if (stats.peak_in_flight > subject.program.max_in_flight)
    return std::to_string(stats.peak_in_flight) + " operations were in flight, of " +
           std::to_string(subject.program.max_in_flight);
  if (subject.context.lost().ready()) return std::nullopt;
  return check_counters(subject.program, subject.history, stats);
}

/// Checks that all who asked for the loss of a context were told the same, at the beginning and at
/// the end. Unless it was `lost_before`, the context lived until the last call destroyed it.
std::optional<std::string> check_loss(Subject& subject, bool lost_before) {
  if (!subject.lost.ready()) return "the context is gone, but its lost() did not resolve";
  const auto early = subject.lost.take().value(), late = subject.context.lost().take().value();
  if (early.reason != late.reason || early.message != late.message)
    return "the context was lost twice: " + early.message + "; " + late.message;
  if (!lost_before && early.reason != LostReason::destroyed)
    return "the context was destroyed, and told: " + early.message;
  return std::nullopt;
}

/// Destroys everything, and checks what is left.
std::optional<std::string> end(Subject& subject, World& world) {
  for (auto& slot : subject.slots) slot.tensor.reset();
  subject.graphs.clear();
  world.run();
  if (auto wrong = check_quiescence(subject, Phase::destroyed)) return wrong;
  const bool lost_before = subject.context.lost().ready();
  subject.context.destroy();
  world.run();
  if (auto wrong = check_loss(subject, lost_before)) return wrong;
  auto state = quiescent_state_of(subject, Phase::ended);
  subject.context = {};
  world.run();
  // Some objects of other contexts stay.
  if (&subject == subject.run_state->subjects.back().get())
    for (const auto& remaining : world.registry().present())
      state.actors.push_back(remaining.actor);
  return check(state);
}

/// True if every pending operation is a lease.
bool nothing_but_leases(Future<std::vector<PendingOperation>> pending) {
  const auto list = pending.take();
  return list && std::ranges::all_of(list.value(), [](const auto& operation) {
           return operation.waits_for == "the end of the lease";
         });
}

/// Lets the clients make all calls.
void make_calls(std::deque<Script>& scripts, RunState& run_state, const Program& program,
                Footprints* footprints) {
  auto& world = *run_state.world;
  ClockClient hand(world, latest_deadline(program) + 1);
  std::vector<Client*> clients;
  for (auto& script : scripts) clients.push_back(&script);
  if (latest_deadline(program) > 0) clients.push_back(&hand);
  world.set_clients(clients, (program.blocks && program.few_places()) || program.few_bytes());
  world.allow_interrupts(program.interrupts);
  const auto go_on = [&] {
    while (world.step())
      for (const auto& subject : run_state.subjects) subject->collect(false);
  };
  if (footprints != nullptr) footprints->record(true);
  go_on();
  if (footprints != nullptr) footprints->record(false);
  // A client that waits for an object which nobody makes skips the call.
  for (auto& script : scripts)
    while (!script.done()) {
      script.skip();
      go_on();
    }
  world.allow_interrupts(false);
  world.set_clients({});
}

/// Checks what is left of a context, if it has nothing to do but wait for leases.
std::optional<std::string> without_work(Subject& subject, World& world) {
  const bool all_answered =
      std::ranges::all_of(subject.replies,
                          [](const auto& r) { return !r.reply || r.reply->ready(); }) &&
      std::ranges::all_of(subject.lents,
                          [](const auto& l) { return !l.future || l.future->ready(); });
  auto pending = subject.context.pending();
  world.run();
  const bool idle = all_answered && pending.ready() && nothing_but_leases(std::move(pending));
  return idle ? check_quiescence(subject, Phase::lent) : std::nullopt;
}

/// Gives back the leases that are still out, one after the other, since another may wait for each.
/// Returns whether there were some.
bool give_back(Subject& subject, World& world) {
  bool some = false;
  // Callbacks may make further leases.
  for (std::size_t i = 0; i < subject.lents.size(); ++i) {
    auto& lent = subject.lents[i];
    if (lent.future && lent.future->ready()) {
      CallExecutor::settle(subject, lent);
      world.run();
    }
    if (!lent.lease) continue;
    if (!lent.ended) {
      if (lent.lease->bytes().empty())
        subject.history.broken = label_of(lent.client, subject.history.calls[lent.made].index) +
                                 " has lost its memory, and its holder has not let go";
      if (*lent.told != lent.lease->revoked())
        subject.history.broken = label_of(lent.client, subject.history.calls[lent.made].index) +
                                 " was " + (lent.lease->revoked() ? "" : "not ") +
                                 "revoked, and its holder heard of it " +
                                 std::to_string(*lent.told) + " times";
      // The return is a call like others: its results may make callbacks call.
      Made made;
      made.client = lent.client, made.index = after_all + lent.made;
      made.call = {.kind = Kind::give_back, .tensor = lent.tensor};
      made.submitted = true, made.lent = lent.made;
      subject.history.calls[lent.made].revoked = lent.lease->revoked();
      subject.history.calls.push_back(made);
    }
    lent.lease.reset();
    some = true;
    world.run();
  }
  return some;
}

/// Checks that the results of a context's calls are right, and that it is at rest.
std::optional<std::string> judge(Subject& subject, World& world) {
  subject.collect(true);
  close_scopes(subject, world);
  if (subject.history.broken) return subject.history.broken;
  if (subject.checks->broken) return subject.checks->broken;
  if (auto wrong = check(subject.program, subject.history)) return wrong;
  if (auto wrong = check_quiescence(subject, Phase::answered)) return wrong;
  return check_stats(subject);
}

/// Makes all calls, and returns the first error.
std::optional<std::string> carry_out(RunState& run_state, const Program& program,
                                     Footprints* footprints) {
  auto& world = *run_state.world;
  std::deque<Script> scripts;
  for (std::size_t i = 0; i < program.clients.size(); ++i)
    scripts.emplace_back(run_state, i, program.clients[i]);
  run_state.callers = scripts.size();
  make_calls(scripts, run_state, program, footprints);
  for (const auto& subject : run_state.subjects)
    if (auto wrong = without_work(*subject, world)) return wrong;
  for (bool more = true; more;) {
    more = false;
    for (const auto& subject : run_state.subjects) more |= give_back(*subject, world);
  }
  if (world.exhausted()) return "it goes on for ever";
  for (const auto& subject : run_state.subjects)
    if (auto wrong = judge(*subject, world)) return wrong;
  for (const auto& subject : run_state.subjects) {
    subject->lents.clear();
    subject->replies.clear();
    if (auto wrong = end(*subject, world)) return wrong;
    if (subject->checks->broken) return subject->checks->broken;
  }
  return std::nullopt;
}

std::shared_ptr<Subject> open(RunState& run_state, const Program& program, std::size_t context,
                              Footprints* footprints) {
  const auto subject = std::make_shared<Subject>();
  subject->run_state = &run_state;
  subject->program = part_of(program, context);
  subject->footprints = footprints;
  return subject;
}

/// Parts the watcher and the subject: the watcher has the subject, and the context has the watcher.
void close(Subject& subject) {
  subject.lents.clear();
  subject.replies.clear();
  subject.slots.clear();
  subject.graphs.clear();
  subject.context = {};
  subject.lost = {};
  subject.environment = nullptr;
  subject.checks->between = nullptr;
}

/// Closes a run_state's subjects before their world goes, even after an exception.
class AtLast {
 public:
  explicit AtLast(RunState& run_state) : run_state_(run_state) {}
  AtLast(const AtLast&) = delete;
  AtLast& operator=(const AtLast&) = delete;
  ~AtLast() {
    for (const auto& subject : run_state_.subjects) close(*subject);
  }

 private:
  RunState& run_state_;
};

}  // namespace

RunResult run(const Program& program, Strategy& strategy, Stage* stage, RunRecording* recording) {
  RunResult result;
  RunState run_state;
  std::deque<DeviceClient> devices;
  const auto backend = [&](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
    const auto& subject = *run_state.subjects.back();
    std::shared_ptr<kernels::Backend> made =
        std::make_shared<FaultBackend>(backend_for(program), subject.faults);
    if (program.late) {
      auto late = std::make_shared<LateBackend>(std::move(made));
      for (std::size_t nth = 0; nth < static_cast<std::size_t>(program.lanes); ++nth)
        devices.emplace_back(late, nth);
      made = std::move(late);
    }
    return std::shared_ptr<kernels::Backend>(
        std::make_shared<CheckedBackend>(std::move(made), subject.checks));
  };
  World world(strategy, backend, stage);
  const AtLast at_last(run_state);
  if (program.lanes > 1) world.place(scattered(static_cast<std::uint32_t>(program.lanes)));
  run_state.world = &world;
  run_state.recording = recording;
  auto* const footprints = strategy.footprints();
  if (footprints != nullptr) prepare(*footprints, program, world);
  try {
    for (std::size_t i = 0; i < program.contexts; ++i) {
      const auto& subject =
          run_state.subjects.emplace_back(open(run_state, program, i, footprints));
      world.observe(std::make_shared<Watcher>(subject));
      prepare(*subject, world, tensors_of(program));
    }
    std::vector<Client*> at_work;
    for (auto& device : devices) at_work.push_back(&device);
    world.set_devices(at_work);
    for (const auto& subject : run_state.subjects) {
      subject->checks->between = [&world] { world.interrupt(); };
      for (const auto& fault : subject->program.faults)
        subject->faults->fail(
            fault.point, fault.nth,
            {.kind = fault.kind, .inherent = fault.inherent, .throws = fault.throws});
    }
    result.finding = carry_out(run_state, program, footprints);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_data) throw;  // the schedule is of another world
    result.finding = error.what();
  } catch (const std::logic_error& nobody_answers) {
    result.finding = nobody_answers.what();
  }
  result.schedule = world.schedule();
  std::set<MessagePair> pairs;
  for (const auto& subject : run_state.subjects) {
    pairs.insert(subject->pairs.begin(), subject->pairs.end());
    result.states.insert(result.states.end(), subject->states.begin(), subject->states.end());
    result.messages += subject->messages;
    result.histories.push_back(std::move(subject->history));
  }
  result.pairs.assign(pairs.begin(), pairs.end());
  return result;
}

}  // namespace polychron::stress
