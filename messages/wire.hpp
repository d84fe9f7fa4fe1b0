// Calls and outcomes as bytes, for recordings on disk and other processes. One generic walk
// serializes all plain values; no code lists fields.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "messages/fields.hpp"
#include "polychron/result.hpp"

namespace polychron::msg::wire {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

/// The codec of a type that is not a plain value: `write(Writer&, const T&)` and `read(Reader&,
/// T&)`.
template <class T>
struct Codec;

/// The number of values of an enumeration, `count`: its values are 0 to count - 1. Every serialized
/// enumeration needs one.
template <class E>
struct Enumeration;

template <class T>
concept Coded = requires {
  sizeof(Codec<T>);
};
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept Sequence = requires(T& x) {
  x.push_back(std::declval<typename T::value_type>());
  x.size();
};

class Writer {
 public:
  std::vector<std::byte> bytes;
  bool contents = true;  ///< write the bytes of tensors and constants; false: only their number

  template <class T>
  void operator()(const T& value) {
    if constexpr (Coded<T>) {
      Codec<T>::write(*this, value);
    } else if constexpr (Scalar<T>) {
      raw(&value, sizeof value);
    } else if constexpr (Sequence<T>) {
      (*this)(std::uint64_t{value.size()});
      for (const auto& element : value) (*this)(element);
    } else {
      with_fields(value, [this](const auto&... fields) { ((*this)(fields), ...); });
    }
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class A, class B>
  void operator()(const std::pair<A, B>& value) {
    (*this)(value.first);
    (*this)(value.second);
  }
  template <class... Ts>
  void operator()(const std::variant<Ts...>& value) {
    (*this)(static_cast<std::uint16_t>(value.index()));
    std::visit([this](const auto& alternative) { (*this)(alternative); }, value);
  }
  void operator()(std::monostate) {}
  template <class Clock, class Duration>
  void operator()(const std::chrono::time_point<Clock, Duration>& time) {
    (*this)(static_cast<std::int64_t>(time.time_since_epoch().count()));
  }
  void raw(const void* data, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

/// Reads the bytes of a Writer. Throws Error (bad_data) for any other bytes, and never allocates
/// more than the given bytes can fill.
class Reader {
 public:
  /// `most_zeros` bounds the zeros that stand for contents of which only the number was written.
  explicit Reader(std::span<const std::byte> bytes, std::uint64_t most_zeros = 0)
      : rest_(bytes), zeros_(most_zeros) {}

  template <class T>
  void operator()(T& value) {
    if constexpr (Coded<T>) {
      Codec<T>::read(*this, value);
    } else if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      (*this)(byte);
      if (byte > 1) malformed();
      value = byte != 0;
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      (*this)(number);
      if (number >= Enumeration<T>::count) malformed();
      value = static_cast<T>(number);
    } else if constexpr (Scalar<T>) {
      std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    } else if constexpr (Sequence<T>) {
      value.clear();
      for (auto left = length(); left > 0; --left) {
        typename T::value_type element{};
        (*this)(element);
        value.push_back(std::move(element));
      }
    } else {
      with_fields(value, [this](auto&... fields) { ((*this)(fields), ...); });
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    bool there = false;
    (*this)(there);
    if (there)
      (*this)(value.emplace());
    else
      value.reset();
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& value) {
    (*this)(value.first);
    (*this)(value.second);
  }
  template <class... Ts>
  void operator()(std::variant<Ts...>& value) {
    std::uint16_t index = 0;
    (*this)(index);
    if (index >= sizeof...(Ts)) malformed();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(((I == index && ((*this)(value.template emplace<I>()), true)) || ...));
    }
    (std::index_sequence_for<Ts...>{});
  }
  void operator()(std::monostate&) {}
  template <class Clock, class Duration>
  void operator()(std::chrono::time_point<Clock, Duration>& time) {
    std::int64_t count = 0;
    (*this)(count);
    time = std::chrono::time_point<Clock, Duration>(Duration(count));
  }
  /// The next `size` bytes.
  std::span<const std::byte> raw(std::size_t size) {
    if (size > rest_.size()) malformed();
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  /// The number of elements that follow, each of at least one byte.
  std::size_t length() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > rest_.size()) malformed();
    return static_cast<std::size_t>(size);
  }
  /// The number of zeros to stand for omitted contents.
  std::size_t zeros() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > zeros_) malformed();
    zeros_ -= size;
    return static_cast<std::size_t>(size);
  }
  bool done() const { return rest_.empty(); }

  [[noreturn]] static void malformed() {
    throw Error(ErrorKind::bad_data,
                "the bytes are malformed: they were not written by this codec");
  }

 private:
  std::span<const std::byte> rest_;
  std::uint64_t zeros_;
};

template <class T>
std::vector<std::byte> to_bytes(const T& value) {
  Writer writer;
  writer(value);
  return std::move(writer.bytes);
}

template <class T>
Result<T> from_bytes(std::span<const std::byte> bytes, std::uint64_t most_zeros = 0) {
  try {
    T value{};
    Reader reader(bytes, most_zeros);
    reader(value);
    if (!reader.done()) Reader::malformed();
    return value;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace polychron::msg::wire
