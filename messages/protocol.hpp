// A protocol is a list of messages, and the type of the actors that accept exactly these.
#pragma once

#include <caf/all.hpp>
#include <type_traits>

namespace polychron::msg {

/// An actor that takes these messages and answers none of them: replies travel as promises.
template <class... Messages>
using Protocol = caf::typed_actor<caf::reacts_to<Messages>...>;

template <class... Messages>
struct MessageList {};

/// The messages of a protocol, as a list. Specialized on CAF's type, because clang 14 does not see
/// through the alias.
template <class P>
struct MessagesOf;
template <class... Messages>
struct MessagesOf<caf::typed_actor<
    caf::typed_mpi<caf::detail::type_list<Messages>, caf::output_tuple<void>>...>> {
  using type = MessageList<Messages...>;
};
template <class P>
using messages_of = typename MessagesOf<P>::type;

/// A message: a struct of this namespace that a protocol lists.
template <class T>
concept Message = std::is_class_v<T> && requires(const T* x) {
  is_message(x);
};
/// Found by argument-dependent lookup for types of this namespace only.
template <class T>
void is_message(const T*);

}  // namespace polychron::msg

/// Messages never leave the process, so CAF need not serialize them. (Calls and outcomes do leave
/// it: see messages/wire.hpp.)
template <polychron::msg::Message T>
struct caf::allowed_unsafe_message_type<T> : std::true_type {};
