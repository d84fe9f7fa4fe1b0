// Values as bytes, for whatever leaves the process or stays on disk: records, calls, outcomes. One
// generic walk over plain values; nobody lists fields. Whole numbers are LEB128 (seven bits a byte,
// the lowest first; signed ones zigzag), texts and lists have their length before them.
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
#include <string_view>
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

/// Texts and other bytes in one piece.
template <class T>
concept Bytes = Sequence<T> && std::same_as<typename T::value_type, char>;

constexpr std::size_t longest_number = 10;

/// The walk that writes. `Out` is derived from it, and takes what is written: `byte(std::byte)`,
/// `raw(const void*, std::size_t)`.
template <class Out>
class Writing {
 public:
  template <class T>
  void operator()(const T& value) {
    if constexpr (Coded<T>) {
      Codec<T>::write(out(), value);
    } else if constexpr (std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      out().raw(&value, sizeof value);
    } else if constexpr (std::is_signed_v<T>) {
      const auto bits = static_cast<std::uint64_t>(value);
      number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    } else if constexpr (std::is_integral_v<T>) {
      number(value);
    } else if constexpr (Bytes<T> || std::same_as<T, std::string_view>) {
      number(value.size());
      out().raw(value.data(), value.size());
    } else if constexpr (Sequence<T>) {
      number(value.size());
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
    number(value.index());
    std::visit([this](const auto& alternative) { (*this)(alternative); }, value);
  }
  void operator()(std::monostate) {}
  template <class Clock, class Duration>
  void operator()(const std::chrono::time_point<Clock, Duration>& time) {
    (*this)(static_cast<std::int64_t>(time.time_since_epoch().count()));
  }

 private:
  Out& out() { return static_cast<Out&>(*this); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out().byte(static_cast<std::byte>(value | 0x80U));
    out().byte(static_cast<std::byte>(value));
  }
};

class Writer : public Writing<Writer> {
 public:
  std::vector<std::byte> bytes;
  bool contents = true;  ///< of tensors and constants; if not, how many bytes these are

  void byte(std::byte byte) { bytes.push_back(byte); }
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
      const auto bit = number();
      if (bit > 1) malformed();
      value = bit != 0;
    } else if constexpr (std::is_enum_v<T>) {
      const auto which = number();
      if (which >= Enumeration<T>::count) malformed();
      value = static_cast<T>(which);
    } else if constexpr (std::is_floating_point_v<T>) {
      std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    } else if constexpr (std::is_integral_v<T>) {
      const auto bits = number();
      const auto whole = std::is_signed_v<T> ? (bits >> 1U) ^ (~(bits & 1U) + 1) : bits;
      value = static_cast<T>(whole);
      if (static_cast<std::uint64_t>(value) != whole) malformed();
    } else if constexpr (Bytes<T> || std::same_as<T, std::string_view>) {
      const auto text = raw(length());
      value = T(reinterpret_cast<const char*>(text.data()), text.size());
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
  /// A whole number, in the fewest bytes that it fits into.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < longest_number; ++i) {
      const auto byte = static_cast<std::uint64_t>(raw(1).front());
      if (i > 0 && (byte == 0 || (i == longest_number - 1 && byte > 1))) malformed();
      value |= (byte & 0x7FU) << (7 * i);
      if (byte < 0x80) return value;
    }
    malformed();
  }

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
