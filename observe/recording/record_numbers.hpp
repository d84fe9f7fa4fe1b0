// The numbers of kinds in records. People read their names (names.hpp); code compares these.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "messages/observer.hpp"

namespace polychron::recording {

namespace detail {
template <class T, class... Ts>
constexpr std::uint32_t index_in(std::type_identity<std::variant<Ts...>>) {
  std::uint32_t index = 0;
  (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
  return index;
}
template <class T, class V>
constexpr std::uint32_t counted_from_one() {
  constexpr auto index = index_in<T>(std::type_identity<V>{});
  static_assert(index < std::variant_size_v<V>);
  return index + 1;
}
}  // namespace detail

/// Of a message: About::message, Handled::kind.
template <class Message>
constexpr std::uint32_t message_number =
    detail::counted_from_one<const Message*, msg::MessageView>() - 1;
/// Of a call, an operation or an outcome: About::what, Carried::operation. 0 stands for none.
template <class C>
constexpr std::uint32_t call_number = detail::counted_from_one<C, msg::Call>();
template <class O>
constexpr std::uint32_t operation_number = detail::counted_from_one<O, msg::Operation>();
template <class O>
constexpr std::uint32_t outcome_number = detail::counted_from_one<O, msg::Outcome>();

}  // namespace polychron::recording
