// An attention that is one step (op_attention), and where its operands lie.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Elements from one to the next; 0: it is the same for all.
struct HeadSteps {
  std::vector<std::int64_t> heads;  ///< for each dimension in front of the last two
  std::int64_t row = 0, column = 0;
};

/// softmax(scale * query x key + mask) x value, of each head.
struct AttentionOperands {
  std::size_t heads = 1;  ///< of all dimensions in front of the last two
  Shape head_shape;
  std::size_t queries, features, keys, value_features;
  float scale;
  bool masked;
  HeadSteps query;   ///< queries x features
  HeadSteps key;     ///< features x keys
  HeadSteps value;   ///< keys x value features
  HeadSteps mask;    ///< queries x keys
  HeadSteps result;  ///< queries x value features

  /// Elements from an operand's first to the first of this head's.
  std::int64_t offset(const HeadSteps& steps, std::size_t head) const;
};

/// Of a problem of op_attention, whose inputs are the two operands of the first matmul, the right
/// one of the second, and perhaps the mask. nullopt where it is not for loops of our own: on
/// processors without AVX-512, of a few queries only, or where what they read lies scattered.
std::optional<AttentionOperands> attention_operands(const Problem& problem);

}  // namespace polychron::kernels
