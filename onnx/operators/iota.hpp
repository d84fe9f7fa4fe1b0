// Positions along an axis, as constants.
#pragma once

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// 0, 1, ... along `axis` of a tensor of `rank` with dimensions of 1 elsewhere.
inline Term iota(Node& node, DataType type, std::size_t rank, std::size_t axis,
                 std::uint32_t length) {
  if (length > max_calculated * 16) unsupported("an axis of " + std::to_string(length));
  std::vector<std::int64_t> values(length);
  for (std::uint32_t i = 0; i < length; ++i) values[i] = i;
  Shape shape(rank, 1);
  shape[axis] = length;
  const bool narrow =
      type == DataType::int8 || type == DataType::uint8 || type == DataType::float16;
  if (narrow && length > 128)
    unsupported("positions up to " + std::to_string(length) + " in " +
                std::string(to_string(type)));
  const auto known = type == DataType::uint64 ? ElementType::int64 : element_type(type);
  return constant(node, known, shape, values).cast(type);
}

}  // namespace polychron::onnx::detail
