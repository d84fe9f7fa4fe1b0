// Values that are known at import: initializers, Constant nodes, and values calculated from them
// and from shapes. The importer calculates with small ones; large ones pass through unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onnx/element_type.hpp"
#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx::detail {

/// A tensor on the host. Copies share the immutable bytes, which `owner` keeps alive. Invariant:
/// bytes.size() is element_size(type) times the number of elements. Unlike operands, literals may
/// have dimensions of 0 and types that WebNN does not know.
struct Literal {
  ElementType type = ElementType::undefined;
  Shape shape;
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// The most elements of a result that the importer calculates; the graph calculates larger ones.
inline constexpr std::size_t max_calculated = 1U << 16;

/// The number of elements with dimensions of 0 counted as 1, which bounds the work of a loop over
/// it. The largest size_t if it is more than any tensor has.
std::size_t extent(const Shape& shape) noexcept;
/// The number of elements; the largest size_t if it is more than any tensor has.
std::size_t count(const Shape& shape) noexcept;
/// Its number of elements; if that is 0, its extent.
std::size_t to_walk_through(const Literal& literal) noexcept;
/// The bytes of a literal of this type and shape. Throws if there are too many elements for a
/// tensor, or if an empty literal has an excessive extent.
std::size_t checked_bytes(ElementType type, const Shape& shape);
inline std::size_t count(const Literal& literal) noexcept { return count(literal.shape); }

/// True if the importer calculates with its type, and it is small enough.
bool calculable(const Literal& literal) noexcept;

/// The elements. Throws if the type is real, or not calculable.
std::vector<std::int64_t> integers(const Literal& literal);
/// The elements, with integers converted. Throws if the type is not calculable.
std::vector<double> reals(const Literal& literal);

/// A new literal; values are converted to `type` as ONNX's Cast does. Throws if the type is not
/// calculable, or the shape has another number of elements.
Literal make_literal(ElementType type, const Shape& shape, const std::vector<std::int64_t>& values);
Literal make_literal(ElementType type, const Shape& shape, const std::vector<double>& values);

/// The same values in another type, converted as ONNX's Cast does. Throws if a type is not
/// calculable.
Literal cast_literal(const Literal& literal, ElementType type);

/// A literal that owns `bytes`. Throws as checked_bytes() does.
Literal make_literal(ElementType type, const Shape& shape, Buffer bytes);

/// Bytes for GraphBuilder::constant(): shared with the literal where alignment allows.
Buffer share_bytes(const Literal& literal);

// -- moving elements about: any type that has a size ----------------------------------------------

/// The result's element at index i is `input`'s at `offset` + sum of i[d] * strides[d]. All of
/// these positions must lie within `input`.
Literal strided(const Literal& input, const Shape& shape, std::int64_t offset,
                const std::vector<std::int64_t>& strides);
/// The same elements in another shape with the same number of elements.
Literal reshaped(const Literal& input, const Shape& shape);
/// Concatenates literals along `axis`; `shape` is that of the result. The literals agree in type,
/// and in shape except along the axis.
Literal concatenated(const std::vector<const Literal*>& parts, std::uint32_t axis,
                     const Shape& shape);
/// Row-major strides of `shape`, in elements.
std::vector<std::int64_t> strides_of(const Shape& shape);
/// Strides that read `from` as if it had shape `to`, to which it can be broadcast.
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);
/// The common shape of a numpy-style broadcast. Throws if there is none.
Shape broadcast_shape(const Shape& a, const Shape& b);

}  // namespace polychron::onnx::detail
