// The context actor: calls on graphs.
#include "actors/context.hpp"
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
    // planted: a refused build is not answered
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
    environment().write_log(LogLevel::info, describe_compiled(*slot));
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

}  // namespace polychron::actors
