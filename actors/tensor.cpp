#include "actors/tensor.hpp"

#include <cassert>

namespace polychron::actors {

namespace {

/// Takes the entry of `ticket` out of a table of pending replies, if it is still there: it is not
/// once the tensor has been destroyed.
template <class T>
std::optional<T> take(std::map<msg::Ticket, T>& pending, msg::Ticket ticket) {
  const auto entry = pending.extract(ticket);
  if (entry.empty()) return std::nullopt;
  return std::move(entry.mapped());
}

}  // namespace

tensor_actor::behavior_type TensorState::start(EnvironmentRef environment, msg::TensorRef slot,
                                               std::vector<device_actor> devices,
                                               caf::actor_addr context) {
  enter(std::move(environment), std::move(context));
  count(this->environment().counters->tensors);
  slot_ = std::move(slot);
  devices_ = std::move(devices);
  return {
      [this](const msg::create& m) { create(m); },
      [this](const msg::read& m) { read(m); },
      [this](const msg::query& m) { query(m); },
      [this](const msg::lend& m) { lend(m); },
      [this](const msg::destroy_tensor& m) { destroy(m); },
      [this](const msg::allocated& m) { allocated(m); },
      [this](const msg::read_done& m) { read_done(m); },
      [this](const msg::query_done& m) { query_done(m); },
      [this](const msg::lent& m) { lent(m); },
      [this](const msg::released& m) { released(m); },
  };
}

TensorState::~TensorState() {
  if (!environment_ref()) return;
  reject_pending(environment().lost->error());
  --environment().counters->tensors;
}

Error TensorState::destroyed_error() const {
  return Error(ErrorKind::invalid_state, "the tensor was destroyed").with_object(slot_->name());
}

void TensorState::create(const msg::create& m) {
  assert(!destroyed_ && !creation_);
  creation_ = *m.reply;
  tell(device(m.stamp), msg::allocate{m.stamp, slot_});
}

void TensorState::read(const msg::read& m) {
  assert(!destroyed_);
  reads_.emplace(m.stamp.ticket, PendingRead{*m.loan, std::nullopt});
  tell(device(m.stamp), msg::read_bytes{m.stamp, slot_, m.loan});
}

void TensorState::query(const msg::query& m) {
  assert(!destroyed_);
  queries_.emplace(m.stamp.ticket, *m.reply);
  tell(device(m.stamp), msg::query_tag{m.stamp, slot_});
}

void TensorState::lend(const msg::lend& m) {
  assert(!destroyed_);
  leases_.emplace(m.stamp.ticket, PendingLease{*m.lease, *m.reply});
  tell(device(m.stamp), msg::lend_memory{m.stamp, slot_, m.lease});
}

void TensorState::destroy(const msg::destroy_tensor& m) {
  assert(!destroyed_);
  destroyed_ = true;
  reject_pending(destroyed_error());
  // Only now: a read that waits for a lease must not see what the holder wrote.
  for (const auto& rent : *m.rents) {
    rent.lease->ended = true;
    tell(devices_[rent.at.lane], msg::end_lease{rent.at.turn});
  }
  tell(device(m.stamp), msg::release{m.stamp, slot_});
  assert(queries_.empty() && leases_.empty());
}

void TensorState::allocated(const msg::allocated& m) { creation_.settle(*m.result); }

void TensorState::read_done(const msg::read_done& m) {
  const auto pending = take(reads_, m.ticket);
  if (!pending) return;
  if (pending->rejected) pending->loan->content.error = pending->rejected;
  pending->loan->answer();
}

void TensorState::query_done(const msg::query_done& m) {
  if (const auto reply = take(queries_, m.ticket)) reply->resolve(*m.error);
}

void TensorState::lent(const msg::lent& m) {
  const auto pending = take(leases_, m.ticket);
  if (!pending) return;
  if (*m.result) lease_ = *m.lease;
  pending->reply.settle(*m.result);
}

void TensorState::released(const msg::released&) {
  assert(destroyed_);
  if (const auto owner = context()) tell(owner, msg::tensor_gone{slot_->id});
  self()->quit();
}

void TensorState::reject_pending(const Error& error) {
  creation_.reject(error);
  // Callbacks may call the library, which comes back as messages: the tables stay as they are.
  for (auto& [ticket, read] : std::exchange(reads_, {})) {
    const auto rejection = error.with_operation("read", {}, ticket);
    if (read.loan->claim()) {
      read.loan->answer(rejection);
    } else {
      // The device is filling the buffer at this moment: it comes back with read_done, or when the
      // device lets go of it.
      read.rejected = rejection;
      reads_.emplace(ticket, std::move(read));
    }
  }
  for (auto& [ticket, reply] : std::exchange(queries_, {}))
    reply.reject(error.with_operation("error", {}, ticket));
  for (auto& [ticket, pending] : std::exchange(leases_, {})) {
    pending.lease->revoke();
    pending.reply.reject(error.with_operation("export", {}, ticket));
  }
  if (const auto lease = std::exchange(lease_, nullptr)) lease->revoke();
}

}  // namespace polychron::actors
