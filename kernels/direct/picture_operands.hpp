// The operands of convolutions in our own loops: pictures in blocks of channels, or rows of larger
// ones.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

/// The Arguments, which outlive this object, and the floats between planes of channels.
struct PictureOperands {
  const Arguments& arguments;
  std::size_t in_plane, out_plane;

  /// Uses the distances in `planes` that are not 0; otherwise `in` and `out`.
  static PictureOperands of(const Arguments& arguments, const Planes& planes, std::size_t in,
                            std::size_t out) {
    return {arguments, planes.in == 0 ? in : planes.in / sizeof(float),
            planes.out == 0 ? out : planes.out / sizeof(float)};
  }

  const float* input(std::size_t index) const {
    return reinterpret_cast<const float*>(arguments.inputs[index]);
  }
  /// An operand of an Epilogue, from `offset` on. Null for input 0, which means that it is absent.
  const float* other(std::size_t index, std::size_t offset) const {
    return index == 0 ? nullptr : input(index) + offset;
  }
  float* result() const { return reinterpret_cast<float*>(arguments.outputs[0]); }
};

}  // namespace polychron::kernels::direct
