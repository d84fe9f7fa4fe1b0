// The constants that kernels and plans keep. Several of them may share one constant, which memory
// holds once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ops/graph.hpp"

namespace polychron::kernels {

using Constants = std::vector<ops::ConstantBytes>;

inline std::size_t total_bytes(std::span<const ops::ConstantBytes> constants) noexcept {
  std::size_t bytes = 0;
  for (const auto& constant : constants) bytes += constant->size();
  return bytes;
}

/// The memory that a constant takes. Buffers of one place lend the same bytes: an importer makes
/// one for each graph of a model. Bytes of a device have no address; their Buffer stands for them.
using ConstantPlace = std::pair<const void*, std::size_t>;

inline ConstantPlace place_of(const Buffer& constant) noexcept {
  const void* const bytes = constant.data();
  return {bytes != nullptr ? bytes : &constant, constant.size()};
}

inline void keep_each_once(Constants& constants) {
  const auto place = [](const ops::ConstantBytes& constant) { return place_of(*constant); };
  std::ranges::sort(constants, {}, place);
  const auto same = [&](const auto& a, const auto& b) { return place(a) == place(b); };
  constants.erase(std::unique(constants.begin(), constants.end(), same), constants.end());
}

}  // namespace polychron::kernels
