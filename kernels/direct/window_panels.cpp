#include "kernels/direct/window_panels.hpp"

#include <algorithm>
#include <vector>

#include "kernels/strides.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::direct {

namespace {

/// The weights, and their strides by output, input and tap, in floats.
struct Weights {
  const float* at;
  std::size_t output, input;
  std::vector<std::size_t> taps;
};

Weights weights_of(const WindowPanels& sizes, const Problem& problem) {
  const Slot& filter = problem.inputs[1];
  const auto order = ops::filter_axes(std::get<Conv2dAttributes>(problem.attributes).filter_layout);
  const auto steps = steps_of(filter);
  const auto step = [&](std::size_t axis) { return static_cast<std::size_t>(steps[order[axis]]); };
  Weights weights{filter.constant->as<float>().data(), step(0), step(1), {}};
  const std::size_t width = filter.descriptor.shape[order[3]];
  for (std::size_t tap = 0; tap < sizes.taps; ++tap)
    weights.taps.push_back(tap / width * step(2) + tap % width * step(3));
  return weights;
}

/// Packs a block of outputs, from `first` on, into a panel.
void fill(const WindowPanels& sizes, const Weights& weights, std::size_t first, std::size_t columns,
          float* panel) {
  const std::size_t outputs = std::min(sizes.block, sizes.outputs - first);
  const float* const from = weights.at + first * weights.output;
  for (std::size_t i = 0; i < filled_up(sizes.inputs); ++i)
    for (std::size_t tap = 0; tap < sizes.taps; ++tap) {
      const float* const at = from + i * weights.input + weights.taps[tap];
      float* const together = panel + (tap * filled_up(sizes.inputs) + i) * columns;
      const std::size_t count = i < sizes.inputs ? outputs : 0;
      for (std::size_t o = 0; o < count; ++o) together[o] = at[o * weights.output];
      std::fill(together + count, together + sizes.block, 0.0F);
    }
}

}  // namespace

KeptBytes window_panels(const WindowPanels& sizes, const Problem& problem) {
  auto bytes = Buffer::uninitialized(sizes.blocks() * sizes.column() * sizeof(float));
  float* const panels = bytes.as<float>().data();
  const Weights weights = weights_of(sizes, problem);
  for (std::size_t block = 0; block < sizes.blocks(); ++block) {
    const std::size_t first = block / most_columns * most_columns;
    const std::size_t columns = std::min(most_columns, sizes.blocks() - first) * sizes.block;
    fill(sizes, weights, block * sizes.block, columns,
         panels + first * sizes.column() + (block - first) * sizes.block);
  }
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

}  // namespace polychron::kernels::direct
