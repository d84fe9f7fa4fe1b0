// A value or an Error: what callbacks get and what functions return that must not throw.
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
  /// Likewise, to read.
  const T& value() const& { return check(), std::get<0>(data_); }
  /// Likewise, to move it away.
  T&& value() && { return check(), std::get<0>(std::move(data_)); }
  /// value(): throws, too.
  T& operator*() & { return value(); }
  /// value(): throws, too.
  const T& operator*() const& { return value(); }
  /// value(): throws, too.
  T&& operator*() && { return std::move(*this).value(); }
  /// Of value(): throws, too.
  T* operator->() { return &value(); }
  /// Of value(): throws, too.
  const T* operator->() const { return &value(); }

  /// The error; only if !has_value(), else std::bad_variant_access.
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
  /// The error; only if !has_value(), else std::bad_variant_access.
  const Error& error() const { return std::get<1>(data_); }

 private:
  std::variant<std::monostate, Error> data_;
};

}  // namespace polychron
