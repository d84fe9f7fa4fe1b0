// The logarithm of softmax, without its underflow.
#pragma once

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

inline Term log_softmax(const Term& x, std::uint32_t axis) {
  const auto shifted = x - x.reduce(&GraphBuilder::reduce_max, {axis}, true);
  return shifted - shifted.reduce(&GraphBuilder::reduce_log_sum_exp, {axis}, true);
}

}  // namespace polychron::onnx::detail
