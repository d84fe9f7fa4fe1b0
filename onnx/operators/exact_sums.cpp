#include "onnx/operators/exact_sums.hpp"

#include <cstdlib>

#include "onnx/importer.hpp"

namespace polychron::onnx::detail {

std::vector<std::uint32_t> equal_parts(std::uint32_t length, std::uint32_t step) {
  std::vector<std::uint32_t> ends;
  for (std::uint32_t end = step; end < length; end += step) ends.push_back(end);
  ends.push_back(length);
  return ends;
}

std::vector<std::int64_t> known_sizes(Node& node, std::size_t weights, std::size_t zero,
                                      bool zero_per_row) {
  const Literal* const known = node.literal(weights);
  const Literal* const points = node.has_input(zero) ? node.literal(zero) : nullptr;
  // Many nodes may read the same weights, so this work is bounded in total.
  if (known == nullptr || !node.importer.affords_bytes(count(*known)) ||
      (node.has_input(zero) && points == nullptr))
    return {};
  std::vector<std::int64_t> sizes = integers(*known);
  const std::vector<std::int64_t> zeros = points ? integers(*points) : std::vector<std::int64_t>{0};
  const std::size_t channels = zero_per_row ? known->shape.front() : known->shape.back();
  if (sizes.empty() || (zeros.size() != 1 && zeros.size() != channels)) return {};
  const std::size_t row = sizes.size() / channels;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t channel = zero_per_row ? i / row : i % channels;
    sizes[i] = std::abs(sizes[i] - zeros[zeros.size() == 1 ? 0 : channel]);
  }
  return sizes;
}

}  // namespace polychron::onnx::detail
