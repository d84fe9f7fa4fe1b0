// How a message gets into a mailbox: it is made there. The large ones, a call or an operation with
// its footprint, would cost more to move than to handle.
#pragma once

#include <caf/all.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include "messages/shared/tap.hpp"

namespace polychron::actors {

/// Stands for what `make` returns: a T that is initialized from it is made in its place.
template <class Make>
struct MadeInPlace {
  const Make& make;
  // NOLINTNEXTLINE(google-explicit-constructor): that is what it is for
  operator std::invoke_result_t<const Make&>() const { return make(); }
};

/// Who sends, if it is an actor.
struct Sender {
  caf::actor_id id = 0;
  caf::execution_unit* host = nullptr;
};

/// Sends what `make()` returns, and never blocks: a dead receiver drops the message, and what it
/// carries. No sender stands in the message: nobody answers by CAF's means, and to count those who
/// hold the sender would cost both threads a cache line.
template <class Receiver, class Make>
void mail(const Receiver& receiver, caf::message_priority priority, const Sender& from,
          const msg::Tap& tap, const Make& make) {
  using Message = std::invoke_result_t<const Make&>;
  static_assert(caf::response_type<typename Receiver::signatures, Message>::valid,
                "a message of the receiver's protocol");
  auto* const target = caf::actor_cast<caf::abstract_actor*>(receiver);
  auto* const element = new caf::mailbox_element_vals<Message>(
      nullptr, caf::make_message_id(priority), {}, MadeInPlace<Make>{make});
  caf::mailbox_element_ptr owned(element);
  if (auto* const observer = tap.observer(); observer != nullptr) [[unlikely]]
    observer->sent(from.id, target->id(), &std::as_const(std::get<0>(element->data())));
  target->enqueue(std::move(owned), from.host);
}

}  // namespace polychron::actors
