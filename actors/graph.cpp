#include "actors/graph.hpp"

#include <cassert>

namespace polychron::actors {

graph_actor::behavior_type GraphState::start(EnvironmentRef environment, msg::GraphRef slot,
                                             device_actor device, Promise<msg::Built> reply) {
  enter(std::move(environment), "graph");
  slot_ = std::move(slot);
  device_ = std::move(device);
  reply_ = std::move(reply);
  return {
      [this](const msg::run& m) { run(m); },
      [this](const msg::destroy_graph& m) { destroy(m); },
      [this](const msg::loaded& m) { loaded(m); },
      [this](const msg::invalidated& m) { invalidated(m); },
      [this](const msg::plan_released& m) { plan_released(m); },
  };
}

GraphState::~GraphState() {
  if (environment_ref()) reply_.reject(environment().lost->error());
}

void GraphState::run(const msg::run& m) {
  assert(m.ticket != 0 && !destroyed_);  // the context forgets a graph before it destroys it
  if (invalid_) {
    const auto error = Error(ErrorKind::graph_invalid, slot_->name() + " is invalid since")
                           .with_operation("dispatch", m.label, m.ticket)
                           .caused_by(*invalid_)
                           .not_run();
    tell(device_, msg::fail{m.ticket, m.outputs, std::make_shared<const Error>(error)});
    return;
  }
  tell(device_, msg::execute{m.ticket, slot_, m.inputs, m.outputs, m.label});
}

void GraphState::destroy(const msg::destroy_graph& m) {
  assert(!destroyed_);
  destroyed_ = true;
  tell(device_, msg::release_plan{m.ticket, slot_});
}

void GraphState::loaded(const msg::loaded& m) {
  if (!*m.result) {
    reply_.reject(m.result->error().with_operation("build", slot_->label));
    return;
  }
  reply_.resolve(msg::Built{slot_->inputs, slot_->outputs, slot_->plan->describe(),
                            slot_->plan->constant_bytes(), slot_->plan->arena_bytes()});
}

void GraphState::invalidated(const msg::invalidated& m) {
  if (!invalid_) invalid_ = *m.error;  // the first failure is the cause that is named
}

void GraphState::plan_released(const msg::plan_released&) {
  assert(destroyed_);
  self()->quit();
}

}  // namespace polychron::actors
