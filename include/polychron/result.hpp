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
  Result(T value) : data_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : data_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return data_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; throws the error if there is none.
  T& value() & { return check(), std::get<0>(data_); }
  const T& value() const& { return check(), std::get<0>(data_); }
  T&& value() && { return check(), std::get<0>(std::move(data_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error; only if !has_value().
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
  Result() = default;
  Result(Error error) : data_(std::move(error)) {}

  bool has_value() const noexcept { return data_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  /// Throws the error if there is one.
  void value() const {
    if (!has_value()) throw Error(std::get<1>(data_));
  }
  const Error& error() const { return std::get<1>(data_); }

 private:
  std::variant<std::monostate, Error> data_;
};

}  // namespace polychron
