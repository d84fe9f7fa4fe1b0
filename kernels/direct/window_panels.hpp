// A convolution's filter in panels. For each pair of blocks of outputs, each tap of the window and
// each input, the weights of both blocks stand side by side.
#pragma once

#include "base/kept_once.hpp"
#include "kernels/direct/panel_product.hpp"
#include "kernels/problem.hpp"

namespace polychron::kernels::direct {

/// The most taps of a window that panels are made for.
inline constexpr std::size_t most_panel_taps = 128;

/// The sizes of panels.
struct WindowPanels {
  std::size_t taps, inputs, outputs;
  std::size_t block;  ///< channels of a block

  std::size_t blocks() const { return (outputs + block - 1) / block; }
  /// Floats of one block of outputs in a panel. tap() is the share of one tap.
  std::size_t column() const { return taps * tap(); }
  std::size_t tap() const { return filled_up(inputs) * block; }
};

/// Packs a convolution's constant filter. Padding of blocks is zero. Equal filters share memory.
KeptBytes window_panels(const WindowPanels& sizes, const Problem& problem);

}  // namespace polychron::kernels::direct
