// Filters of 3x3, transformed for minimal filtering: one matrix for each element of a tile, packed
// in panels.
#pragma once

#include "base/kept_once.hpp"
#include "kernels/direct/filtered_tiles.hpp"

namespace polychron::kernels::direct {

/// Floats of all panels, including the padding of channels.
inline std::size_t panel_floats(const ConvolutionGeometry& picture, std::size_t elements) {
  return elements * picture.in_blocks() * picture.out_blocks() * picture.block * picture.block;
}

/// The panel for an element of the tile and the result's block `block`, which is even. The next
/// block, if there is one, is beside it in the panel.
inline const float* panel_of(const ConvolutionGeometry& picture, std::size_t elements,
                             const float* panels, std::size_t element, std::size_t block) {
  const std::size_t matrix = panel_floats(picture, elements) / elements;
  const std::size_t column = picture.in_blocks() * picture.block * picture.block;
  return panels + element * matrix + block * column;
}

/// Packs a filter with the dimensions outputs, inputs, height, width, for tiles of `results` by
/// `results`. Equal filters share memory.
KeptBytes filter_panels(const ConvolutionGeometry& picture, const Buffer& filter,
                        std::size_t results);

}  // namespace polychron::kernels::direct
