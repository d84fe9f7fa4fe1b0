#include "actors/context.hpp"

#include <cassert>

#include "actors/compiler.hpp"
#include "actors/device.hpp"
#include "actors/graph.hpp"
#include "actors/tensor.hpp"

namespace polychron::actors {

namespace {

Error unknown_tensor(msg::TensorId id) {
  return Error(ErrorKind::invalid_state, "the tensor is destroyed")
      .with_object(describe_object("tensor", {}, id));
}

}  // namespace

context_actor::behavior_type ContextState::start(EnvironmentRef environment) {
  enter(std::move(environment));
  order_.emplace(environment_ref());
  self()->set_exit_handler([this](caf::exit_msg& m) { on_exit(m); });
  spawn_devices();
  // CAF tries them in this order: the hot ones come first. A handler that takes its message by
  // reference may move from it, since nobody else has it.
  return {
      [this](msg::dispatch& m) { dispatch(m); },
      [this](msg::write_tensor& m) { write_tensor(m); },
      [this](const msg::create_tensor& m) { create_tensor(m); },
      [this](const msg::read_tensor& m) { read_tensor(m); },
      [this](const msg::query_tensor& m) { query_tensor(m); },
      [this](const msg::lend_tensor& m) { lend_tensor(m); },
      [this](const msg::return_lease& m) { return_lease(m); },
      [this](const msg::compute& m) { compute(m); },
      [this](const msg::build& m) { build(m); },
      [this](const msg::drop_tensor& m) { drop_tensor(m); },
      [this](const msg::drop_graph& m) { drop_graph(m); },
      [this](const msg::report& m) { report(m); },
      [this](const msg::push_scope& m) { push_scope(m); },
      [this](const msg::pop_scope& m) { pop_scope(m); },
      [this](const msg::set_handler& m) { set_handler(m); },
      [this](const msg::ask_pending& m) { ask_pending(m); },
      [this](const msg::destroy_context& m) { destroy(m); },
      [this](const msg::compiled& m) { compiled(m); },
      [this](const msg::operation_failed& m) { operation_failed(m); },
      [this](const msg::fence_passed& m) { fence_passed(m); },
      [this](const msg::tensor_gone& m) { tensor_gone(m); },
      [this](const msg::graph_gone& m) { graph_gone(m); },
      [this](const msg::actor_failed& m) { actor_failed(m); },
  };
}

ContextState::~ContextState() {
  if (!environment_ref()) return;
  // However this actor ended, nobody may wait for ever.
  environment().lost->resolve({LostReason::device_failed, "the context's actor has ended"});
  environment().admission->close();
}

void ContextState::spawn_devices() {
  for (std::uint32_t lane = 0; lane < environment().lanes.size(); ++lane) {
    const auto doing = [progress = std::shared_ptr<const LaneProgress>(
                            environment_ref(), &environment().lanes[lane])]() -> std::string {
      const auto running = progress->running();
      if (!running) return "";
      return std::string(running->operation) + " (ticket " + std::to_string(running->ticket) + ")";
    };
    devices_.push_back(
        spawn_device<DeviceState>(*self(), environment_ref(), doing, lane, address()));
  }
  for (const auto& device : devices_) tell(device, msg::meet{devices_});
  const auto doing = [environment = environment_ref()]() -> std::string {
    const auto graph = environment->compiling.load();
    return graph == 0 ? "" : "build of graph #" + std::to_string(graph);
  };
  compiler_ = spawn_device<CompilerState>(*self(), environment_ref(), doing, address());
}

// -- tensors --------------------------------------------------------------------------------------

void ContextState::create_tensor(const msg::create_tensor& m) {
  assert(!tensors_.contains(m.tensor));
  const auto slot = std::make_shared<msg::TensorSlot>();
  slot->id = m.tensor;
  slot->label = m.label;
  slot->bytes = m.bytes;
  slot->actor = spawn<TensorState>(slot, devices_, address());
  auto& entry = tensors_.emplace(m.tensor, TensorEntry{slot->actor, slot, {}, {}}).first->second;
  tell(entry.actor, msg::create{order_->stamp_write(entry.uses), m.reply});
}

void ContextState::write_tensor(msg::write_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) {  // destroyed by another thread since the caller looked
    environment().admission->leave();
    scopes_.take(unknown_tensor(m.tensor).with_operation("write", m.label), 0);
    return;
  }
  auto& entry = tensor->second;
  auto stamp = order_->stamp_write(entry.uses);
  if (const auto error = lease_error(entry)) {
    const auto refused = error->with_operation("write", m.label, stamp.ticket).not_run();
    refuse(std::move(stamp), {entry.slot}, refused);
    return;
  }
  const auto& device = devices_[stamp.at.lane];
  tell(device,
       msg::write_bytes{std::move(stamp), entry.slot, std::move(m.payload), std::move(m.label)});
}

