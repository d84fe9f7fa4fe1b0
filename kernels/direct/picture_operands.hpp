// The operands of convolutions in our own loops.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

/// The Arguments, which outlive this object, as floats.
struct PictureOperands {
  const Arguments& arguments;

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
