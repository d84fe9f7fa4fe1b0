// Parts of graphs of 8-bit integers, as importers write them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/random.hpp"

namespace polychron::tests {

inline Shape shape_of(GraphMaker& maker, ops::ValueId x) {
  return maker.graph().values[x].descriptor.shape;
}

/// A constant of random bytes.
inline ops::ValueId random_bytes(GraphMaker& maker, DataType type, const Shape& shape,
                                 std::uint32_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(*element_count(shape));
  for (auto& x : bytes) x = static_cast<std::uint8_t>(random.pick(0, 255));
  const auto id = maker.constant(shape, bytes);
  maker.graph().values[id].descriptor.data_type = type;
  return id;
}

inline ops::ValueId cast_to(GraphMaker& maker, ops::ValueId x, DataType type) {
  return maker.node(ops::op("cast"), {x}, shape_of(maker, x), CastAttributes{type}, type);
}

/// x minus its zero point, as float32.
inline ops::ValueId difference(GraphMaker& maker, ops::ValueId x,
                               std::optional<ops::ValueId> zero) {
  auto wide = cast_to(maker, x, DataType::int32);
  if (zero)
    wide = maker.node(ops::op("sub"), {wide, cast_to(maker, *zero, DataType::int32)},
                      shape_of(maker, x), {}, DataType::int32);
  return cast_to(maker, wide, DataType::float32);
}

/// Elements [begin, end) along an axis.
inline ops::ValueId part_of(GraphMaker& maker, ops::ValueId x, std::size_t axis,
                            std::uint32_t begin, std::uint32_t end) {
  auto taken = shape_of(maker, x);
  SliceAttributes slice;
  slice.starts.assign(taken.size(), 0);
  slice.starts[axis] = begin;
  taken[axis] = end - begin;
  slice.sizes.assign(taken.begin(), taken.end());
  return maker.node(ops::op("slice"), {x}, taken, slice);
}

}  // namespace polychron::tests
