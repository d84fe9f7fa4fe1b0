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
  if (c.refused)
    problem = std::move(c.refused->error);
  else if (graph == graphs_.end())
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
  // The tensors do not fit the graph's dynamic dimensions, another thread has destroyed one since
  // the caller checked, or one is on lease in LeaseMode::fail. The outputs become errored, as they
  // lack the content that readers expect; a leased output stays as it is, for its holder.
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
  ensure(entry.actor != nullptr, "a graph is compiled before it computes");
  auto stamp = order_->stamp_read<msg::op::Compute>(entry.uses);
  tell(entry.actor, msg::expect_of_graph{stamp.ticket, batch});
  issue<msg::op::Compute>(std::move(stamp), std::move(local.permit), entry.slot, std::move(batch),
                          std::move(c.label),
                          msg::Conditions{c.deadline, std::move(local.cancellation)});
}

void ContextState::call(msg::Build& c, msg::LocalPart& local) {
  ensure(!graphs_.contains(c.graph), "a graph's number is given once");
  msg::Stamp loads;
  if (c.early) loads = order_->stamp_write<msg::op::Load>(add_graph(c).uses);
  builds_.push_back({std::move(c), std::move(reply_of<msg::BuildReply>(local)),
                     std::move(local.permit), std::move(loads)});
  if (builds_.size() == 1) compile_next();
}

ContextState::GraphEntry& ContextState::add_graph(const msg::Build& c) {
  const auto& description = *c.description;
  const auto slot = std::make_shared<msg::GraphSlot>();
  slot->id = c.graph;
  slot->label = description.label;
  for (const auto& [input, value] : description.inputs)
    slot->inputs.emplace_back(input, description.values[value].descriptor);
  for (const auto& [output, value] : description.outputs)
    slot->outputs.emplace_back(output, description.values[value].descriptor);
  return graphs_.emplace(c.graph, GraphEntry{{}, slot, {slot.get(), {}, {}}}).first->second;
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
  const auto& reply = m.reply.reply;
  m.reply.description_bytes.reset();  // the plan has its own reservation
  std::optional<Error> refused;
  if (!m.plan) refused = m.plan.error().with_operation("build", m.call.description->label);
  if (refused) {
    m.permit.give_back();
    // planted: a refused build is not answered
    reply.reject(*refused);
    if (!m.call.early) return;
  }
  const auto id = m.call.graph;
  ensure(graphs_.contains(id) == m.call.early, "a graph is compiled once");
  auto& entry = m.call.early ? graphs_.find(id)->second : add_graph(m.call);
  // An early graph's slot is still the context's: what uses it has its turn after this operation.
  const auto& slot = entry.slot;
  slot->instances.resize(device_actors_.lanes.size());
  msg::Built built;
  if (refused) {
    slot->invalid.set(*refused);
  } else {
    slot->plan = std::move(*m.plan);
    built = {slot->inputs,
             slot->outputs,
             slot->plan->describe(),
             slot->plan->labels(),
             {slot->plan->constant_bytes(), slot->plan->arena_bytes(), slot->instances.size()}};
  }
  slot->actor = entry.actor = spawn<GraphState>(id, std::move(built), reply);
  if (!m.call.early) m.loads = order_->stamp_write<msg::op::Load>(entry.uses);
  issue<msg::op::Load>(std::move(m.loads), std::move(m.permit), slot);
  if (!refused && environment().log->takes(LogLevel::info))
    environment().write_log(LogLevel::info, describe_compiled(*slot));
}

void ContextState::call(const msg::DestroyGraph& c, msg::LocalPart&) {
  const auto graph = graphs_.find(c.graph);
  if (graph == graphs_.end()) return;
  auto& entry = graph->second;
  ensure(entry.actor != nullptr, "a graph is compiled before it is destroyed");
  tell(entry.actor, msg::destroy_graph{});
  issue<msg::op::Unload>(order_->stamp_write<msg::op::Unload>(entry.uses), {}, entry.slot);
  ending_graphs_.emplace(c.graph, std::move(entry.actor));
  graphs_.erase(graph);
}

}  // namespace polychron::actors
