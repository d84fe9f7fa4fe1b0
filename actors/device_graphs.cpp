// The device actor's operations on graphs.
#include <boost/container/small_vector.hpp>

#include "actors/device.hpp"
#include "kernels/guarded.hpp"
#include "messages/reserve.hpp"

namespace polychron::actors {

using kernels::guarded;
using msg::count;

namespace {

/// An error that already names an operation, such as an operator, becomes the cause.
Error failure(const char* operation, const std::string& label, msg::Ticket ticket,
              const Error& error) {
  if (error.operation().empty()) return error.with_operation(operation, label, ticket);
  return Error(ErrorKind::operation_error, "")
      .with_operation(operation, label, ticket)
      .caused_by(error);
}

}  // namespace

DeviceState::Course DeviceState::carry_out(const msg::op::Load& o, msg::Ticket ticket) {
  auto& slot = *o.graph;
  if (slot.invalid.get() != nullptr) {  // its early build was refused
    leave();
    return Course::over;
  }
  ensure(slot.plan != nullptr, "a graph is loaded with its plan");
  auto reservation =
      guarded([&] { return msg::reserve_constants(environment().budget, *slot.plan); });
  msg::Outcome outcome = msg::Ready{};
  if (reservation) {
    // planted: a plan's constants are counted twice
    slot.constants = std::move(*reservation);
  } else {
    const auto error = reservation.error().with_operation("build", slot.label, ticket);
    // The build's future reports this, as with a failed compilation. An error scope does not: the
    // ticket is from the end of the build, when other scopes may be open than at the call.
    count(environment().counters->failed);
    // A dispatch that was called early finds no memory for its plan either.
    slot.invalid.set(error);
    outcome = msg::Errored{error};
  }
  leave();
  tell(slot.actor, msg::graph_became{ticket, std::move(outcome)});
  return Course::over;
}

std::optional<Error> DeviceState::refusal(msg::GraphSlot& graph, const msg::Conditions& conditions,
                                          const char* operation, const std::string& label,
                                          msg::Ticket ticket) const {
  const bool recorded = environment().gate.observer() != nullptr;
  const Error* const cause = recorded ? graph.invalid.look() : graph.invalid.get();
  // planted: an invalid graph runs again
  if (cause != nullptr)
    return Error(ErrorKind::graph_invalid, graph.name() + " is invalid since")
        .with_operation(operation, label, ticket)
        .caused_by(*cause)
        .not_run();
  // planted: a deadline is ignored
  if (const auto why = msg::unmet(conditions, environment().now))
    return why->with_operation(operation, label, ticket).not_run();
  return std::nullopt;
}

std::optional<Error> DeviceState::errored_input(const msg::op::Dispatch& o, msg::Ticket ticket) {
  for (std::size_t i = 0; i < o.inputs.size(); ++i) {
    const auto& slot = *o.inputs[i];
    // planted: an error does not travel
    if (!slot.tag) continue;
    const auto& input = o.graph->inputs[i].first;
    return Error(ErrorKind::operation_error,
                 "input '" + input + "' (" + slot.name() + ") errored by")
        .with_operation("dispatch", o.label, ticket)
        // planted: a failed dispatch loses its cause
        .caused_by(*slot.tag)
        .not_run();
  }
  return std::nullopt;
}

Result<std::shared_ptr<msg::SharedArena>> DeviceState::arena_for(const kernels::Plan& plan) {
  return guarded([&]() -> Result<std::shared_ptr<msg::SharedArena>> {
    auto arena = scratch().arena();
    if (auto fits = arena->fit(environment().budget, plan.arena_bytes()); !fits)
      return fits.error();
    return arena;
  });
}

Result<void> DeviceState::instantiate(msg::GraphSlot& graph) {
  return guarded([&]() -> Result<void> {
    auto& mine = graph.instances[lane_];
    kernels::InstanceOptions options{.team = environment().team(lane_)};
    msg::Reservation own;
    // Submitted executions overlap, so that each needs an arena of its own.
    if (graph.plan->shares_arena() && !environment().backend->submits()) {
      auto arena = arena_for(*graph.plan);
      if (!arena) return arena.error();
      options.arena = std::move(*arena);
    } else {
      auto arena = msg::reserve(environment().budget, graph.plan->arena_bytes());
      if (!arena) return arena.error();
      own = std::move(*arena);
    }
    auto plan = environment().backend->instantiate(graph.plan, options);
    if (!plan) return plan.error();
    mine.shares_arena = options.arena != nullptr;
    mine.plan = std::move(*plan);
    mine.arena = std::move(own);
    return {};
  });
}

Result<void> DeviceState::make_ready(msg::GraphSlot& graph) {
  const auto& mine = graph.instances[lane_];
  if (!mine.plan) return instantiate(graph);
  if (!mine.shares_arena) return {};
  const auto arena = arena_for(*graph.plan);
  return arena ? Result<void>() : arena.error();
}

namespace {

void note_duration(msg::GraphSlot::Instance& instance, msg::Clock::duration took, bool succeeded) {
  if (!succeeded && took <= msg::longest_short) return;  // it ended early
  // A single run that took longer is chance: an interrupt takes as much.
  const auto usual = std::min(took, std::exchange(instance.took, took));
  instance.duration = took > msg::longest_short   ? msg::DurationClass::unknown
                      : usual > msg::longest_tiny ? msg::DurationClass::short_
                                                  : msg::DurationClass::tiny;
}

}  // namespace

bool DeviceState::times_steps() const {
  auto* const observer = environment().gate.observer();
  return observer != nullptr && observer->wants_steps();
}

kernels::ExecuteStatus DeviceState::run(msg::GraphSlot& graph, std::span<double> seconds) {
  auto& mine = graph.instances[lane_];
  const auto held = scratch().hold();
  if (const auto made = make_ready(graph); !made) return {made.error()};
  bool inherent = false;
  auto* const observer = environment().gate.observer();
  const bool listened_to = times_steps();
  std::vector<double> for_observer;
  // The duration is from the last timed run. A run is timed while its duration is unknown, and
  // whenever a caller runs it.
  const bool timed = environment().caller_runs &&
                     (mine.duration == msg::DurationClass::unknown || engine::CallerRuns::here());
  const auto begun = timed ? msg::Clock::now() : msg::Clock::time_point();
  const auto result = guarded([&]() -> Result<void> {
    if (listened_to && seconds.empty()) {
      for_observer.resize(graph.plan->labels().size());
      seconds = for_observer;
    }
    auto& backend = *environment().backend;
    auto status = seconds.empty()
                      ? backend.execute(*mine.plan, input_storage_, output_storage_)
                      : backend.profile(*mine.plan, input_storage_, output_storage_, seconds);
    inherent = status.inherent;
    return status.result;
  });
  if (timed) note_duration(mine, msg::Clock::now() - begun, result.has_value());
  if (listened_to && result)
    observer->steps_taken(self().id(), in_hand_->stamp.ticket, graph, seconds);
  return {result, inherent};
}

Result<void> DeviceState::bind(const msg::op::Dispatch& o) {
  input_storage_.clear();
  output_storage_.clear();
  for (const auto& slot : o.inputs) {
    ensure(slot->memory.has_value(), "a tensor without an error has memory");
    input_storage_.push_back(slot->memory->storage.get());
  }
  for (const auto& slot : o.outputs) {
    if (!slot->memory) {  // lost with a revoked lease; a write does not need the old content
      auto memory = allocate(slot->bytes);
      if (!memory) return memory.error();
      slot->memory = std::move(*memory);
    }
    output_storage_.push_back(slot->memory->storage.get());
  }
  return {};
}

DeviceState::Course DeviceState::carry_out(const msg::op::Dispatch& o, msg::Ticket ticket) {
  auto& graph = *o.graph;
  if (const auto why = refusal(graph, o.conditions, "dispatch", o.label, ticket)) {
    set_tags(o.outputs, *why, ticket);
    failed(*why, ticket);
    return Course::over;
  }
  if (const auto cause = errored_input(o, ticket)) {
    set_tags(o.outputs, *cause, ticket);
    count(environment().counters->not_run);
    return Course::over;
  }
  kernels::ExecuteStatus status{bind(o)};
  if (status.result) {
    if (!environment().backend->submits() || times_steps()) {
      status = run(graph);
    } else {
      status.result = submit(o, ticket);
      if (status.result) return Course::submitted;
    }
  }
  conclude(o, status, ticket);
  return Course::over;
}

void DeviceState::conclude(const msg::op::Dispatch& o, const kernels::ExecuteStatus& status,
                           msg::Ticket ticket) {
  if (status.result) {
    // planted: a dispatch leaves the tag of its outputs
    for (const auto& output : o.outputs) clear_tag(*output, ticket);
    return completed();
  }
  const auto reason = failure("dispatch", o.label, ticket, status.result.error());
  // Before others hear of it: a recording has this operation at the time of that.
  // planted: a transient failure makes the graph invalid
  if (status.inherent) found_invalid(*o.graph, reason, ticket);
  set_tags(o.outputs, reason, ticket);
  failed(reason, ticket);
}

namespace {

/// Tells a lane that the device has finished. The message is made beforehand: to send it needs no
/// memory. A driver may hold it longer than the lane lives, so it keeps nothing of the context
/// alive once the lane has revoked itself.
class TellsLane final : public kernels::Completion {
 public:
  TellsLane(std::shared_ptr<msg::Revocable<device_actor>> lane,
            std::shared_ptr<const msg::ObserverGate> gate, const msg::executed& message)
      : lane_(std::move(lane)),
        gate_(std::move(gate)),
        letter_(caf::message_priority::high, [&] { return message; }) {}
  void notify() noexcept override {
    lane_->with([&](const device_actor& lane) { letter_.send(lane, {}, *gate_); });
  }

