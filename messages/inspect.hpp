// How messages are printed and serialised: one generic inspect() for every message struct, and
// Local<T> for what must never leave the process.
#pragma once

#include <caf/all.hpp>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "messages/stamp.hpp"

namespace polychron::msg {

/// A field that has meaning in this process only: a reply, a pointer to device memory, an actor. It
/// prints, by an overload of describe(const T&) found by argument-dependent lookup; writing it to a
/// network is an error, not a surprise.
template <class T>
struct Local {
  T value{};
  Local() = default;
  Local(T v) : value(std::move(v)) {}
  T& operator*() { return value; }
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

template <class T>
std::string printed(const Local<T>& field) {
  if constexpr (requires { describe(field.value); }) {
    return describe(field.value);
  } else if constexpr (requires { std::to_string(*field.value.begin()); }) {
    std::string text;
    for (const auto& x : field.value) text += (text.empty() ? "" : ", ") + std::to_string(x);
    return "[" + text + "]";
  } else {
    return "...";
  }
}

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, Local<T>& field) {
  if constexpr (std::same_as<Inspector, caf::detail::stringification_inspector>)
    return f(printed(field));
  else
    return caf::make_error(caf::sec::runtime_error, "this field never leaves its process");
}

/// Stamps print in one piece, and stay in the process like the operations that they order.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Stamp& stamp) {
  if constexpr (std::same_as<Inspector, caf::detail::stringification_inspector>)
    return f(describe(stamp));
  else
    return caf::make_error(caf::sec::runtime_error, "a stamp never leaves its process");
}

namespace detail {
struct AnyField {
  template <class T>
  operator T() const;
};
/// Number of fields of an aggregate.
template <class T, class... Fields>
constexpr std::size_t arity() {
  if constexpr (requires { T{std::declval<Fields>()..., AnyField{}}; })
    return arity<T, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}
}  // namespace detail

/// Message structs are plain aggregates of up to eight fields.
template <class Inspector, class T>
requires(std::is_aggregate_v<T> && !std::same_as<T, Stamp>) typename Inspector::result_type
    inspect(Inspector& f, T& x) {
  constexpr auto name = caf::meta::type_name(caf::type_name<T>::value);
  constexpr auto n = detail::arity<T>();
  static_assert(n <= 8, "extend the ladder");
  if constexpr (n == 0) {
    return f(name);
  } else if constexpr (n == 1) {
    auto& [a] = x;
    return f(name, a);
  } else if constexpr (n == 2) {
    auto& [a, b] = x;
    return f(name, a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = x;
    return f(name, a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = x;
    return f(name, a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = x;
    return f(name, a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = x;
    return f(name, a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = x;
    return f(name, a, b, c, d, e, g, h);
  } else {
    auto& [a, b, c, d, e, g, h, i] = x;
    return f(name, a, b, c, d, e, g, h, i);
  }
}

}  // namespace polychron::msg
