// A convolution's filter in panels: for each pair of blocks of its outputs, for each tap of the
// window, for each input, the weights of up to 32 outputs side by side.
#pragma once

#include "base/kept_once.hpp"
#include "kernels/direct/panel_product.hpp"
#include "kernels/problem.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Taps of a window that panels are made for, at most.
inline constexpr std::size_t most_panel_taps = 128;

/// Sizes of panels.
struct WindowPanels {
  std::size_t taps, inputs, outputs;

  std::size_t blocks() const { return (outputs + wide_floats - 1) / wide_floats; }
  /// Floats of a block of outputs' share of a panel, and of that a tap's.
  std::size_t column() const { return taps * tap(); }
  std::size_t tap() const { return filled_up(inputs) * wide_floats; }
};

/// Of a convolution's constant filter. What fills blocks up is zero. In memory once if it is alike.
KeptBytes window_panels(const WindowPanels& sizes, const Problem& problem);

}  // namespace polychron::kernels::direct

#endif
