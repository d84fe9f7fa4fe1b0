// Turns rows of an attention's scores into weights.
#pragma once

#include <cstddef>

namespace polychron::kernels::direct {

/// The numbers to add to scores before the softmax.
struct Mask {
  const float* numbers = nullptr;  ///< null if there is no mask
  std::size_t row_step = 0;        ///< floats from a row to the next; 0: all rows share one
  bool each_key = false;           ///< true: a number for each key; false: one for all
};

/// Computes softmax(scale * scores + mask) in place, of `rows` rows of `count` numbers, `step`
/// floats apart. A row's result does not depend on the rows computed with it.
void soften_rows(float* scores, std::size_t step, std::size_t rows, std::size_t count, float scale,
                 const Mask& mask);

}  // namespace polychron::kernels::direct
