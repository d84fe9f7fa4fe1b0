// The tensor actor.
//
// Owns the life cycle of a tensor: its destruction, the pending replies, the lease that is out, and
// the error of its contents, which lanes report. Never touches the bytes: they live in the slot,
// which only lanes open.
// Invariants: a destroyed tensor has no pending reply, and all its leases are revoked; a query's
// answer is the error state at the query's turn. Ends when a lane has released the memory.
#pragma once

#include <list>
#include <vector>

#include "actors/actor.hpp"
#include "messages/slot.hpp"

namespace polychron::actors {

class TensorState : public Member<TensorState, tensor_actor> {
 public:
  static inline const char* name = "tensor";
  using Member::Member;
  /// Rejects pending replies; if the context is lost, with the reason of the loss.
  ~TensorState();

  void start(msg::TensorId id);
  void receive(msg::expect_of_tensor& m);
  void receive(const msg::tensor_answered& m);
  void receive(const msg::tensor_became& m);
  void receive(const msg::lease_ended& m);
  void receive(const msg::destroy_tensor& m);

 private:
  struct Owed {
    msg::Ticket ticket = 0;
    decltype(msg::expect_of_tensor::reply) reply;
  };

  void answer(Promise<void>& creation, const std::optional<Error>& error);
  void answer(msg::ErrorReply& query, const std::optional<Error>& error);
  void answer(msg::LeaseReply& grant, const std::optional<Error>& error);
  void answer(msg::ReadLoanGuard& read, const std::optional<Error>& error);

  void became(const msg::Ready&) { error_.reset(); }
  void became(const msg::Errored& outcome) { error_ = outcome.error; }
  void became(const msg::Invalid&);
  void became(const msg::Released&);

  /// Calls `tell_of(ticket)` before each rejection.
  template <class Tell>
  void end_replies(const Tell& tell_of, const Error& error) noexcept;

  msg::TensorId id_ = 0;
  bool destroyed_ = false;
  /// In the order of their tickets; they are requested and, with few exceptions, answered in it.
  std::list<Owed> owed_;
  std::optional<Error> error_;      ///< of the contents
  std::vector<msg::LeaseRef> out_;  ///< at most one, and those being returned
};

}  // namespace polychron::actors
