// Attentions that are one step (op_attention, op_cached_attention), and where operands lie in
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Elements from one head, row or column to the next; 0 if all share the same elements.
struct HeadSteps {
  std::vector<std::int64_t> heads;  ///< one for each dimension in front of the last two
  std::int64_t row = 0, column = 0;
};

/// Elements from the first one of an operand to the first one of head number `head`.
std::int64_t head_offset(const HeadSteps& steps, const Shape& head_shape, std::size_t head);

/// Computes softmax(scale * query x key + mask) x value for each head.
struct AttentionOperands {
  std::size_t heads = 1;  ///< product of all dimensions in front of the last two
  Shape head_shape;
  std::size_t queries, features, keys, value_features;
  float scale;
  bool masked;
  HeadSteps query;   ///< queries x features
  HeadSteps key;     ///< features x keys
  HeadSteps value;   ///< keys x value features
  HeadSteps mask;    ///< queries x keys
  HeadSteps result;  ///< queries x value features

  /// Elements from an operand's first element to the first one of head number `head`.
  std::int64_t offset(const HeadSteps& steps, std::size_t head) const {
    return head_offset(steps, head_shape, head);
  }
};

/// Reads a problem of op_attention. Its inputs are the two operands of the first matmul, the right
/// operand of the second one, and optionally the mask. Returns nullopt if our own loops do not take
/// it: on processors without AVX-512, with few queries, or with operands whose elements are
/// scattered.
std::optional<AttentionOperands> attention_operands(const Problem& problem);

/// Computes softmax(scale * q [kc kn] + [mc mn]) [vc; vn] for each group of heads.
struct CachedAttention {
  std::size_t groups = 1;  ///< product of all dimensions in front of the last two
  Shape group_shape;
  std::size_t rows, features;
  std::size_t cached, fresh;  ///< keys; without kn, vn and mn there are no fresh ones
  bool halves;                ///< cached keys and values are float16
  float scale;
  HeadSteps mask, fresh_mask;  ///< rows x keys
};

/// Reads a problem of op_cached_attention. Its inputs are float32, except that kc and vc may be
/// float16 where loops have its casts: q [..., rows, features]; kc and vc [..., cached, features];
/// mc, which broadcasts to [..., rows, cached] and has all cached keys. Then may come kn, vn and
/// mn, the same for fresh keys. Keys outside the first and the last one that a mask lets through
/// are not read, nor are their values. Returns nullopt if our own loops do not take it.
std::optional<CachedAttention> cached_attention(const Problem& problem);

}  // namespace polychron::kernels
