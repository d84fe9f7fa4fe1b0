// A value or an Error: the argument of callbacks, and the result of functions that must not throw.
#pragma once

#include <utility>
#include <variant>

#include "polychron/error.hpp"

namespace polychron {

/// Either a T or an Error. (C++20 has no std::expected yet.)
template <class T>
class [[nodiscard]] Result {
 public:
  /// A success.
  Result(T value) : data_(std::in_place_index<0>, std::move(value)) {}
  /// A failure.
  Result(Error error) : data_(std::in_place_index<1>, std::move(error)) {}

  /// True for a success.
  bool has_value() const noexcept { return data_.index() == 0; }
  /// has_value()
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; throws the Error if there is none.
  T& value() & { return check(), std::get<0>(data_); }
  /// The same, read-only.
  const T& value() const& { return check(), std::get<0>(data_); }
  /// The same, to move it out.
  T&& value() && { return check(), std::get<0>(std::move(data_)); }
  /// The same as value(); throws the Error if there is none.
  T& operator*() & { return value(); }
  /// The same as value(); throws the Error if there is none.
  const T& operator*() const& { return value(); }
  /// The same as value(); throws the Error if there is none.
  T&& operator*() && { return std::move(*this).value(); }
  /// A member of value(); throws the Error if there is none.
  T* operator->() { return &value(); }
  /// A member of value(); throws the Error if there is none.
  const T* operator->() const { return &value(); }

  /// The error. Throws std::bad_variant_access if has_value().
  const Error& error() const { return std::get<1>(data_); }

 private:
  void check() const {
    if (!has_value()) throw Error(std::get<1>(data_));
  }
  std::variant<T, Error> data_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  /// A success.
  Result() = default;
  /// A failure.
  Result(Error error) : data_(std::move(error)) {}

  /// True for a success.
  bool has_value() const noexcept { return data_.index() == 0; }
  /// has_value()
  explicit operator bool() const noexcept { return has_value(); }
  /// Throws the error if there is one.
  void value() const {
    if (!has_value()) throw Error(std::get<1>(data_));
  }
  /// The error. Throws std::bad_variant_access if has_value().
  const Error& error() const { return std::get<1>(data_); }

 private:
  std::variant<std::monostate, Error> data_;
};

}  // namespace polychron
