// Constructs messages in their mailbox element. Moving a large one, such as a call or an operation
// with its footprint, would cost more than handling it.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "messages/shared/tap.hpp"

namespace polychron::actors {

/// Converts to the result of `make`: a T initialized from it is constructed in its place.
template <class Make>
struct MadeInPlace {
  const Make& make;
  // NOLINTNEXTLINE(google-explicit-constructor): conversion is its purpose
  operator std::invoke_result_t<const Make&>() const { return make(); }
};

/// The sender, if it is an actor.
struct Sender {
  caf::actor_id id = 0;
  caf::execution_unit* host = nullptr;
};

/// A constructed message, so that sending needs no memory. It names no sender: no actor answers by
/// CAF's means, and counting references to the sender would cost both threads a cache line.
template <class Message>
class Letter {
 public:
  /// A message with the result of `make()`.
  template <class Make>
  Letter(caf::message_priority priority, const Make& make)
      : element_(new caf::mailbox_element_vals<Message>(nullptr, caf::make_message_id(priority), {},
                                                        MadeInPlace<Make>{make})) {}

  /// Sends it; call it once. Never blocks. A dead receiver drops the message and its content.
  template <class Receiver>
  void send(const Receiver& receiver, const Sender& from, const msg::Tap& tap) {
    static_assert(caf::response_type<typename Receiver::signatures, Message>::valid,
                  "a message of the receiver's protocol");
    auto* const target = caf::actor_cast<caf::abstract_actor*>(receiver);
    if (auto* const observer = tap.observer(); observer != nullptr) [[unlikely]]
      observer->sent(from.id, target->id(), &std::as_const(std::get<0>(element_->data())));
    target->enqueue(caf::mailbox_element_ptr(element_.release()), from.host);
  }

 private:
  std::unique_ptr<caf::mailbox_element_vals<Message>, caf::detail::disposer> element_;
};

/// Sends the result of `make()`.
template <class Receiver, class Make>
void mail(const Receiver& receiver, caf::message_priority priority, const Sender& from,
          const msg::Tap& tap, const Make& make) {
  Letter<std::invoke_result_t<const Make&>>(priority, make).send(receiver, from, tap);
}

}  // namespace polychron::actors
