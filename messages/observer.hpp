// The interface of a recorder. The hooks of actors/actor.hpp and of the port pass everything that a
// context's actors send, receive and finish to an Observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "messages/compiler.hpp"
#include "messages/context.hpp"
#include "messages/device.hpp"
#include "messages/graph.hpp"
#include "messages/shared/logical_clock.hpp"
#include "messages/tensor.hpp"

namespace polychron::msg {

namespace detail {
template <class... Lists>
struct AllMessages;
template <class... Messages>
struct AllMessages<MessageList<Messages...>> {
  using View = std::variant<const Messages*...>;
};
template <class... As, class... Bs, class... Rest>
struct AllMessages<MessageList<As...>, MessageList<Bs...>, Rest...>
    : AllMessages<MessageList<As..., Bs...>, Rest...> {};
}  // namespace detail

/// Any message of any protocol, valid while the hook runs.
using MessageView = detail::AllMessages<messages_of<context_actor>, messages_of<device_actor>,
                                        messages_of<tensor_actor>, messages_of<graph_actor>,
                                        messages_of<compiler_actor>>::View;

/// CAF's number of an actor; 0 for a caller's thread.
using ActorId = std::uint64_t;

/// The reasons why a caller's thread waits.
enum class CallerWait : std::uint8_t { reply, permit };

/// Called on the sending or receiving thread, in the middle of its work: must not block, throw or
/// send. Several threads call it at once.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `kind` is for example "tensor"; `label` is the object's label, or empty.
  virtual void started(ActorId actor, const char* kind) noexcept = 0;
  virtual void ended(ActorId actor) noexcept = 0;
  /// Called before the receiver can have it.
  virtual void sent(ActorId from, ActorId to, const MessageView& message) noexcept = 0;
  /// Before its handler runs, and after. A handler may have moved from the message by then. `sent`:
  /// the sender's logical time, after that of sent(); 0 if nobody listened to that.
  virtual void received(ActorId by, const MessageView& message, LogicalTime sent) noexcept = 0;
  virtual void finished(ActorId by, const MessageView& message) noexcept = 0;
  /// A lane's operation has its turn: the lane now carries it out, or skips it for a reason.
  virtual void has_turn(ActorId lane, const carry_out& operation) noexcept = 0;
  /// A context is about to carry out a call, which it does only while it is not lost.
  virtual void takes(ActorId /*context*/, const submit& /*call*/) noexcept {}
  /// A lane is about to answer with these bytes or this error. It answers a read or a compute, or a
  /// write whose caller waited and that leaves the tensor as it was.
  virtual void answers(ActorId /*lane*/, Ticket /*ticket*/, const std::optional<Error>& /*error*/,
                       std::span<const Buffer> /*results*/) noexcept {}
  /// The actor of a destroyed tensor is about to reject its reply for the operation of `ticket`,
  /// unless a lane is working on it.
  virtual void rejects(ActorId /*tensor*/, Ticket /*ticket*/) noexcept {}
  /// The context is lost from now on. `by` reported it first: a lane in the operation of `ticket`,
  /// the context's actor, or a caller's thread.
  virtual void loses(ActorId /*by*/, Ticket /*ticket*/) noexcept {}
  /// From now on the context's events are not reported, for a while or for ever.
  virtual void left_out() noexcept {}
  /// The operation of `ticket` failed, and the context's actor is not there any more to be told.
  virtual void unheard(ActorId /*lane*/, Ticket /*ticket*/, const Error& /*error*/) noexcept {}
  /// A lane takes bytes that the caller of the operation of `ticket` has held until now: in memory
  /// that was lent, or of a write whose caller waits.
  virtual void takes_back(ActorId /*lane*/, Ticket /*ticket*/,
                          std::span<const std::byte> /*bytes*/) noexcept {}
  /// The operation is over, or goes on: as a lease, or, `submitted`, on the device until `executed`
  /// is received. Its message may be moved-from.
  virtual void carried_out(ActorId /*lane*/, Ticket /*ticket*/, bool /*submitted*/) noexcept {}
  /// The observer's time.
  virtual std::int64_t now() const noexcept { return 0; }
  /// The calling thread has waited, from the time `begun` on.
  virtual void waited(CallerWait /*why*/, std::int64_t /*begun*/) noexcept {}
  /// True if lanes should time each step of a plan, and report the times before the end.
  virtual bool wants_steps() const noexcept { return false; }
  virtual void steps_taken(ActorId /*lane*/, Ticket /*ticket*/, const GraphSlot& /*graph*/,
                           std::span<const double> /*seconds*/) noexcept {}
};

}  // namespace polychron::msg