 private:
  const std::shared_ptr<msg::Revocable<device_actor>> lane_;
  const std::shared_ptr<const msg::ObserverGate> gate_;
  Letter<msg::executed> letter_;
};

}  // namespace

Result<void> DeviceState::submit(const msg::op::Dispatch& o, msg::Ticket ticket) {
  return guarded([&]() -> Result<void> {
    auto& instance = o.graph->instances[lane_];
    if (auto made = make_ready(*o.graph); !made) return made;
    const auto turn = in_hand_->stamp.at.turn;
    auto lane = std::make_shared<msg::Revocable<device_actor>>(lanes_[lane_]);
    auto done =
        std::make_shared<TellsLane>(lane, environment().shared_gate, msg::executed{ticket, turn});
    submitted_.push_back(
        {turn, ticket, in_hand_->operation.index(), o.graph, o.inputs, o.outputs, std::move(lane)});
    instance.busy = true;
    environment().backend->submit(*instance.plan, input_storage_, output_storage_, std::move(done));
    return {};
  });
}

void DeviceState::found_invalid(msg::GraphSlot& graph, const Error& why, msg::Ticket ticket) {
  if (graph.invalid.set(why)) tell(graph.actor, msg::graph_became{ticket, msg::Invalid{why}});
}

namespace {

/// Buffers lent to the device, which gives them back in every case.
class Adopted {
 public:
  Adopted(kernels::Backend& backend, std::size_t count) : backend_(backend) {
    adopted_.reserve(count);
  }
  Adopted(const Adopted&) = delete;
  Adopted& operator=(const Adopted&) = delete;
  ~Adopted() {
    try {
      static_cast<void>(surrender());
    } catch (const std::bad_alloc&) {  // to report the failed buffer
    }
  }
  kernels::Storage* add(Buffer& buffer, std::unique_ptr<kernels::Storage> storage) {
    adopted_.emplace_back(&buffer, std::move(storage));
    return adopted_.back().second.get();
  }
  Result<void> surrender() {
    Result<void> result;
    while (!adopted_.empty()) {
      auto& [buffer, storage] = adopted_.back();
      auto back = backend_.surrender(std::move(storage));
      if (back)
        // planted: an input that a compute was lent stays away
        *buffer = std::move(*back);
      else
        result = back.error();
      adopted_.pop_back();
    }
    return result;
  }

