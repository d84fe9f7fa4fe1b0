#include "actors/context.hpp"

#include <cassert>

#include "actors/compiler.hpp"
#include "actors/device.hpp"
#include "actors/graph.hpp"
#include "actors/tensor.hpp"

namespace polychron::actors {

context_actor::behavior_type ContextState::start(EnvironmentRef environment) {
  enter(std::move(environment), "context");
  self()->set_exit_handler([this](caf::exit_msg& m) { on_exit(m); });
  device_ = spawn_device<DeviceState>(self(), this->environment(), environment_ref());
  compiler_ = spawn_device<CompilerState>(self(), this->environment(), environment_ref(),
                                          caf::actor_cast<caf::actor_addr>(self()));
  return {
      [this](const msg::create_tensor& m) { create_tensor(m); },
      [this](const msg::write_tensor& m) { write_tensor(m); },
      [this](const msg::read_tensor& m) { read_tensor(m); },
      [this](const msg::dispatch& m) { dispatch(m); },
      [this](const msg::build& m) { build(m); },
      [this](const msg::drop_tensor& m) { drop_tensor(m); },
      [this](const msg::drop_graph& m) { drop_graph(m); },
      [this](const msg::destroy_context& m) { destroy(m); },
      [this](const msg::compiled& m) { compiled(m); },
  };
}

ContextState::~ContextState() {
  // However this actor ended, nobody may wait for ever.
  if (environment_ref())
    environment().lost->resolve({LostReason::device_failed, "the context's actor has ended"});
}

void ContextState::create_tensor(const msg::create_tensor& m) {
  assert(!tensors_.contains(m.tensor));
  const auto slot = std::make_shared<msg::TensorSlot>();
  slot->id = m.tensor;
  slot->label = m.label;
  slot->bytes = m.bytes;
  slot->actor = spawn_linked<TensorState>(self(), environment_ref(), slot, device_);
  tensors_.emplace(m.tensor, TensorEntry{slot->actor, slot});
  tell(slot->actor, msg::create{stamp(), m.initial, m.reply});
}

void ContextState::write_tensor(const msg::write_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) return;  // destroyed by another thread since the caller looked
  tell(tensor->second.actor, msg::write{stamp(), m.bytes, m.label});
}

void ContextState::read_tensor(const msg::read_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) {
    m.reply->reject(Error(ErrorKind::invalid_state, "the tensor is destroyed")
                        .with_object(describe_object("tensor", {}, m.tensor)));
    return;
  }
  tell(tensor->second.actor, msg::read{stamp(), m.reply});
}

void ContextState::dispatch(const msg::dispatch& m) {
  msg::Tensors inputs, outputs;
  const auto graph = graphs_.find(m.graph);
  // All three are looked up, so that the outputs that are alive can carry the error.
  const bool inputs_alive = resolve(*m.inputs, inputs);
  const bool outputs_alive = resolve(*m.outputs, outputs);
  const auto ticket = stamp();
  if (graph != graphs_.end() && inputs_alive && outputs_alive) {
    tell(graph->second, msg::run{ticket, std::move(inputs), std::move(outputs), m.label});
    return;
  }
  // Destroyed by another thread since the caller looked: what would have been written is not what a
  // reader expects, so it becomes unreadable.
  const auto* what = graph == graphs_.end() ? "the graph" : inputs_alive ? "an output" : "an input";
  const auto error = Error(ErrorKind::invalid_state, std::string(what) + " is destroyed")
                         .with_operation("dispatch", m.label, ticket)
                         .not_run();
  tell(device_, msg::fail{ticket, std::move(outputs), std::make_shared<const Error>(error)});
}

bool ContextState::resolve(const msg::TensorIds& ids, msg::Tensors& slots) const {
  bool complete = true;
  for (const auto id : ids) {
    const auto tensor = tensors_.find(id);
    if (tensor == tensors_.end())
      complete = false;
    else
      slots.push_back(tensor->second.slot);
  }
  return complete;
}

void ContextState::build(const msg::build& m) {
  assert(!graphs_.contains(m.graph));
  tell(compiler_, msg::compile{m.graph, m.description, m.reply});
}

void ContextState::compiled(const msg::compiled& m) {
  auto& plan = **m.plan;
  const auto& description = **m.description;
  if (!plan) {
    m.reply->reject(plan.error().with_operation("build", description.label));
    return;
  }
  const auto slot = std::make_shared<msg::GraphSlot>();
  slot->id = m.graph;
  slot->label = description.label;
  for (const auto& [input, value] : description.inputs)
    slot->inputs.emplace_back(input, description.values[value].descriptor);
  for (const auto& [output, value] : description.outputs)
    slot->outputs.emplace_back(output, description.values[value].descriptor);
  slot->plan = std::move(*plan);
  slot->actor = spawn_linked<GraphState>(self(), environment_ref(), slot, device_, *m.reply);
  graphs_.emplace(m.graph, slot->actor);
  tell(device_, msg::load{stamp(), slot});
}

void ContextState::drop_tensor(const msg::drop_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) return;  // destroying twice is legal
  tell(tensor->second.actor, msg::destroy_tensor{stamp()});
  tensors_.erase(tensor);
}

void ContextState::drop_graph(const msg::drop_graph& m) {
  const auto graph = graphs_.find(m.graph);
  if (graph == graphs_.end()) return;
  tell(graph->second, msg::destroy_graph{stamp()});
  graphs_.erase(graph);
}

void ContextState::destroy(const msg::destroy_context&) {
  lose(LostReason::destroyed, "the context was destroyed");
}

void ContextState::on_exit(const caf::exit_msg& m) {
  if (m.reason == caf::exit_reason::normal || !m.reason) return;  // a tensor or graph was released
  if (m.source == caf::actor_cast<caf::actor_addr>(device_))
    lose(LostReason::device_failed, "the device failed: " + caf::to_string(m.reason));
  else
    lose(LostReason::device_failed, "an actor of the context failed: " + caf::to_string(m.reason));
}

void ContextState::lose(LostReason reason, const std::string& message) {
  environment().lost->resolve({reason, message});
  tensors_.clear();
  graphs_.clear();
  // All others are linked to this actor: they end, and their states reject what is pending.
  self()->quit(caf::exit_reason::user_shutdown);
}

}  // namespace polychron::actors
