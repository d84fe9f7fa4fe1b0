#include "actors/tensor.hpp"

#include <cassert>

namespace polychron::actors {

tensor_actor::behavior_type TensorState::start(EnvironmentRef environment, msg::TensorRef slot,
                                               device_actor device) {
  enter(std::move(environment), "tensor");
  slot_ = std::move(slot);
  device_ = std::move(device);
  return {
      [this](const msg::create& m) { create(m); },
      [this](const msg::write& m) { write(m); },
      [this](const msg::read& m) { read(m); },
      [this](const msg::destroy_tensor& m) { destroy(m); },
      [this](const msg::allocated& m) { allocated(m); },
      [this](const msg::read_done& m) { read_done(m); },
      [this](const msg::errored& m) { errored(m); },
      [this](const msg::recovered& m) { recovered(m); },
      [this](const msg::released& m) { released(m); },
  };
}

TensorState::~TensorState() {
  if (environment_ref()) reject_pending(environment().lost->error());
}

void TensorState::create(const msg::create& m) {
  assert(!destroyed_ && !creation_);
  creation_ = *m.reply;
  tell(device_, msg::allocate{m.ticket, slot_, m.initial});
}

void TensorState::write(const msg::write& m) {
  assert(m.ticket != 0);
  if (destroyed_)
    tell(device_, msg::skip{m.ticket});
  else
    tell(device_, msg::write_bytes{m.ticket, slot_, m.bytes, m.label});
}

void TensorState::read(const msg::read& m) {
  assert(m.ticket != 0);
  if (destroyed_) {
    m.reply->reject(
        Error(ErrorKind::invalid_state, "the tensor is destroyed").with_object(slot_->name()));
    tell(device_, msg::skip{m.ticket});
    return;
  }
  const bool added = reads_.emplace(m.ticket, *m.reply).second;
  assert(added);
  static_cast<void>(added);
  tell(device_, msg::read_bytes{m.ticket, slot_});
}

void TensorState::destroy(const msg::destroy_tensor& m) {
  assert(!destroyed_);  // the context forgets a tensor before it sends this
  destroyed_ = true;
  reject_pending(
      Error(ErrorKind::invalid_state, "the tensor was destroyed").with_object(slot_->name()));
  tell(device_, msg::release{m.ticket, slot_});
  assert(reads_.empty());
}

void TensorState::allocated(const msg::allocated& m) { creation_.settle(*m.result); }

void TensorState::read_done(const msg::read_done& m) {
  const auto pending = reads_.find(m.ticket);
  if (pending == reads_.end()) return;  // rejected when the tensor was destroyed
  const auto reply = std::move(pending->second);
  reads_.erase(pending);
  reply.settle(std::move(**m.result));
}

void TensorState::errored(const msg::errored& m) { last_error_ = *m.error; }

void TensorState::recovered(const msg::recovered&) { last_error_ = nullptr; }

void TensorState::released(const msg::released&) {
  assert(destroyed_);
  self()->quit();
}

void TensorState::reject_pending(const Error& error) {
  creation_.reject(error);
  // A callback may come back to this actor, by message only: the table is not touched meanwhile.
  for (auto& [ticket, reply] : std::exchange(reads_, {}))
    reply.reject(error.with_operation("read", {}, ticket));
}

}  // namespace polychron::actors
