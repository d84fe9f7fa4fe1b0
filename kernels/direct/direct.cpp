#include "kernels/direct/direct.hpp"

#include <algorithm>

namespace polychron::kernels::direct {

std::optional<std::string> not_plain(const Problem& problem) {
  const auto plain = [](const Slot& slot) { return slot.lies_plain(); };
  if (!problem.post_ops.empty()) return "no post-operations";
  if (!std::ranges::all_of(problem.inputs, plain) || !std::ranges::all_of(problem.outputs, plain))
    return "plain layouts only";
  return std::nullopt;
}

}  // namespace polychron::kernels::direct
