#include "actors/tensor.hpp"

#include <algorithm>
#include <iterator>

namespace polychron::actors {

void TensorState::start(msg::TensorId id) {
  id_ = id;
  msg::count(environment().counters->tensors);
}

template <class Tell>
void TensorState::end_replies(const Tell& tell_of, const Error& error) noexcept {
  const auto of = [&](const char* operation, msg::Ticket ticket) noexcept {
    try {
      return error.with_operation(operation, {}, ticket);
    } catch (...) {
      return error;  // no memory: give the bare error
    }
  };
  struct Reject {
    decltype(of)& told;
    msg::Ticket ticket;
    const Error& plain;
    void operator()(Promise<void>& creation) const { creation.reject(plain); }
    void operator()(msg::ErrorReply& query) const { query.reject(told("error", ticket)); }
    void operator()(msg::LeaseReply& grant) const {
      grant.lease->revoke();
      grant.reply.reject(told("export", ticket));
    }
    void operator()(msg::ReadLoanGuard& read) const {
      // If a lane is working on the read, the lane answers it.
      // planted: a destroyed tensor's read is not rejected
      if (read->claim()) read->answer(told("read", ticket));
    }
  };
  for (auto& [ticket, reply] : owed_) {
    tell_of(ticket);
    std::visit(Reject{of, ticket, error}, reply);
  }
  owed_.clear();
  // planted: leases of a destroyed tensor are not revoked
  for (const auto& lease : out_) lease->revoke();
  out_.clear();
}

TensorState::~TensorState() {
  end_replies([](msg::Ticket) {}, environment().lost->error());
  --environment().counters->tensors;
}

void TensorState::receive(msg::expect_of_tensor& m) {
  ensure(!destroyed_ && m.ticket != 0, "nothing is asked of a destroyed tensor");
  auto place = owed_.end();
  while (place != owed_.begin() && std::prev(place)->ticket >= m.ticket) --place;
  ensure(place == owed_.end() || place->ticket != m.ticket, "a ticket owes one reply");
  owed_.insert(place, {m.ticket, std::move(m.reply)});
}

void TensorState::receive(const msg::tensor_answered& m) {
  const auto owed = std::ranges::find(owed_, m.ticket, &Owed::ticket);
  if (owed == owed_.end()) return;  // rejected when the tensor was destroyed
  auto reply = std::move(owed->reply);
  owed_.erase(owed);
  std::visit([&](auto& to) { answer(to, m.error); }, reply);
}

void TensorState::answer(Promise<void>& creation, const std::optional<Error>& error) {
  creation.settle(error ? Result<void>(*error) : Result<void>());
}

void TensorState::answer(msg::ErrorReply& query, const std::optional<Error>&) {
  // planted: a query is answered with the error before
  query.resolve(error_);
}

void TensorState::answer(msg::LeaseReply& grant, const std::optional<Error>& error) {
  if (error) {
    grant.reply.reject(*error);
    return;
  }
  ensure(!destroyed_, "a destroyed tensor grants no lease");
  out_.push_back(grant.lease);
  grant.reply.resolve();
}

void TensorState::answer(msg::ReadLoanGuard&, const std::optional<Error>&) {}  // by the lane

void TensorState::receive(const msg::tensor_became& m) {
  std::visit([this](const auto& outcome) { became(outcome); }, m.outcome);
}

void TensorState::became(const msg::Invalid&) { ensure(false, "graphs become invalid"); }

void TensorState::became(const msg::Released&) {
  ensure(destroyed_ && owed_.empty(), "memory is released after the tensor was destroyed");
  // planted: a destroyed tensor stays in the context's table
  if (const auto owner = context()) tell(owner, msg::tensor_gone{id_});
  self().quit();
}

// planted: a tensor keeps the leases that came back
void TensorState::receive(const msg::lease_ended& m) { std::erase(out_, m.lease); }

void TensorState::receive(const msg::destroy_tensor& m) {
  ensure(!destroyed_, "a tensor is destroyed once");
  destroyed_ = true;
  // Not when the context ends: that is one event, reported once.
  end_replies(
      [&](msg::Ticket ticket) {
        if (auto* const observer = environment().gate.observer())
          observer->rejects(self().id(), ticket);
      },
      Error(ErrorKind::invalid_state, "the tensor was destroyed")
          .with_object(describe_object("tensor", m.label, id_)));
  ensure(owed_.empty() && out_.empty(), "a destroyed tensor owes no reply");
}

}  // namespace polychron::actors
