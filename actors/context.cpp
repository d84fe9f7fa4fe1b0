// The context actor: its device actors, and the calls on tensors.
#include "actors/context.hpp"

#include "actors/reply_of.hpp"
#include "actors/tensor.hpp"
#include "messages/device.hpp"

namespace polychron::actors {

Result<ContextState::TensorEntry*> ContextState::find_tensor(msg::TensorId id) {
  const auto tensor = tensors_.find(id);
  if (tensor == tensors_.end())
    return Error(ErrorKind::invalid_state, "the tensor is destroyed")
        .with_object(describe_object("tensor", {}, id));
  auto& entry = tensor->second;
  for (const auto& lease_entry : entry.leases)
    if (lease_entry.lease->mode == LeaseMode::fail)
      return Error(ErrorKind::invalid_state, "the tensor is on lease")
          .with_object(entry.slot->name());
  return &entry;
}

void ContextState::start(DeviceActors&& spawned) {
  // Before anything that may fail, so that these end with this actor.
  device_actors_ = std::move(spawned);
  if (auto failure = environment().failures.attach(self().address().address()))
    tell_urgently(caf::actor_cast<context_actor>(self().address().ctrl()), std::move(*failure));
  order_.emplace(environment_ref());
  for (const auto& lane : device_actors_.lanes) tell(lane, msg::meet{device_actors_.lanes});
}

void ContextState::receive(msg::submit& m) {
  // A call may still be in the mail when its context has gone: it is not carried out.
  if (environment().find_lost() && !std::holds_alternative<msg::DestroyContext>(m.call)) return;
  if (auto* const observer = environment().gate.observer()) observer->takes(self().id(), m);
  std::visit([&](auto& c) { call(c, m.local); }, m.call);
}

void ContextState::call(msg::CreateTensor& c, msg::LocalPart& local) {
  ensure(!tensors_.contains(c.tensor), "a tensor's number is given once");
  const auto slot = std::make_shared<msg::TensorSlot>();
  slot->id = c.tensor;
  slot->label = std::move(c.label);
  slot->bytes = static_cast<std::size_t>(c.bytes);
  slot->actor = spawn<TensorState>(c.tensor);
  auto& entry = tensors_.emplace(c.tensor, TensorEntry{slot->actor, slot, {slot.get(), {}, {}}, {}})
                    .first->second;
  auto stamp = order_->stamp_write<msg::op::Allocate>(entry.uses, entry.slot->bytes);
  tell(entry.actor, msg::expect_of_tensor{stamp.ticket, std::move(reply_of<Promise<void>>(local))});
  issue<msg::op::Allocate>(std::move(stamp), std::move(local.permit), slot, std::move(c.constant));
}

void ContextState::call(msg::WriteTensor& c, msg::LocalPart& local) {
  auto found = find_tensor(c.tensor);
  // Another thread has destroyed it since the caller checked, or it is on lease in LeaseMode::fail.
  // The lease's holder keeps the tensor.
  std::optional<Error> error;
  if (!found) error = found.error();
  // With AdmissionPolicy::fail the caller does not wait for a lease either.
  else if (c.payload->meeting && !(*found)->leases.empty() &&
           environment().admission->policy() == AdmissionPolicy::fail)
    error = Error(ErrorKind::quota_exceeded,
                  "its bytes do not fit under the memory limit while the tensor is on lease")
                .with_object((*found)->slot->name());
  if (error) {
    msg::count(environment().counters->not_run);
    const auto refused = error->with_operation("write", c.label).not_run();
    local.permit.give_back();
    // A caller that still waits gets the error, and reports it like any thrown error.
    if (c.payload->meeting)
      c.payload->meeting->finish(refused);
    else
      observe(refused, 0);
    return;
  }
  auto& entry = **found;
  issue<msg::op::Write>(order_->stamp_write<msg::op::Write>(entry.uses), std::move(local.permit),
                        entry.slot, std::move(c.payload), std::move(c.label),
                        msg::Conditions{c.deadline, std::move(local.cancellation)});
}

void ContextState::call(const msg::ReadTensor& c, msg::LocalPart& local) {
  auto& loan = reply_of<msg::ReadRef>(local);
  auto found = find_tensor(c.tensor);
  if (!found) {
    local.permit.give_back();
    if (loan->claim()) loan->answer(found.error().with_operation("read"));
    return;
  }
  auto& entry = **found;
  auto stamp = order_->stamp_read<msg::op::Read>(entry.uses, entry.slot->bytes);
  tell(entry.actor, msg::expect_of_tensor{stamp.ticket, loan});
  issue<msg::op::Read>(std::move(stamp), std::move(local.permit), entry.slot, std::move(loan));
}

void ContextState::call(const msg::QueryError& c, msg::LocalPart& local) {
  auto& reply = reply_of<msg::ErrorReply>(local);
  auto found = find_tensor(c.tensor);
  if (!found) {
    local.permit.give_back();
    reply.reject(found.error().with_operation("error"));
    return;
  }
  auto& entry = **found;
  auto stamp = order_->stamp_read<msg::op::Query>(entry.uses);
  tell(entry.actor, msg::expect_of_tensor{stamp.ticket, std::move(reply)});
  issue<msg::op::Query>(std::move(stamp), std::move(local.permit), entry.slot);
}

void ContextState::call(const msg::LendTensor& c, msg::LocalPart& local) {
  auto& grant = reply_of<msg::LeaseReply>(local);
  auto found = find_tensor(c.tensor);
  if (!found) {
    local.permit.give_back();
    grant.reply.reject(found.error().with_operation("export"));
    return;
  }
  auto& entry = **found;
  auto stamp = order_->stamp_write<msg::op::Lend>(entry.uses);
  auto lease = grant.lease;
  entry.leases.push_front({c.lease, lease, stamp.at});
  tell(entry.actor, msg::expect_of_tensor{stamp.ticket, std::move(grant)});
  issue<msg::op::Lend>(std::move(stamp), std::move(local.permit), entry.slot, std::move(lease));
}

void ContextState::call(const msg::ReturnLease& c, msg::LocalPart&) {
  const auto tensor = tensors_.find(c.tensor);
  if (tensor == tensors_.end()) return;  // revoked meanwhile
  auto& entry = tensor->second;
  entry.leases.remove_if([&](const LeaseEntry& lease_entry) {  // unless it was refused
    if (lease_entry.id != c.lease) return false;
    tell(entry.actor, msg::lease_ended{lease_entry.lease});
    // planted: a returned lease is taken for a revoked one
    end(lease_entry, false);
    // planted: a context keeps the leases that came back
    return true;
  });
}

void ContextState::end(const LeaseEntry& lease_entry, bool revoked) {
  // Ahead of the operations that wait for it, and of later questions.
  tell_urgently(device_actors_.lanes[lease_entry.at.lane],
                msg::end_lease{lease_entry.at.turn, revoked});
}

void ContextState::call(const msg::DestroyTensor& c, msg::LocalPart&) {
  const auto tensor = tensors_.find(c.tensor);
  if (tensor == tensors_.end()) return;  // destroying twice is legal
  auto& entry = tensor->second;
  // The tensor's actor first: it rejects replies and revokes leases before the lane goes on.
  tell(entry.actor, msg::destroy_tensor{entry.slot->label});
  // planted: leases of a destroyed tensor do not end
  for (const auto& lease_entry : entry.leases) end(lease_entry, true);
  // planted: a destroyed tensor is forgotten, and its memory is not released
  issue<msg::op::Release>(order_->stamp_write<msg::op::Release>(entry.uses), {}, entry.slot);
  ending_tensors_.emplace(c.tensor, std::move(entry.actor));
  tensors_.erase(tensor);
}

}  // namespace polychron::actors
