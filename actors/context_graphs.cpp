// The context actor: calls on graphs, questions, and the end.
#include "actors/compiler.hpp"
#include "actors/context.hpp"
#include "actors/device.hpp"
#include "actors/graph.hpp"
#include "actors/reply_of.hpp"

namespace polychron::actors {

std::optional<Error> ContextState::resolve(const msg::TensorIds& ids, msg::Tensors& slots,
                                           LaneOrder::Touched& uses) {
  std::optional<Error> problem;
  for (const auto id : ids) {
    auto found = find_tensor(id);
    if (found) {
      slots.push_back((*found)->slot);
      uses.push_back(&(*found)->uses);
    } else if (!problem) {
      problem = found.error();
    }
  }
  return problem;
}

void ContextState::call(msg::Dispatch& c, msg::LocalPart& local) {
  msg::Tensors inputs, outputs;
  LaneOrder::Touched reads, writes;
  // Resolve both sides even after an error, so that existing outputs can carry it.
  auto problem = resolve(c.inputs, inputs, reads);
  if (auto other = resolve(c.outputs, outputs, writes); !problem) problem = std::move(other);
  const auto graph = graphs_.find(c.graph);
  if (graph == graphs_.end())
    problem = Error(ErrorKind::invalid_state, "the graph is destroyed");
  else
    reads.push_back(&graph->second.uses);

  if (!problem) {
    issue<msg::op::Dispatch>(order_->stamp<msg::op::Dispatch>(reads, writes),
                             std::move(local.permit), graph->second.slot, std::move(inputs),
                             std::move(outputs), std::move(c.label),
                             msg::Conditions{c.deadline, std::move(local.cancellation)});
    return;
  }
  // Another thread has destroyed a tensor since the caller checked, or one is on lease in
  // LeaseMode::fail. The outputs become errored, as they lack the content that readers expect; a
  // leased output stays as it is, for its holder.
  auto stamp = order_->stamp<msg::op::Fail>({}, writes);
  const auto refused = problem->with_operation("dispatch", c.label, stamp.ticket).not_run();
  // planted: a refused dispatch leaves its outputs as they are
  issue<msg::op::Fail>(std::move(stamp), std::move(local.permit), std::move(outputs), refused);
}

void ContextState::call(msg::Compute& c, msg::LocalPart& local) {
  auto& batch = reply_of<msg::BatchRef>(local);
  const auto graph = graphs_.find(c.graph);
  if (graph == graphs_.end()) {
    local.permit.give_back();
    if (batch->claim())
      batch->answer(Error(ErrorKind::invalid_state, "the graph is destroyed")
                        .with_operation("compute", c.label));
    return;
  }
  auto& entry = graph->second;
  auto stamp = order_->stamp_read<msg::op::Compute>(entry.uses);
  tell(entry.actor, msg::expect_of_graph{stamp.ticket, batch});
  issue<msg::op::Compute>(std::move(stamp), std::move(local.permit), entry.slot, std::move(batch),
                          std::move(c.label),
                          msg::Conditions{c.deadline, std::move(local.cancellation)});
}

void ContextState::call(msg::Build& c, msg::LocalPart& local) {
  ensure(!graphs_.contains(c.graph), "a graph's number is given once");
  builds_.push_back(
      {std::move(c), std::move(reply_of<msg::BuildReply>(local)), std::move(local.permit)});
  if (builds_.size() == 1) compile_next();
}

void ContextState::compile_next() {
  // The first stays in the queue, empty, while it is compiled.
  tell(device_actors_.compiler, std::move(builds_.front()));
}

namespace {

/// "graph 'x' compiled: 12 steps, 1.5 MiB of constants, 64 KiB of scratch memory a lane".
std::string describe_compiled(const msg::GraphSlot& slot) {
  return describe_object("graph", slot.label, slot.id) +
         " compiled: " + std::to_string(slot.plan->describe().size()) + " steps, " +
         describe_bytes(slot.plan->constant_bytes()) + " of constants, " +
         describe_bytes(slot.plan->arena_bytes()) + " of scratch memory a lane";
}

}  // namespace

void ContextState::receive(msg::compiled& m) {
  if (environment().find_lost()) return;
  ensure(!builds_.empty(), "what was compiled was asked for");
  builds_.pop_front();
  if (!builds_.empty()) compile_next();
  const auto& description = *m.call.description;
  const auto& reply = m.reply.reply;
  m.reply.description_bytes.reset();  // the plan has its own reservation
  if (!m.plan) {
    m.permit.give_back();
    // planted: who builds is not told of the refusal
    reply.reject(m.plan.error().with_operation("build", description.label));
    return;
  }
  const auto id = m.call.graph;
  ensure(!graphs_.contains(id), "a graph is compiled once");
  const auto slot = std::make_shared<msg::GraphSlot>();
  slot->id = id;
  slot->label = description.label;
  for (const auto& [input, value] : description.inputs)
    slot->inputs.emplace_back(input, description.values[value].descriptor);
  for (const auto& [output, value] : description.outputs)
    slot->outputs.emplace_back(output, description.values[value].descriptor);
  slot->plan = std::move(*m.plan);
  slot->instances.resize(device_actors_.lanes.size());
  msg::Built built{
      slot->inputs,
      slot->outputs,
      slot->plan->describe(),
      slot->plan->labels(),
      {slot->plan->constant_bytes(), slot->plan->arena_bytes(), device_actors_.lanes.size()}};
  slot->actor = spawn<GraphState>(id, std::move(built), reply);
  auto& entry =
      graphs_.emplace(id, GraphEntry{slot->actor, slot, {slot.get(), {}, {}}}).first->second;
  issue<msg::op::Load>(order_->stamp_write<msg::op::Load>(entry.uses), std::move(m.permit), slot);
  if (environment().log->takes(LogLevel::info))
    environment().tell(LogLevel::info, describe_compiled(*slot));
}

void ContextState::call(const msg::DestroyGraph& c, msg::LocalPart&) {
  const auto graph = graphs_.find(c.graph);
  if (graph == graphs_.end()) return;
  auto& entry = graph->second;
  tell(entry.actor, msg::destroy_graph{});
  issue<msg::op::Unload>(order_->stamp_write<msg::op::Unload>(entry.uses), {}, entry.slot);
  ending_graphs_.emplace(c.graph, std::move(entry.actor));
  graphs_.erase(graph);
}

// -- errors and questions -------------------------------------------------------------------------

namespace {

/// An error that no scope took, as a callback of the handler.
struct UncapturedError final : polychron::detail::Deferred {
  UncapturedError(EnvironmentRef of, std::shared_ptr<const msg::ErrorHandler::Function> handler,
                  Error what)
      : environment(std::move(of)), function(std::move(handler)), error(std::move(what)) {}
  void run() override { function->call(error); }
  const EnvironmentRef environment;  ///< keeps the permit's admission alive
  const std::shared_ptr<const msg::ErrorHandler::Function> function;
  const Error error;
  msg::Permit permit;
};

}  // namespace

void ContextState::observe(const Error& error, msg::Ticket ticket) {
  if (scopes_.take(error, ticket)) return;
  // Missed deadlines and cancellations are no defects, and there are thousands under load.
  const auto kind = error.root().kind();
  const bool given_up = kind == ErrorKind::timed_out || kind == ErrorKind::aborted;
  environment().tell(given_up ? LogLevel::info : LogLevel::error, error.what());
  if (!handler_) return;
  // A handler that falls behind gets only some of the errors; the rest are counted.
  auto permit = environment().events->try_enter_now();
  if (!permit) return msg::count(environment().counters->unheard);
  auto event = std::make_shared<UncapturedError>(environment_ref(), handler_.share(), error);
  event->permit = std::move(permit);
  environment().callbacks->post(std::move(event));
}

void ContextState::call(const msg::Report& c, msg::LocalPart&) { observe(c.error, 0); }

void ContextState::call(const msg::PushScope& c, msg::LocalPart& local) {
  scopes_.push(c.filter, order_->last_ticket(), std::move(local.permit));
}

void ContextState::call(const msg::PopScope&, msg::LocalPart& local) {
  const auto& reply = reply_of<msg::ErrorReply>(local);
  const auto fence = ++fences_;
  const auto first = scopes_.pop(order_->last_ticket(), fence, device_actors_.lanes.size(), reply);
  if (!first) {
    // planted: a pop without a scope is dropped
    reply.reject(Error(ErrorKind::invalid_state, "there is no error scope to pop"));
    return;
  }
  for (std::uint32_t lane = 0; lane < device_actors_.lanes.size(); ++lane)
    issue<msg::op::Fence>(order_->stamp_on(lane), {}, fence, *first);
}

void ContextState::call(const msg::SetErrorHandler&, msg::LocalPart& local) {
  handler_ = std::move(reply_of<msg::ErrorHandler>(local));
}

void ContextState::call(const msg::AskPending&, msg::LocalPart& local) {
  const auto survey =
      std::make_shared<msg::Survey>(reply_of<msg::PendingReply>(local), device_actors_.lanes.size(),
                                    environment().lost, std::move(local.permit));
  for (const auto& lane : device_actors_.lanes) tell_urgently(lane, msg::survey_lane{survey});
}

void ContextState::receive(const msg::operation_failed& m) { observe(m.error, m.ticket); }

void ContextState::receive(const msg::fence_passed& m) { scopes_.passed(m.id); }

// -- the end --------------------------------------------------------------------------------------

void ContextState::call(const msg::DestroyContext&, msg::LocalPart&) {
  lose(LostReason::destroyed, "the context was destroyed");
  self().quit();
}

void ContextState::receive(const msg::tensor_gone& m) { ending_tensors_.erase(m.tensor); }

void ContextState::receive(const msg::graph_gone& m) { ending_graphs_.erase(m.graph); }

void ContextState::receive(const msg::actor_failed& m) {
  ended_by(m);
  self().quit();
}

void ContextState::told_to_end(const caf::error& reason) {
  lose(LostReason::device_failed, "the context's actor was ended: " + caf::to_string(reason));
}

void ContextState::ended_by(const msg::actor_failed& failure) noexcept {
  lose(failure.out_of_memory ? LostReason::out_of_memory : LostReason::device_failed,
       failure.message);
}

void ContextState::lose(LostReason reason, std::string_view message) noexcept {
  environment().lose(reason, message, self().id());
  // Ends all actors. Dropping their states and mail rejects the replies that they owe.
  for (const auto& [id, entry] : tensors_) end_actor(entry.actor);
  for (const auto& [id, entry] : graphs_) end_actor(entry.actor);
  for (const auto& [id, actor] : ending_tensors_) end_actor(actor);
  for (const auto& [id, actor] : ending_graphs_) end_actor(actor);
  // planted: the end leaves the lanes alone
  for (const auto& lane : device_actors_.lanes) end_actor(lane);
  if (device_actors_.compiler) end_actor(device_actors_.compiler);
  tensors_.clear();
  graphs_.clear();
  ending_tensors_.clear();
  ending_graphs_.clear();
  builds_.clear();
  device_actors_ = {};
}

ContextState::~ContextState() { lose(LostReason::device_failed, "the context's actor has ended"); }

// -- the beginning --------------------------------------------------------------------------------

DeviceActors spawn_device_actors(caf::actor_system& system, const EnvironmentRef& environment) {
  DeviceActors spawned;
  try {
    for (std::uint32_t lane = 0; lane < environment->lanes.size(); ++lane) {
      const auto doing = [progress = std::shared_ptr<const msg::LaneProgress>(
                              environment, &environment->lanes[lane])]() -> std::string {
        const auto running = progress->running();
        if (!running) return "";
        return std::string(running->operation) + " (ticket " + std::to_string(running->ticket) +
               ")";
      };
      spawned.lanes.push_back(spawn_on_thread<DeviceState>(system, environment, doing, lane));
    }
    const auto doing = [environment]() -> std::string {
      const auto graph = environment->compiling.what();
      return graph == 0 ? "" : "build of graph #" + std::to_string(graph);
    };
    spawned.compiler = spawn_on_thread<CompilerState>(system, environment, doing);
  } catch (...) {
    for (const auto& lane : spawned.lanes) end_actor(lane);
    throw;
  }
  return spawned;
}

context_actor spawn_context(caf::actor_system& system, const EnvironmentRef& environment) {
  const auto spawned = spawn_device_actors(system, environment);
  try {
    auto context = spawn_in<ContextState>(system, nullptr, environment, {}, nullptr, spawned);
    if (environment->caller_runs)
      environment->caller_runs->set_context(caf::actor_cast<caf::actor_addr>(context));
    return context;
  } catch (...) {
    for (const auto& lane : spawned.lanes) end_actor(lane);
    end_actor(spawned.compiler);
    throw;
  }
}

}  // namespace polychron::actors
