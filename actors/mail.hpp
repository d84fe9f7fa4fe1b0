// Constructs messages in their mailbox element. Moving a large one, such as a call or an operation
// with its footprint, would cost more than handling it.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "messages/shared/logical_clock.hpp"
#include "messages/shared/observer_gate.hpp"

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

/// An entry of a mailbox: CAF's mailbox_element_vals, and the logical time of its sending, which is
/// 0 if nobody recorded that.
template <class Message>
class Envelope final : public caf::mailbox_element,
                       public caf::detail::tuple_vals_impl<caf::type_erased_tuple, Message> {
  using Values = caf::detail::tuple_vals_impl<caf::type_erased_tuple, Message>;

 public:
  template <class Make>
  Envelope(caf::message_priority priority, const Make& make)
      : mailbox_element(nullptr, caf::make_message_id(priority), {}),
        Values(MadeInPlace<Make>{make}) {}

  caf::type_erased_tuple& content() override { return *this; }
  const caf::type_erased_tuple& content() const override { return *this; }
  caf::message move_content_to_message() override {
    return caf::make_message(std::move(std::get<0>(this->data())));
  }
  caf::message copy_content_to_message() const override {
    return caf::make_message(std::get<0>(this->data()));
  }
  /// When `content` was sent; 0 if it is in no envelope: an embedder has made it.
  static msg::LogicalTime sent(const caf::type_erased_tuple& content) noexcept {
    if (typeid(content) != typeid(Envelope)) return 0;
    return static_cast<const Envelope&>(content).time;
  }

  msg::LogicalTime time = 0;
};

/// A message that is made: to send it needs no memory. No sender stands in it: nobody answers by
/// CAF's means, and to count those who hold the sender would cost both threads a cache line.
template <class Message>
class Letter {
 public:
  /// A message with the result of `make()`.
  template <class Make>
  Letter(caf::message_priority priority, const Make& make)
      : element_(new Envelope<Message>(priority, make)) {}

  /// Sends it; call it once. Never blocks. A dead receiver drops the message and its content.
  template <class Receiver>
  void send(const Receiver& receiver, const Sender& from, const msg::ObserverGate& gate) {
    static_assert(caf::response_type<typename Receiver::signatures, Message>::valid,
                  "a message of the receiver's protocol");
    auto* const target = caf::actor_cast<caf::abstract_actor*>(receiver);
    if (auto* const observer = gate.observer(); observer != nullptr) [[unlikely]] {
      observer->sent(from.id, target->id(), &std::as_const(std::get<0>(element_->data())));
      element_->time = msg::logical_clock();
    }
    target->enqueue(caf::mailbox_element_ptr(element_.release()), from.host);
  }

 private:
  std::unique_ptr<Envelope<Message>, caf::detail::disposer> element_;
};

/// Sends the result of `make()`.
template <class Receiver, class Make>
void mail(const Receiver& receiver, caf::message_priority priority, const Sender& from,
          const msg::ObserverGate& gate, const Make& make) {
  Letter<std::invoke_result_t<const Make&>>(priority, make).send(receiver, from, gate);
}

}  // namespace polychron::actors