void ContextState::read_tensor(const msg::read_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  const auto error =
      tensor == tensors_.end() ? unknown_tensor(m.tensor) : lease_error(tensor->second);
  if (error) {
    environment().admission->leave();
    (*m.loan)->answer(error->with_operation("read"));
    return;
  }
  auto& entry = tensor->second;
  tell(entry.actor, msg::read{order_->stamp_read(entry.uses), m.loan});
}

void ContextState::query_tensor(const msg::query_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) {
    m.reply->reject(unknown_tensor(m.tensor));
    return;
  }
  auto& entry = tensor->second;
  tell(entry.actor, msg::query{order_->stamp_read(entry.uses), m.reply});
}

void ContextState::lend_tensor(const msg::lend_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  const auto error =
      tensor == tensors_.end() ? unknown_tensor(m.tensor) : lease_error(tensor->second);
  if (error) {
    m.reply->reject(error->with_operation("export"));
    return;
  }
  auto& entry = tensor->second;
  auto stamp = order_->stamp_write(entry.uses);
  entry.rents.push_back({*m.lease, stamp.at});
  tell(entry.actor, msg::lend{std::move(stamp), m.lease, m.reply});
}

void ContextState::return_lease(const msg::return_lease& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) return;  // revoked meanwhile
  std::erase_if(tensor->second.rents, [&](const auto& rent) {
    if (rent.lease != *m.lease) return false;
    end(rent);
    return true;
  });
}

void ContextState::end(const msg::Rent& rent) {
  rent.lease->ended = true;
  tell(devices_[rent.at.lane], msg::end_lease{rent.at.turn});
}

std::optional<Error> ContextState::lease_error(const TensorEntry& entry) {
  for (const auto& rent : entry.rents)
    if (rent.lease->mode == LeaseMode::fail)
      return Error(ErrorKind::invalid_state, "the tensor is on lease")
          .with_object(entry.slot->name());
  return std::nullopt;
}

void ContextState::drop_tensor(const msg::drop_tensor& m) {
  const auto tensor = tensors_.find(m.tensor);
  if (tensor == tensors_.end()) return;  // destroying twice is legal
  auto& entry = tensor->second;
  tell(entry.actor, msg::destroy_tensor{order_->stamp_write(entry.uses), std::move(entry.rents)});
  ending_tensors_.emplace(m.tensor, std::move(entry.actor));
  tensors_.erase(tensor);
}

// -- graphs ---------------------------------------------------------------------------------------

std::optional<Error> ContextState::resolve(const TensorIds& ids, msg::Tensors& slots,
                                           LaneOrder::Touched& uses) {
  std::optional<Error> problem;
  for (const auto id : ids) {
    const auto tensor = tensors_.find(id);
    if (tensor == tensors_.end()) {
      if (!problem) problem = unknown_tensor(id);
      continue;
    }
    slots.push_back(tensor->second.slot);
    uses.push_back(&tensor->second.uses);
    if (!problem) problem = lease_error(tensor->second);
  }
  return problem;
}

void ContextState::dispatch(msg::dispatch& m) {
  msg::Tensors inputs, outputs;
  LaneOrder::Touched reads, writes;
  // Both sides are looked up in any case, so that the outputs that exist can carry an error.
  auto problem = resolve(*m.inputs, inputs, reads);
  if (auto other = resolve(*m.outputs, outputs, writes); !problem) problem = std::move(other);
  const auto graph = graphs_.find(m.graph);
  if (graph == graphs_.end())
    problem = Error(ErrorKind::invalid_state, "the graph is destroyed");
  else
    reads.push_back(&graph->second.uses);

  auto stamp = order_->stamp(reads, writes);
  if (problem) {
    // By another thread since the caller looked, or by a lease that was asked to refuse. What would
    // have been written is not what a reader expects, so it becomes unreadable.
    const auto refused = problem->with_operation("dispatch", m.label, stamp.ticket).not_run();
    refuse(std::move(stamp), std::move(outputs), refused);
    return;
  }
  const auto& device = devices_[stamp.at.lane];
  tell(device, msg::execute{std::move(stamp), graph->second.slot, std::move(inputs),
                            std::move(outputs), std::move(m.label), std::move(m.conditions)});
}

