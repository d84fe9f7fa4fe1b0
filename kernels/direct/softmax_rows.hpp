// Rows of an attention's scores, made weights of.
#pragma once

#include <cstddef>

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// What is added to scores before they are weights.
struct Mask {
  const float* numbers = nullptr;  ///< or none
  std::size_t row_step = 0;        ///< floats from a row to the next; 0: all have the same
  bool each_key = false;           ///< a number for each key, one after the other; else one for all
};

/// softmax(scale * scores + mask) of `rows` rows of `count` numbers, `step` floats from one to the
/// next, where they are. Each row is computed alike, whichever are with it.
void soften_rows(float* scores, std::size_t step, std::size_t rows, std::size_t count, float scale,
                 const Mask& mask);

}  // namespace polychron::kernels::direct

#endif
