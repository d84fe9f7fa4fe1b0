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

/// The most operands of concat and results of split ("valid tensor count").
inline constexpr std::size_t max_tensor_count = 8192;

/// "Checking dimensions": the reason why `descriptor` is invalid, or nullopt. `strict` also refuses
/// types that the specification does not have.
std::optional<std::string> descriptor_problem(const OperandDescriptor& descriptor,
                                              bool strict = false);

/// "Bidirectionally broadcasting"; nullopt if the shapes do not broadcast.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// "Unidirectionally broadcastable".
bool broadcastable(const Shape& from, const Shape& to);

/// "Blockwise broadcasting": the ranks are the same, and each dimension of `from` divides that of
/// `to`.
bool blockwise_broadcastable(const Shape& from, const Shape& to);

/// True if each axis is less than `rank` and none occurs twice.
bool valid_axes(std::span<const std::uint32_t> axes, std::size_t rank);

}  // namespace polychron::ops
