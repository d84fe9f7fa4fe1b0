#include "kernels/direct/window_panels.hpp"

#ifdef POLYCHRON_WIDE

#include <algorithm>

#include "kernels/strides.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::direct {

KeptBytes window_panels(const WindowPanels& sizes, const Problem& problem) {
  Buffer bytes(sizes.blocks() * sizes.column() * sizeof(float));
  float* const panels = bytes.as<float>().data();
  const Slot& filter = problem.inputs[1];
  const float* const weights = filter.constant->as<float>().data();
  const auto order = ops::filter_axes(std::get<Conv2dAttributes>(problem.attributes).filter_layout);
  const auto steps = steps_of(filter);
  const auto step = [&](std::size_t axis) { return static_cast<std::size_t>(steps[order[axis]]); };
  const std::size_t width = filter.descriptor.shape[order[3]];
  // Few inputs at a time, so that what is read of the filter and what is written stay near.
  for (std::size_t first = 0; first < sizes.outputs; first += most_columns * wide_floats) {
    const std::size_t outputs = std::min(most_columns * wide_floats, sizes.outputs - first);
    const std::size_t columns = (outputs + wide_floats - 1) / wide_floats * wide_floats;
    float* const panel = panels + first * sizes.column() / wide_floats;
    for (std::size_t begin = 0; begin < sizes.inputs; begin += wide_floats) {
      const std::size_t end = std::min(begin + wide_floats, sizes.inputs);
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = begin; i < end; ++i)
          for (std::size_t t = 0; t < sizes.taps; ++t)
            panel[(t * filled_up(sizes.inputs) + i) * columns + o] =
                weights[(first + o) * step(0) + i * step(1) + t / width * step(2) +
                        t % width * step(3)];
    }
  }
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

}  // namespace polychron::kernels::direct

#endif
