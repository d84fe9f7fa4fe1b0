// Numbers of any type, and the specification's "casting" of one to a data type.
#pragma once

#include <cstddef>
#include <vector>

#include "polychron/attributes.hpp"
#include "polychron/data_type.hpp"

namespace polychron::ops {

/// `number` cast to `type`: for a float type it is rounded (and held as a double); for an integer
/// type it is clamped to the range, then rounded to nearest even, and NaN gives 0.
Number cast(const Number& number, DataType type) noexcept;

/// Casts the numeric options to `type`, the operand's type. They may become infinite.
void cast_options(Attributes& attributes, DataType type) noexcept;

/// The bytes of `number` cast to `type`: one element.
std::vector<std::byte> element_bytes(const Number& number, DataType type);

/// True if `a` is greater than `b`: exact for all types; false if either is NaN.
bool greater(const Number& a, const Number& b) noexcept;

/// Calls `f` with a value of the C++ type of `type`: for packed types, the type that holds a single
/// element.
template <class F>
auto with_element(DataType type, F&& f) {
  switch (type) {
    case DataType::float32:
      return f(float{});
    case DataType::float16:
      return f(float16{});
    case DataType::int32:
      return f(std::int32_t{});
    case DataType::uint32:
      return f(std::uint32_t{});
    case DataType::int64:
      return f(std::int64_t{});
    case DataType::uint64:
      return f(std::uint64_t{});
    case DataType::int8:
    case DataType::int4:
      return f(std::int8_t{});
    case DataType::uint8:
    case DataType::uint4:
      break;
  }
  return f(std::uint8_t{});
}

}  // namespace polychron::ops
