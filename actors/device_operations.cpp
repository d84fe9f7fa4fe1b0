// The device actor's operations on tensors.
#include "actors/device.hpp"
#include "kernels/guarded.hpp"
#include "messages/abandoned_write.hpp"
#include "messages/reserve.hpp"

namespace polychron::actors {

using kernels::guarded;
using msg::count;

Result<msg::Memory> DeviceState::allocate(std::size_t bytes) {
  return guarded([&]() -> Result<msg::Memory> {
    // planted: half of a tensor's bytes are counted
    auto reservation = msg::reserve(environment().budget, bytes);
    if (!reservation) return reservation.error();
    auto storage = environment().backend->allocate(bytes);
    if (!storage) return storage.error();
    return msg::Memory{std::move(*storage), std::move(*reservation)};
  });
}

DeviceState::Course DeviceState::carry_out(const msg::op::Allocate& o, msg::Ticket ticket) {
  auto& slot = *o.tensor;
  ensure(!slot.memory && !slot.constant, "a tensor is created once");
  std::optional<Error> error;
  if (o.constant) {
    slot.constant = o.constant;
  } else if (auto memory = allocate(slot.bytes)) {
    slot.memory = std::move(*memory);
  } else {
    error = memory.error().with_operation("create_tensor", {}, ticket).with_object(slot.name());
    set_tag(slot, *error, ticket);
    failed(*error, ticket);
  }
  leave();
  tell(slot.actor, msg::tensor_answered{ticket, std::move(error)});
  return Course::over;
}

Result<void> DeviceState::store(msg::TensorSlot& slot, msg::Payload& payload) {
  auto& backend = *environment().backend;
  return guarded([&]() -> Result<void> {
    if (!payload.meeting) {
      auto storage = backend.adopt(std::move(payload.bytes));
      if (!storage) return storage.error();
      slot.memory = msg::Memory{std::move(*storage), std::move(payload.reservation)};
      return {};
    }
    if (!slot.memory) {
      auto memory = allocate(slot.bytes);
      if (!memory) return memory.error();
      slot.memory = std::move(*memory);
    }
    return backend.write(*slot.memory->storage, payload.meeting->bytes);
  });
}

DeviceState::Course DeviceState::carry_out(const msg::op::Write& o, msg::Ticket ticket) {
  auto& slot = *o.tensor;
  auto& payload = *o.payload;
  ensure(!slot.constant && (slot.memory || slot.tag), "a tensor without an error has memory");
  // planted: a cancelled write is done
  auto error = msg::unmet(o.conditions, environment().now);
  if (error) error = error->with_operation("write", o.label, ticket).not_run();
  if (payload.meeting && (!payload.meeting->claim() || error)) {
    // The caller gave up waiting or missed the deadline. Its call throws, so the tensor stays as it
    // was.
    count(environment().counters->not_run);
    if (auto* const observer = environment().gate.observer())
      observer->answers(self().id(), ticket, error ? error : msg::abandoned_write(o.label, ticket),
                        {});
    leave();
    payload.meeting->finish(std::move(error));
    return Course::over;
  }
  if (payload.meeting)
    if (auto* const observer = environment().gate.observer())
      observer->takes_back(self().id(), ticket, payload.meeting->bytes);
  if (!error)
    if (const auto stored = store(slot, payload); !stored)
      error = stored.error().with_operation("write", o.label, ticket);
  if (error) {
    error = error->with_object(slot.name());
    set_tag(slot, *error, ticket);
    failed(*error, ticket);
  } else {
    // planted: the tag of a written tensor stays
    clear_tag(slot, ticket);
    // planted: a write that is done is not counted
    completed();
  }
  leave();
  // The caller's bytes are copied or no longer wanted; later reads report a failure.
  if (payload.meeting) payload.meeting->finish(std::nullopt);
  return Course::over;
}

Result<void> DeviceState::fill(const msg::TensorSlot& slot, Buffer& target) {
  return guarded([&]() -> Result<void> {
    if (slot.tag) return Error(ErrorKind::operation_error, "").caused_by(*slot.tag);
    ensure(slot.memory.has_value(), "a tensor without an error has memory");
    if (target.size() == 0) target = Buffer::uninitialized(slot.bytes);
    const auto status = environment().backend->read(*slot.memory->storage, target.bytes());
    if (status) {
      count(environment().counters->copies);
      count(environment().counters->copied_bytes, slot.bytes);
    }
    return status;
  });
}

DeviceState::Course DeviceState::carry_out(const msg::op::Read& o, msg::Ticket ticket) {
  const auto& slot = *o.tensor;
  // The tensor was destroyed meanwhile: its actor has answered.
  // planted: a read of what was destroyed is answered twice
  if (slot.revoked || !o.loan->claim()) return Course::over;
  const auto status = fill(slot, o.loan->content.buffer);
  if (status) {
    completed();
  } else {
    const auto error = status.error().with_operation("read", {}, ticket).with_object(slot.name());
    if (slot.tag)
      // planted: a read of an errored tensor is reported
      count(environment().counters->not_run);  // reported when the tag was set
    else
      failed(error, ticket);
    o.loan->content.error = error;
  }
  if (auto* const observer = environment().gate.observer())
    observer->answers(self().id(), ticket, o.loan->content.error, {&o.loan->content.buffer, 1});
  give_back(*o.loan);
  tell(slot.actor, msg::tensor_answered{ticket, std::nullopt});
  return Course::over;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Query& o, msg::Ticket ticket) {
  leave();
  tell(o.tensor->actor, msg::tensor_answered{ticket, std::nullopt});
  return Course::over;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Lend& o, msg::Ticket ticket) {
  auto& slot = *o.tensor;
  auto& lease = *o.lease;
  auto result = guarded([&]() -> Result<void> {
    if (slot.tag) return Error(ErrorKind::operation_error, "").caused_by(*slot.tag);
    ensure(slot.memory.has_value(), "a tensor without an error has memory");
    auto bytes = environment().backend->map(*slot.memory->storage);
    if (!bytes) return bytes.error();
    lease.memory = std::exchange(slot.memory, std::nullopt);
    lease.bytes = *bytes;
    lease.granted.store(msg::logical_clock(), std::memory_order_relaxed);
    return {};
  });
  std::optional<Error> error;
  if (!result) error = result.error().with_operation("export", {}, ticket).with_object(slot.name());
  leave();
  tell(slot.actor, msg::tensor_answered{ticket, error});
  // The lease may have ended before it began, if its tensor was destroyed.
  if (const auto end = ended_early_.extract(in_hand_->stamp.at.turn); !end.empty() && !error) {
    take_back(slot, lease, end.mapped(), ticket);
    return Course::over;
  }
  return error ? Course::over : Course::granted;
}

void DeviceState::take_back(msg::TensorSlot& slot, msg::Lease& lease, bool revoked,
                            msg::Ticket ticket) {
  ensure(!slot.memory, "memory that is on lease is not the tensor's");
  // planted: revoked memory goes back to the tensor
  if (!revoked) {
    ensure(lease.memory.has_value(), "a lease gives back what it took");
    if (auto* const observer = environment().gate.observer())
      observer->takes_back(self().id(), ticket, lease.bytes);
    slot.memory = std::exchange(lease.memory, std::nullopt);
    lease.bytes = {};
    return;
  }
  // The memory stays with the holder, which may be writing to it; no one else uses it.
  slot.revoked = true;
  set_tag(
      slot,
      Error(ErrorKind::invalid_state,
            "the tensor was destroyed while it was on lease, and its contents went with the lease")
          .with_object(slot.name()),
      ticket);
}

DeviceState::Course DeviceState::carry_out(const msg::op::Release& o, msg::Ticket ticket) {
  auto& slot = *o.tensor;
  slot.memory.reset();
  slot.constant.reset();
  slot.tag.reset();
  tell(std::exchange(slot.actor, nullptr), msg::tensor_became{ticket, msg::Released{}});
  return Course::over;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Fail& o, msg::Ticket ticket) {
  set_tags(o.outputs, o.error, ticket);
  failed(o.error, ticket);
  return Course::over;
}

DeviceState::Course DeviceState::carry_out(const msg::op::Fence& o, msg::Ticket) {
  if (const auto owner = context()) tell(owner, msg::fence_passed{o.id});
  return Course::over;
}

void DeviceState::set_tag(msg::TensorSlot& slot, const Error& error, msg::Ticket ticket) {
  slot.tag = error;
  tell(slot.actor, msg::tensor_became{ticket, msg::Errored{error}});
}

void DeviceState::set_tags(const msg::Tensors& tensors, const Error& error, msg::Ticket ticket) {
  for (const auto& tensor : tensors) set_tag(*tensor, error, ticket);
}

void DeviceState::clear_tag(msg::TensorSlot& slot, msg::Ticket ticket) {
  if (!slot.tag) return;
  slot.tag.reset();
  tell(slot.actor, msg::tensor_became{ticket, msg::Ready{}});
}

void DeviceState::failed(const Error& error, msg::Ticket ticket) {
  auto& counters = *environment().counters;
  count(error.ran() ? counters.failed : counters.not_run);
  const auto owner = context();
  if (!owner) {
    if (auto* const observer = environment().gate.observer())
      observer->unheard(self().id(), ticket, error);
    return;
  }
  // planted: a failure is told twice
  tell(owner, msg::operation_failed{ticket, error});
  if (error.root().kind() != ErrorKind::context_lost) return;
  gone_ = true;
  // Lose the context before this operation's permit is free, so that no call enters after it.
  const auto why = std::string("the device failed: ") + error.what();
  // planted: callers are let in after the device was lost
  environment().lose(LostReason::device_failed, why, self().id(), ticket);
  tell_urgently(owner, msg::actor_failed{why, false});
}

}  // namespace polychron::actors
