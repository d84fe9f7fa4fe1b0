// op_rotary_embedding: pairs of numbers a and b become a * cosine - b * sine and a * sine + b *
// cosine (Su et al.: "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021).
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

struct RotaryEmbedding {
  Shape rows;         ///< of `pairs` pairs each; the dimensions in front of the last one
  std::size_t pairs;  ///< of a row, whose angles lie side by side
  bool together;      ///< all numbers a and b are one operand, which lies as the result does
  bool interleaved;   ///< b follows its a; otherwise all of a row's b follow all of its a
};

/// Reads a problem of op_rotary_embedding. Its inputs are float32: a and b [..., pairs], or one of
/// [..., 2 * pairs] that has both; then cosines and sines, which have one shape that broadcasts to
/// [..., pairs], and all pairs. Its result is [..., 2 * pairs]. Its attribute is ConcatAttributes:
/// the axis along which the halves of the result, [..., pairs], were joined. The last one makes
/// halves of a row, the one behind it interleaves. Returns nullopt if our own loops do not take it.
std::optional<RotaryEmbedding> rotary_embedding(const Problem& problem);

}  // namespace polychron::kernels
