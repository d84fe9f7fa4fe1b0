// A row of an attention over a cache, and where its operands are. Outside the file of the loops,
// which is compiled several times.
#pragma once

#include <cstddef>

namespace polychron::kernels::direct {

struct AttentionRow {
  const float *q, *keys, *values, *fresh_keys, *fresh_values, *mask, *fresh_mask;
  std::size_t cached, fresh;  ///< keys up to the last one that the masks let through
  float* scores;              ///< scratch: of all keys
  float* result;
};

}  // namespace polychron::kernels::direct
