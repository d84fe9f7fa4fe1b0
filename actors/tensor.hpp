// The tensor actor.
//
// Owns the life cycle of a tensor: whether it is destroyed, the replies that are owed, the lease
// that is out, and the error that its contents carry, as the lanes told it. Never touches the
// bytes: they live in the slot, which only lanes open. Invariants: a destroyed tensor owes no reply
// and has no lease that is not revoked; what it says of its error is what the lanes had made of it
// by the turn of the question. Ends when a lane has released the memory.
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
  /// What a lost context owes is rejected with the reason of the loss.
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
  void answer(msg::Grant& grant, const std::optional<Error>& error);
  void answer(msg::ReadDebt& read, const std::optional<Error>& error);

  void became(const msg::Ready&) { error_.reset(); }
  void became(const msg::Errored& outcome) { error_ = outcome.error; }
  void became(const msg::Invalid&);
  void became(const msg::Released&);

  /// `tell_of(ticket)` comes before each.
  template <class Tell>
  void end_replies(const Tell& tell_of, const Error& error) noexcept;

  msg::TensorId id_ = 0;
  bool destroyed_ = false;
  /// In the order of their tickets, in which they are asked for and, but for a few, answered.
  std::list<Owed> owed_;
  std::optional<Error> error_;      ///< of the contents
  std::vector<msg::LeaseRef> out_;  ///< at most one, and such as are on their way back
};

}  // namespace polychron::actors