void ContextState::refuse(msg::Stamp stamp, msg::Tensors outputs, const Error& error) {
  const auto& device = devices_[stamp.at.lane];
  tell(device,
       msg::fail{std::move(stamp), std::move(outputs), std::make_shared<const Error>(error)});
}

void ContextState::compute(const msg::compute& m) {
  const auto graph = graphs_.find(m.graph);
  if (graph == graphs_.end()) {
    environment().admission->leave();
    (*m.batch)->answer(Error(ErrorKind::invalid_state, "the graph is destroyed")
                           .with_operation("compute", m.label));
    return;
  }
  auto& entry = graph->second;
  tell(entry.actor, msg::run_batch{order_->stamp_read(entry.uses), m.batch, m.label, m.conditions});
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
  slot->instances.resize(devices_.size());
  slot->actor = spawn<GraphState>(slot, devices_, address(), *m.reply);
  auto& entry = graphs_.emplace(m.graph, GraphEntry{slot->actor, slot, {}}).first->second;
  auto stamp = order_->stamp_write(entry.uses);
  const auto& device = devices_[stamp.at.lane];
  tell(device, msg::load{std::move(stamp), slot});
}

void ContextState::drop_graph(const msg::drop_graph& m) {
  const auto graph = graphs_.find(m.graph);
  if (graph == graphs_.end()) return;
  auto& entry = graph->second;
  tell(entry.actor, msg::destroy_graph{order_->stamp_write(entry.uses)});
  ending_graphs_.emplace(m.graph, std::move(entry.actor));
  graphs_.erase(graph);
}

// -- errors and questions -------------------------------------------------------------------------

void ContextState::report(const msg::report& m) { scopes_.take(*m.error, 0); }

void ContextState::push_scope(const msg::push_scope& m) {
  scopes_.push(m.filter, order_->last_ticket());
}

void ContextState::pop_scope(const msg::pop_scope& m) {
  const auto fence = ++fences_;
  if (!scopes_.pop(order_->last_ticket(), fence, devices_.size(), *m.reply)) {
    m.reply->reject(Error(ErrorKind::invalid_state, "there is no error scope to pop"));
    return;
  }
  for (std::uint32_t lane = 0; lane < devices_.size(); ++lane)
    tell(devices_[lane], msg::fence{order_->stamp_on(lane), fence});
}

void ContextState::set_handler(const msg::set_handler& m) { scopes_.set_handler(*m.handler); }

void ContextState::ask_pending(const msg::ask_pending& m) {
  const auto survey = std::make_shared<msg::Survey>(*m.reply);
  for (const auto& device : devices_) tell(device, msg::survey_lane{survey});
}

void ContextState::operation_failed(const msg::operation_failed& m) {
  scopes_.take(**m.error, m.ticket);
}

void ContextState::fence_passed(const msg::fence_passed& m) { scopes_.passed(m.id); }

// -- the end --------------------------------------------------------------------------------------

void ContextState::destroy(const msg::destroy_context&) {
  lose(LostReason::destroyed, "the context was destroyed");
}

void ContextState::tensor_gone(const msg::tensor_gone& m) { ending_tensors_.erase(m.tensor); }

void ContextState::graph_gone(const msg::graph_gone& m) { ending_graphs_.erase(m.graph); }

void ContextState::actor_failed(const msg::actor_failed& m) {
  lose(LostReason::device_failed, "the " + m.actor + " actor failed: " + m.what);
}

void ContextState::on_exit(const caf::exit_msg& m) {
  if (!m.reason) return;
  const auto failed = [&](const auto& actor) {
    return m.source == caf::actor_cast<caf::actor_addr>(actor);
  };
  const bool device = std::any_of(devices_.begin(), devices_.end(), failed);
  lose(LostReason::device_failed,
       (device ? "the device failed: " : "an actor of the context failed: ") +
           caf::to_string(m.reason));
}

void ContextState::lose(LostReason reason, const std::string& message) {
  environment().lost->resolve({reason, message});
  environment().admission->close();
  // Everybody ends, and their states reject what is pending. Devices and the compiler are linked.
  constexpr auto reason_to_end = caf::exit_reason::user_shutdown;
  for (const auto& [id, entry] : tensors_) self()->send_exit(entry.actor, reason_to_end);
  for (const auto& [id, entry] : graphs_) self()->send_exit(entry.actor, reason_to_end);
  for (const auto& [id, actor] : ending_tensors_) self()->send_exit(actor, reason_to_end);
  for (const auto& [id, actor] : ending_graphs_) self()->send_exit(actor, reason_to_end);
  tensors_.clear();
  graphs_.clear();
  self()->quit(reason_to_end);
}

}  // namespace polychron::actors
