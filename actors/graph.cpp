#include "actors/graph.hpp"

#include <cassert>

namespace polychron::actors {

graph_actor::behavior_type GraphState::start(EnvironmentRef environment, msg::GraphRef slot,
                                             std::vector<device_actor> devices,
                                             caf::actor_addr context, Promise<msg::Built> reply) {
  enter(std::move(environment), std::move(context));
  count(this->environment().counters->graphs);
  slot_ = std::move(slot);
  devices_ = std::move(devices);
  reply_ = std::move(reply);
  return {
      [this](const msg::run_batch& m) { run_batch(m); },
      [this](const msg::destroy_graph& m) { destroy(m); },
      [this](const msg::loaded& m) { loaded(m); },
      [this](const msg::batch_done& m) { batch_done(m); },
      [this](const msg::plan_released& m) { plan_released(m); },
  };
}

GraphState::~GraphState() {
  if (!environment_ref()) return;
  const auto error = environment().lost->error();
  reply_.reject(error);
  // One that the device is working on comes back when the device lets go of it.
  for (auto& [ticket, batch] : batches_)
    if (batch->claim()) batch->answer(error.with_operation("compute", {}, ticket));
  --environment().counters->graphs;
}

void GraphState::run_batch(const msg::run_batch& m) {
  assert(m.stamp.ticket != 0 && !destroyed_);
  batches_.emplace(m.stamp.ticket, *m.batch);
  tell(device(m.stamp), msg::execute_batch{m.stamp, slot_, m.batch, m.label, m.conditions});
}

void GraphState::destroy(const msg::destroy_graph& m) {
  assert(!destroyed_);
  destroyed_ = true;
  tell(device(m.stamp), msg::release_plan{m.stamp, slot_});
}

void GraphState::loaded(const msg::loaded& m) {
  if (!*m.result) {
    reply_.reject(m.result->error());
    return;
  }
  const auto plan = slot_->plan;
  reply_.resolve(msg::Built{slot_->inputs, slot_->outputs, plan->describe(), plan->constant_bytes(),
                            plan->arena_bytes()});
}

void GraphState::batch_done(const msg::batch_done& m) {
  const auto entry = batches_.extract(m.ticket);
  assert(!entry.empty());
  entry.mapped()->answer();
}

void GraphState::plan_released(const msg::plan_released&) {
  assert(destroyed_ && batches_.empty());
  if (const auto owner = context()) tell(owner, msg::graph_gone{slot_->id});
  self()->quit();
}

}  // namespace polychron::actors