 private:
  kernels::Backend& backend_;
  /// Few buffers in each run: no allocation.
  boost::container::small_vector<std::pair<Buffer*, std::unique_ptr<kernels::Storage>>, 8> adopted_;
};

}  // namespace

Result<void> DeviceState::run_batch(msg::GraphSlot& graph, msg::BatchReply& batch, bool& inherent) {
  auto& backend = *environment().backend;
  Adopted adopted(backend, batch.inputs.size() + batch.outputs.size());
  const auto adopt = [&](std::vector<Buffer>& buffers,
                         std::vector<kernels::Storage*>& bound) -> Result<void> {
    bound.clear();
    for (auto& buffer : buffers) {
      auto storage = backend.adopt(std::move(buffer));
      if (!storage) return storage.error();
      bound.push_back(adopted.add(buffer, std::move(*storage)));
    }
    return {};
  };
  auto result = guarded([&]() -> Result<void> {
    auto ready = adopt(batch.inputs, input_storage_);
    if (ready) ready = adopt(batch.outputs, output_storage_);
    if (!ready) return ready;
    const auto status = run(graph, batch.seconds);
    inherent = status.inherent;
    return status.result;
  });
  if (auto home = adopted.surrender(); !home) return home;
  return result;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Compute& o, msg::Ticket ticket) {
  auto& graph = *o.graph;
  if (!o.batch->claim()) return Course::over;  // already answered: the context is ending
  auto& batch = o.batch->content;
  batch.error = refusal(graph, o.conditions, "compute", o.label, ticket);
  if (!batch.error) {
    bool inherent = false;
    const auto result = run_batch(graph, batch, inherent);
    if (!result) batch.error = failure("compute", o.label, ticket, result.error());
    if (inherent) found_invalid(graph, *batch.error, ticket);
  }
  if (batch.error)
    failed(*batch.error, ticket);
  else
    completed();
  if (auto* const observer = environment().gate.observer())
    observer->answers(self().id(), ticket, batch.error, batch.outputs);
  give_back(*o.batch);
  tell(graph.actor, msg::graph_answered{ticket});
  return Course::over;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Unload& o, msg::Ticket ticket) {
  auto& slot = *o.graph;
  // planted: an instance's arena is not given back
  for (auto& instance : slot.instances) instance = {};
  slot.plan.reset();
  slot.constants = {};
  tell(std::exchange(slot.actor, nullptr), msg::graph_became{ticket, msg::Released{}});
  return Course::over;
}

}  // namespace polychron::actors
