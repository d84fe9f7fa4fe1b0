// Values that are known at import: initializers, Constant nodes, and what follows from them and
// from shapes. The importer calculates with small ones; large ones pass through, their bytes
// untouched.
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

/// A tensor on the host. Copying shares the bytes, which nobody changes and `owner` keeps alive.
/// Invariant: bytes.size() is element_size(type) times the number of elements. Unlike operands,
/// literals may have dimensions of 0 and types that WebNN does not know.
struct Literal {
  ElementType type = ElementType::undefined;
  Shape shape;
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// What is calculated at import has at most so many elements; larger results are left to the graph.
inline constexpr std::size_t max_calculated = 1U << 16;

/// Number of elements if a dimension of 0 were 1: how much there is to walk through. The largest
/// number of all if it is more than any tensor has.
std::size_t extent(const Shape& shape) noexcept;
/// Number of elements; likewise.
std::size_t count(const Shape& shape) noexcept;
/// As many as it has; where it has none, its extent.
std::size_t to_walk_through(const Literal& literal) noexcept;
/// The bytes of a literal of this type and shape. Throws if no tensor has so many elements, or one
/// without any has other dimensions that nobody would walk through.
std::size_t checked_bytes(ElementType type, const Shape& shape);
inline std::size_t count(const Literal& literal) noexcept { return count(literal.shape); }

/// The importer can calculate with its type, and it is small enough.
bool calculable(const Literal& literal) noexcept;

/// The elements. Throws if the type is real, or not one to calculate with.
std::vector<std::int64_t> integers(const Literal& literal);
/// The elements, integers converted. Throws if the type is not one to calculate with.
std::vector<double> reals(const Literal& literal);

/// A new literal; values are converted to `type` as ONNX's Cast does. Throws if the type is not one
/// to calculate with, or the shape does not have as many elements.
Literal make_literal(ElementType type, const Shape& shape, const std::vector<std::int64_t>& values);
Literal make_literal(ElementType type, const Shape& shape, const std::vector<double>& values);

/// The same values in another type, as ONNX's Cast does. Throws likewise.
Literal cast_literal(const Literal& literal, ElementType type);

/// A literal that owns `bytes`. Throws as checked_bytes() does.
Literal make_literal(ElementType type, const Shape& shape, Buffer bytes);

/// Bytes for GraphBuilder::constant(): shared with the literal where alignment allows.
Buffer share_bytes(const Literal& literal);

// -- moving elements about: any type that has a size ----------------------------------------------

/// The element at index i of the result is that at `offset` + sum of i[d] * strides[d] of `input`.
/// All of these must lie within it.
Literal strided(const Literal& input, const Shape& shape, std::int64_t offset,
                const std::vector<std::int64_t>& strides);
/// The same elements in another shape of as many.
Literal reshaped(const Literal& input, const Shape& shape);
/// Literals one after another along `axis`: `shape` is the whole's. They agree in type, and in
/// shape elsewhere.
Literal concatenated(const std::vector<const Literal*>& parts, std::uint32_t axis,
                     const Shape& shape);
/// Row-major strides of `shape`, in elements.
std::vector<std::int64_t> strides_of(const Shape& shape);
/// Strides that read `from` as if it had shape `to`, to which it can be broadcast.
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);
/// The common shape of a numpy-style broadcast. Throws if there is none.
Shape broadcast_shape(const Shape& a, const Shape& b);

}  // namespace polychron::onnx::detail
