#include "onnx/literal.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

[[noreturn]] void no_arithmetic(ElementType type) {
  unsupported("the importer does not calculate with values of type " +
              std::string(to_string(type)));
}

template <class To>
std::vector<To> elements(const Literal& literal) {
  std::vector<To> values;
  const bool known = visit_type(literal.type, [&]<class T>(T) {
    values.resize(literal.bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, literal.bytes.data() + i * sizeof(T), sizeof(T));
      if constexpr (std::is_class_v<T>) {
        values[i] = static_cast<To>(static_cast<double>(value));
      } else {
        values[i] = static_cast<To>(value);
      }
    }
  });
  if (!known) no_arithmetic(literal.type);
  return values;
}

/// The conversions of Cast. Where C++ leaves the result undefined, gives the nearest value of the
/// type.
template <class T, class From>
T convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
  }
  if constexpr (std::is_class_v<T>) {
    return T(static_cast<double>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// Converts to 4 bits, the low ones of an integer. Reals are rounded.
template <class From>
From narrowed(ElementType type, From value) {
  if constexpr (std::is_floating_point_v<From>) {
    return static_cast<From>(
        narrowed(type, std::int64_t{convert<std::int32_t>(std::nearbyint(value))}));
  } else {
    const auto bits = value & 15;
    return type == ElementType::int4 && bits > 7 ? bits - 16 : bits;
  }
}

template <class From>
Literal converted(ElementType type, const Shape& shape, const std::vector<From>& values) {
  if (count(shape) != values.size())
    malformed("a shape of " + std::to_string(count(shape)) + " elements for " +
              std::to_string(values.size()) + " values");
  Buffer bytes;
  const bool known = visit_type(type, [&]<class T>(T) {
    bytes = Buffer::uninitialized(values.size() * sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto from = values[i];
      if (type == ElementType::boolean) from = static_cast<From>(from != From{});
      if (is_packed(type)) from = narrowed(type, from);
      const auto value = convert<T>(from);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  if (!known) no_arithmetic(type);
  return make_literal(type, shape, std::move(bytes));
}

}  // namespace

std::size_t extent(const Shape& shape) noexcept {
  std::size_t elements = 1;
  for (const auto dimension : shape) {
    elements *= std::max(dimension, 1U);  // 2^31 by less than 2^32 at most
    if (elements > max_tensor_byte_length) return std::numeric_limits<std::size_t>::max();
  }
  return elements;
}

std::size_t count(const Shape& shape) noexcept {
  return std::ranges::find(shape, 0U) != shape.end() ? 0 : extent(shape);
}

std::size_t to_walk_through(const Literal& literal) noexcept {
  const auto elements = count(literal);
  return elements == 0 ? extent(literal.shape) : elements;
}

std::size_t checked_bytes(ElementType type, const Shape& shape) {
  const auto elements = count(shape);
  if (elements > max_tensor_byte_length)
    unsupported("shape " + to_string(shape) + " is above " +
                std::to_string(max_tensor_byte_length) + " bytes");
  if (elements == 0 && extent(shape) > max_calculated * 256)
    unsupported("an empty tensor of shape " + to_string(shape));
  return elements * element_size(type);
}

bool calculable(const Literal& literal) noexcept {
  return visit_type(literal.type, [](auto) {}) && count(literal) <= max_calculated;
}

std::vector<std::int64_t> integers(const Literal& literal) {
  if (is_real(literal.type))
    malformed("integers are expected, not values of type " + std::string(to_string(literal.type)));
  return elements<std::int64_t>(literal);
}

std::vector<double> reals(const Literal& literal) { return elements<double>(literal); }

Literal make_literal(ElementType type, const Shape& shape,
                     const std::vector<std::int64_t>& values) {
  return converted(type, shape, values);
}

Literal make_literal(ElementType type, const Shape& shape, const std::vector<double>& values) {
  return converted(type, shape, values);
}

Literal cast_literal(const Literal& literal, ElementType type) {
  if (literal.type == type) return literal;
  return is_real(literal.type) ? make_literal(type, literal.shape, reals(literal))
                               : make_literal(type, literal.shape, integers(literal));
}

Literal make_literal(ElementType type, const Shape& shape, Buffer bytes) {
  checked_bytes(type, shape);
  const auto owner = std::make_shared<const Buffer>(std::move(bytes));
  return {type, shape, owner, owner->bytes()};
}

Buffer share_bytes(const Literal& literal) {
  const auto address = reinterpret_cast<std::uintptr_t>(literal.bytes.data());
  if (literal.bytes.empty() || address % element_size(literal.type) != 0)
    return Buffer::copy_of(literal.bytes);
  // Constants are never written: the cast only serves Buffer's interface.
  return Buffer::adopt(const_cast<std::byte*>(literal.bytes.data()), literal.bytes.size(),
                       [owner = literal.owner](std::byte*, std::size_t) mutable { owner.reset(); });
}

Literal strided(const Literal& input, const Shape& shape, std::int64_t offset,
                const std::vector<std::int64_t>& strides) {
  const auto size = element_size(input.type);
  auto bytes = Buffer::uninitialized(checked_bytes(input.type, shape));
  const auto total = count(shape);
  std::vector<std::uint32_t> index(shape.size(), 0);
  std::int64_t from = offset;
  for (std::size_t to = 0; to < total; ++to) {
    std::memcpy(bytes.data() + to * size,
                input.bytes.data() + static_cast<std::size_t>(from) * size, size);
    for (auto d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return make_literal(input.type, shape, std::move(bytes));
}

Literal reshaped(const Literal& input, const Shape& shape) {
  checked_bytes(input.type, shape);
  if (count(shape) != count(input))
    malformed("cannot reshape " + to_string(input.shape) + " to " + to_string(shape));
  auto result = input;
  result.shape = shape;
  return result;
}

Literal concatenated(const std::vector<const Literal*>& parts, std::uint32_t axis,
                     const Shape& shape) {
  auto bytes = Buffer::uninitialized(checked_bytes(parts.front()->type, shape));
  const auto rows = count({shape.begin(), shape.begin() + axis});
  auto* to = bytes.size() == 0 ? nullptr : bytes.data();
  for (std::size_t row = 0; row < rows; ++row)
    for (const auto* part : parts) {
      const auto length = part->bytes.size() / rows;
      to = std::copy_n(part->bytes.data() + row * length, length, to);
    }
  return make_literal(parts.front()->type, shape, std::move(bytes));
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t stride = 1;  // unsigned: it may wrap around beside a dimension of 0
  for (auto d = shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= shape[d];
  }
  return strides;
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  auto strides = strides_of(from);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) strides[d] = 0;
  strides.insert(strides.begin(), to.size() - from.size(), 0);
  return strides;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const auto& longer = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  auto shape = longer;
  const auto lead = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    auto& dimension = shape[lead + d];
    if (dimension != shorter[d] && dimension != 1 && shorter[d] != 1)
      malformed("cannot broadcast " + to_string(a) + " and " + to_string(b));
    if (dimension == 1) dimension = shorter[d];
  }
  return shape;
}

}  // namespace polychron::onnx::detail
