// op_rms_normalization: rows divided by the root of their mean square (Zhang, Sennrich: "Root Mean
// Square Layer Normalization", 2019), and its operands.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

struct RmsNormalization {
  std::size_t rows, count;  ///< `count` numbers of a row, which lie side by side
  double epsilon;
};

/// Reads a problem of op_rms_normalization. Its attributes are layerNormalization's, with the last
/// axis alone. Its inputs are float32: the rows, and an optional scale of each place in a row,
/// whose other dimensions are 1. Its result has the first input's shape. Returns nullopt if our own
/// loops do not take it.
std::optional<RmsNormalization> rms_normalization(const Problem& problem);

}  // namespace polychron::kernels
