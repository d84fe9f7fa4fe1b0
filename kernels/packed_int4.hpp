// 4-bit integers, packed two to a byte, the first one in the low bits. Kernels unpack them to one
// byte each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "polychron/data_type.hpp"

namespace polychron::kernels {

/// Stand for the packed types where kernels name element types.
struct Int4 {};
struct Uint4 {};

/// Traits of an integer type: the C++ type that holds a value of it, and its range.
template <class Q>
struct IntegerTraits {
  using Value = Q;
  static constexpr bool packed = false;
  static constexpr Q least = std::numeric_limits<Q>::min();
  static constexpr Q most = std::numeric_limits<Q>::max();
};
template <>
struct IntegerTraits<Int4> {
  using Value = std::int8_t;
  static constexpr bool packed = true;
  static constexpr Value least = -8, most = 7;
};
template <>
struct IntegerTraits<Uint4> {
  using Value = std::uint8_t;
  static constexpr bool packed = true;
  static constexpr Value least = 0, most = 15;
};

/// The lowest 4 bits as a value, sign-extended if V is signed.
template <class V>
V from_nibble(unsigned bits) noexcept {
  const unsigned low = bits & 0x0fU;
  return static_cast<V>(std::is_signed_v<V> ? static_cast<int>(low ^ 8U) - 8
                                            : static_cast<int>(low));
}

/// Element `index` of packed bytes.
template <class V>
V nibble(const std::uint8_t* bytes, std::size_t index) noexcept {
  return from_nibble<V>(static_cast<unsigned>(bytes[index / 2]) >> index % 2 * 4);
}

/// Unpacks elements [first, first + count) from packed bytes.
template <class V>
void unpack(const std::uint8_t* bytes, std::size_t first, std::size_t count, V* values) noexcept {
  if (first % 2 != 0 && count > 0) {
    *values++ = nibble<V>(bytes, first++);
    --count;
  }
  bytes += first / 2;
  for (std::size_t i = 0; i < count / 2; ++i) {
    values[2 * i] = from_nibble<V>(bytes[i]);
    values[2 * i + 1] = from_nibble<V>(static_cast<unsigned>(bytes[i]) >> 4);
  }
  if (count % 2 != 0) values[count - 1] = from_nibble<V>(bytes[count / 2]);
}

/// Packs elements [first, first + count). Keeps the elements before `first`. Zeroes the rest of the
/// last byte, so pack later elements afterwards.
template <class V>
void pack(const V* values, std::size_t first, std::size_t count, std::uint8_t* bytes) noexcept {
  const auto low = [](V value) { return static_cast<unsigned>(value) & 0x0fU; };
  bytes += first / 2;
  if (first % 2 != 0 && count > 0) {
    *bytes = static_cast<std::uint8_t>((*bytes & 0x0fU) | low(*values++) << 4);
    ++bytes;
    --count;
  }
  for (std::size_t i = 0; i < count / 2; ++i)
    bytes[i] = static_cast<std::uint8_t>(low(values[2 * i]) | low(values[2 * i + 1]) << 4);
  if (count % 2 != 0) bytes[count / 2] = static_cast<std::uint8_t>(low(values[count - 1]));
}

/// Calls `f` with a value of the integer type or its stand-in; `otherwise` for any other type.
template <class F, class Otherwise>
auto with_integer(DataType type, const F& f, const Otherwise& otherwise) {
  switch (type) {
    case DataType::int8:
      return f(std::int8_t{});
    case DataType::uint8:
      return f(std::uint8_t{});
    case DataType::int32:
      return f(std::int32_t{});
    case DataType::uint32:
      return f(std::uint32_t{});
    case DataType::int4:
      return f(Int4{});
    case DataType::uint4:
      return f(Uint4{});
    default:
      return otherwise();
  }
}

}  // namespace polychron::kernels
