// The fields of a plain struct, for generic code such as printing and serialization.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "polychron/attribute_fields.hpp"

namespace polychron::msg {

namespace detail {

struct AnyField {
  template <class T>
  operator T() const;
};

/// Number of fields of an aggregate (a base class counts as one).
template <class T, class... Fields>
constexpr std::size_t arity() {
  if constexpr (requires { T{std::declval<Fields>()..., AnyField{}}; })
    return arity<T, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}

}  // namespace detail

/// Calls `f(field...)` with all fields of `value`. That is a plain aggregate of up to nine, or the
/// attributes of an operator with a base, whose fields are in a table.
template <class T, class F>
decltype(auto) with_fields(T& value, F&& f) {
  constexpr auto n = detail::arity<std::remove_const_t<T>>();
  static_assert(n <= 9, "extend the ladder");
  constexpr const auto& table = attribute_fields<std::remove_const_t<T>>;
  if constexpr (std::tuple_size_v < std::remove_cvref_t < decltype(table) >>> n) {
    return std::apply(
        [&](const auto&... field) -> decltype(auto) { return f(value.*field.member...); }, table);
  } else if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    auto& [a] = value;
    return f(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = value;
    return f(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = value;
    return f(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = value;
    return f(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = value;
    return f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = value;
    return f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = value;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = value;
    return f(a, b, c, d, e, g, h, i);
  } else {
    auto& [a, b, c, d, e, g, h, i, j] = value;
    return f(a, b, c, d, e, g, h, i, j);
  }
}

}  // namespace polychron::msg
