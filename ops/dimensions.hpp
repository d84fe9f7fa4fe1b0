// The specification's checks of shapes, and broadcasting.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "polychron/descriptor.hpp"

namespace polychron::ops {

/// "Valid dimension": above zero and in the range of `long`.
constexpr bool valid_dimension(std::uint64_t size) noexcept {
  return size > 0 && size <= std::uint64_t{std::numeric_limits<std::int32_t>::max()};
}

// -- symbols ------------------------------------------------------------------------------------
// While a graph is built, a dimension of a shape may be a symbol, which stands for the size that a
// dispatch gives it. A symbol is a number above every size, so shapes carry it as they are. Equal
// symbols are equal sizes. The checks have three answers: sizes are equal, they differ, or nobody
// knows before the dispatch. Rules refuse a call only if they know.

constexpr bool is_symbol(std::uint32_t dimension) noexcept {
  return dimension > std::uint32_t{std::numeric_limits<std::int32_t>::max()};
}
/// The result of a rule that computes with symbols: the builder gives it a symbol of its own.
inline constexpr std::uint32_t derived = std::numeric_limits<std::uint32_t>::max();

bool has_symbols(const Shape& shape);
/// The shape with 1, the least size, for each symbol.
Shape least(Shape shape);

/// True if the sizes are known to differ.
constexpr bool differ(std::uint32_t a, std::uint32_t b) noexcept {
  return a != b && !is_symbol(a) && !is_symbol(b);
}
/// True if the ranks differ, or two dimensions at the same place are known to.
bool differ(const Shape& a, const Shape& b);
/// True if the numbers of elements are known to differ.
bool counts_differ(const Shape& a, const Shape& b);

/// The most operands of concat and results of split ("valid tensor count").
inline constexpr std::size_t max_tensor_count = 8192;

/// "Checking dimensions": the reason why `descriptor` is invalid, or nullopt. `strict` also refuses
/// types that the specification does not have.
std::optional<std::string> descriptor_problem(const OperandDescriptor& descriptor,
                                              bool strict = false);

/// "Bidirectionally broadcasting"; nullopt if the shapes are known not to broadcast.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// "Unidirectionally broadcastable"; false if that is known to be wrong.
bool broadcastable(const Shape& from, const Shape& to);

/// "Blockwise broadcasting": the ranks are the same, and each dimension of `from` divides that of
/// `to`; false if that is known to be wrong.
bool blockwise_broadcastable(const Shape& from, const Shape& to);

/// True if each axis is less than `rank` and none occurs twice.
bool valid_axes(std::span<const std::uint32_t> axes, std::size_t rank);

}  // namespace polychron::ops
