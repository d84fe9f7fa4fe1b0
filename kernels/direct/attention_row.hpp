// A row of an attention over a cache, and where its operands are. Outside the file of the loops,
// which is compiled several times.
#pragma once

#include <cstddef>

#include "polychron/float16.hpp"

namespace polychron::kernels::direct {

/// True for the number in a mask that hides a key: -infinity, or the lowest of float32.
inline bool is_hidden(float mask) { return mask < -1e30F; }
/// True for a score beside which a hidden key has no weight.
inline bool is_high(float score) { return score > -1e29F; }

/// `Cached` is the type of cached keys and values, float or float16.
template <class Cached>
struct AttentionRow {
  const float* q;
  const Cached *keys, *values;
  const float *fresh_keys, *fresh_values, *mask, *fresh_mask;
  std::size_t cached, fresh;  ///< keys from the first to the last one that the masks let through
  bool all;                   ///< these are all keys
  float* scores;              ///< scratch: of all keys
  float* result;
};

}  // namespace polychron::kernels::direct
