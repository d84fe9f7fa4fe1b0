// The constants that kernels and plans keep. Several of them may share one constant, which memory
// holds once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "ops/graph.hpp"

namespace polychron::kernels {

using Constants = std::vector<ops::ConstantBytes>;

inline std::size_t total_bytes(std::span<const ops::ConstantBytes> constants) noexcept {
  std::size_t bytes = 0;
  for (const auto& constant : constants) bytes += constant->size();
  return bytes;
}

inline void keep_each_once(Constants& constants) {
  std::sort(constants.begin(), constants.end());
  constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
}

}  // namespace polychron::kernels
