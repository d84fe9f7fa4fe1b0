// A row of a rotary embedding. Outside the file of the loops, which is compiled several times.
#pragma once

namespace polychron::kernels::direct {

struct RotatedRow {
  const float *a, *b;  ///< if both are one operand that interleaves them, it is `a`
  const float *cosines, *sines;
  float* result;  ///< no operand
};

}  // namespace polychron::kernels::direct
