// What each operation of a lane does.
#include <cassert>

#include "actors/device.hpp"
#include "kernels/guarded.hpp"

namespace polychron::actors {

namespace {

using kernels::guarded;

/// Takes `bytes` of the context's budget.
Result<msg::Reservation> reserve(const std::shared_ptr<msg::Budget>& budget, std::uint64_t bytes) {
  if (auto reservation = msg::Reservation::take(budget, bytes)) return std::move(*reservation);
  return Error(ErrorKind::out_of_memory, "out of memory, " + describe_bytes(bytes) + " asked, " +
                                             describe_bytes(budget->limit() - budget->used()) +
                                             " left of the context's " +
                                             describe_bytes(budget->limit()));
}

}  // namespace

DeviceState::Outcome DeviceState::carry_out(const msg::allocate& m) {
  auto& slot = **m.tensor;
  assert(!slot.memory);
  auto result = guarded([&]() -> Result<void> {
    auto reservation = reserve(environment().budget, slot.bytes);
    if (!reservation) return reservation.error();
    auto storage = environment().backend->allocate(slot.bytes);
    if (!storage) return storage.error();
    slot.memory =
        std::make_shared<msg::Memory>(msg::Memory{std::move(*storage), std::move(*reservation)});
    return {};
  });
  if (!result) {
    const auto error =
        result.error().with_operation("create_tensor", {}, m.stamp.ticket).with_object(slot.name());
    failed(error, m.stamp.ticket);
    result = error;
  }
  tell(slot.actor, msg::allocated{std::move(result)});
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::write_bytes& m) {
  auto& slot = **m.tensor;
  auto& payload = **m.payload;
  assert(payload.bytes.size() == slot.bytes);
  if (slot.memory) {  // else its creation was rejected
    auto storage = guarded([&] { return environment().backend->adopt(std::move(payload.bytes)); });
    if (storage) {
      // A new Memory: whoever still holds a revoked lease keeps the old one.
      slot.memory = std::make_shared<msg::Memory>(
          msg::Memory{std::move(*storage), std::move(payload.reservation)});
      slot.tag.reset();
      completed();
    } else {
      const auto error =
          storage.error().with_operation("write", m.label, m.stamp.ticket).with_object(slot.name());
      slot.tag = error;
      failed(error, m.stamp.ticket);
    }
  }
  leave();
  return Outcome::done;
}

Result<void> DeviceState::fill(const msg::TensorSlot& slot, Buffer& target) {
  return guarded([&]() -> Result<void> {
    if (slot.tag) return Error(ErrorKind::operation_error, "").caused_by(*slot.tag);
    if (!slot.memory) return Error(ErrorKind::invalid_state, "the tensor has no memory");
    if (target.size() == 0) target = Buffer::uninitialized(slot.bytes);
    const auto status = environment().backend->read(*slot.memory->storage, target.bytes());
    if (status) {
      count(environment().counters->copies);
      count(environment().counters->copied_bytes, slot.bytes);
    }
    return status;
  });
}

DeviceState::Outcome DeviceState::carry_out(const msg::read_bytes& m) {
  const auto& slot = **m.tensor;
  auto& loan = **m.loan;
  if (loan.claim()) {  // else the tensor was destroyed meanwhile, and its actor has answered
    const auto status = fill(slot, loan.content.buffer);
    if (status) {
      completed();
    } else {
      const auto error =
          status.error().with_operation("read", {}, m.stamp.ticket).with_object(slot.name());
      loan.content.error = error;
      if (slot.tag)
        count(environment().counters->not_run);  // reported when the tag was set
      else
        failed(error, m.stamp.ticket);
    }
    tell(slot.actor, msg::read_done{m.stamp.ticket});
  }
  leave();
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::query_tag& m) {
  const auto& slot = **m.tensor;
  tell(slot.actor, msg::query_done{m.stamp.ticket, slot.tag});
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::lend_memory& m) {
  const auto& slot = **m.tensor;
  auto& lease = **m.lease;
  if (lease.ended) return Outcome::done;  // destroyed before it came to this
  auto result = guarded([&]() -> Result<void> {
    if (slot.tag) return Error(ErrorKind::operation_error, "").caused_by(*slot.tag);
    if (!slot.memory) return Error(ErrorKind::invalid_state, "the tensor has no memory");
    auto bytes = environment().backend->map(*slot.memory->storage);
    if (!bytes) return bytes.error();
    lease.memory = slot.memory;
    lease.bytes = *bytes;
    return {};
  });
  if (!result)
    result = result.error().with_operation("export", {}, m.stamp.ticket).with_object(slot.name());
  tell(slot.actor, msg::lent{m.stamp.ticket, *m.lease, result});
  return result ? Outcome::goes_on : Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::release& m) {
  auto& slot = **m.tensor;
  slot.memory.reset();
  slot.tag.reset();
  tell(std::exchange(slot.actor, nullptr), msg::released{});
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::load& m) {
  auto& slot = **m.graph;
  assert(slot.plan);
  auto reservation = reserve(environment().budget, slot.plan->constant_bytes());
  Result<void> result;
  if (reservation) {
    slot.constants = std::move(*reservation);
  } else {
    result = reservation.error().with_operation("build", slot.label, m.stamp.ticket);
    failed(result.error(), m.stamp.ticket);
  }
  tell(slot.actor, msg::loaded{std::move(result)});
  return Outcome::done;
}

std::optional<Error> DeviceState::unmet(const msg::Conditions& conditions, const char* operation,
                                        const std::string& label, msg::Ticket ticket) const {
  const auto refuse = [&](ErrorKind kind, const char* why) {
    return Error(kind, why).with_operation(operation, label, ticket).not_run();
  };
  if (conditions.cancelled && *conditions.cancelled)
    return refuse(ErrorKind::aborted, "it was cancelled");
  if (conditions.deadline && environment().now() > *conditions.deadline)
    return refuse(ErrorKind::timed_out, "its deadline had passed");
  return std::nullopt;
}

std::optional<Error> DeviceState::invalid(const msg::GraphSlot& graph, const char* operation,
                                          const std::string& label, msg::Ticket ticket) {
  const Error* cause = graph.invalid.get();
  if (cause == nullptr) return std::nullopt;
  return Error(ErrorKind::graph_invalid, graph.name() + " is invalid since")
      .with_operation(operation, label, ticket)
      .caused_by(*cause)
      .not_run();
}

std::optional<Error> DeviceState::errored_input(const msg::execute& m) const {
  for (std::size_t i = 0; i < m.inputs->size(); ++i) {
    const auto& slot = *(*m.inputs)[i];
    if (!slot.tag) continue;
    const auto& input = m.graph->get()->inputs[i].first;
    return Error(ErrorKind::operation_error,
                 "input '" + input + "' (" + slot.name() + ") errored by")
        .with_operation("dispatch", m.label, m.stamp.ticket)
        .caused_by(*slot.tag)
        .not_run();
  }
  return std::nullopt;
}

Result<void> DeviceState::instantiate(msg::GraphSlot& graph) {
  return guarded([&]() -> Result<void> {
    auto& mine = graph.instances[lane_];
    auto arena = reserve(environment().budget, graph.plan->arena_bytes());
    if (!arena) return arena.error();
    auto plan = environment().backend->instantiate(graph.plan);
    if (!plan) return plan.error();
    mine.plan = std::move(*plan);
    mine.arena = std::move(*arena);
    return {};
  });
}

kernels::ExecuteStatus DeviceState::run(msg::GraphSlot& graph) {
  auto& mine = graph.instances[lane_];
  if (!mine.plan) {
    const auto made = instantiate(graph);
    if (!made) return {made.error()};
  }
  bool inherent = false;
  const auto result = guarded([&]() -> Result<void> {
    auto status = environment().backend->execute(*mine.plan, input_storage_, output_storage_);
    inherent = status.inherent;
    return status.result;
  });
  return {result, inherent};
}

Error DeviceState::failure(const char* operation, const std::string& label, msg::Ticket ticket,
                           const Error& error) const {
  // What names an operation of its own, such as an operator, becomes the cause.
  if (error.operation().empty()) return error.with_operation(operation, label, ticket);
  return Error(ErrorKind::operation_error, "")
      .with_operation(operation, label, ticket)
      .caused_by(error);
}

DeviceState::Outcome DeviceState::carry_out(const msg::execute& m) {
  const auto ticket = m.stamp.ticket;
  auto& graph = **m.graph;
  auto refusal = invalid(graph, "dispatch", m.label, ticket);
  if (!refusal) refusal = unmet(*m.conditions, "dispatch", m.label, ticket);
  if (refusal) {
    set_tags(*m.outputs, *refusal);
    failed(*refusal, ticket);
  } else if (const auto cause = errored_input(m)) {
    set_tags(*m.outputs, *cause);
    count(environment().counters->not_run);
  } else {
    input_storage_.clear();
    output_storage_.clear();
    for (const auto& slot : *m.inputs) input_storage_.push_back(slot->memory->storage.get());
    for (const auto& slot : *m.outputs) output_storage_.push_back(slot->memory->storage.get());
    const auto status = run(graph);
    if (status.result) {
      for (const auto& output : *m.outputs) output->tag.reset();
      completed();
    } else {
      const auto reason = failure("dispatch", m.label, ticket, status.result.error());
      set_tags(*m.outputs, reason);
      if (status.inherent) graph.invalid.set(reason);
      failed(reason, ticket);
    }
  }
  leave();
  return Outcome::done;
}

Result<void> DeviceState::run_batch(msg::GraphSlot& graph, msg::BatchReply& batch, bool& inherent) {
  auto& backend = *environment().backend;
  std::vector<std::pair<Buffer*, std::unique_ptr<kernels::Storage>>> adopted;
  const auto adopt = [&](std::vector<Buffer>& buffers,
                         std::vector<kernels::Storage*>& bound) -> Result<void> {
    bound.clear();
    for (auto& buffer : buffers) {
      auto storage = backend.adopt(std::move(buffer));
      if (!storage) return storage.error();
      bound.push_back(storage->get());
      adopted.emplace_back(&buffer, std::move(*storage));
    }
    return {};
  };
  auto result = guarded([&]() -> Result<void> {
    auto ready = adopt(batch.inputs, input_storage_);
    if (ready) ready = adopt(batch.outputs, output_storage_);
    if (!ready) return ready;
    const auto status = run(graph);
    inherent = status.inherent;
    return status.result;
  });
  // Whatever happened, the buffers go home.
  for (auto& [buffer, storage] : adopted) {
    auto back = backend.surrender(std::move(storage));
    if (back)
      *buffer = std::move(*back);
    else
      result = back.error();
  }
  return result;
}

DeviceState::Outcome DeviceState::carry_out(const msg::execute_batch& m) {
  const auto ticket = m.stamp.ticket;
  auto& graph = **m.graph;
  auto& loan = **m.batch;
  if (!loan.claim()) {  // the context is going, and the graph's actor has answered
    leave();
    return Outcome::done;
  }
  auto& batch = loan.content;
  batch.error = invalid(graph, "compute", m.label, ticket);
  if (!batch.error) batch.error = unmet(*m.conditions, "compute", m.label, ticket);
  if (!batch.error) {
    bool inherent = false;
    const auto result = run_batch(graph, batch, inherent);
    if (!result) batch.error = failure("compute", m.label, ticket, result.error());
    if (inherent) graph.invalid.set(*batch.error);
  }
  if (batch.error)
    failed(*batch.error, ticket);
  else
    completed();
  tell(graph.actor, msg::batch_done{ticket});
  leave();
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::fail& m) {
  set_tags(*m.outputs, **m.error);
  failed(**m.error, m.stamp.ticket);
  leave();
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::release_plan& m) {
  auto& slot = **m.graph;
  for (auto& instance : slot.instances) instance = {};
  slot.plan.reset();
  slot.constants = {};
  tell(std::exchange(slot.actor, nullptr), msg::plan_released{});
  return Outcome::done;
}

DeviceState::Outcome DeviceState::carry_out(const msg::fence& m) {
  if (const auto owner = context()) tell(owner, msg::fence_passed{m.id});
  return Outcome::done;
}

void DeviceState::set_tags(const msg::Tensors& tensors, const Error& error) {
  for (const auto& tensor : tensors) tensor->tag = error;
}

void DeviceState::completed() { count(environment().counters->completed); }

void DeviceState::failed(const Error& error, msg::Ticket ticket) {
  auto& counters = *environment().counters;
  count(error.ran() ? counters.failed : counters.not_run);
  if (const auto owner = context())
    tell(owner, msg::operation_failed{ticket, std::make_shared<const Error>(error)});
  if (error.root().kind() == ErrorKind::context_lost) {
    gone_ = true;
    // By a message, not by quit(): when this actor ends, the operation in hand must be gone.
    self()->send_exit(self(), caf::make_error(caf::sec::runtime_error, std::string(error.what())));
  }
}

void DeviceState::leave() { environment().admission->leave(); }

}  // namespace polychron::actors
