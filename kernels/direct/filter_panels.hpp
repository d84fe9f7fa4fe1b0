// Filters of 3x3, transformed for minimal filtering: for each element of a tile a matrix, in
// panels.
#pragma once

#include "base/kept_once.hpp"
#include "kernels/direct/filtered_tiles.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Floats of all panels, padding of channels included.
inline std::size_t panel_floats(const FilteredPicture& picture, std::size_t elements) {
  return elements * picture.in_blocks() * picture.out_blocks() * wide_floats * wide_floats;
}

/// Where the panel for an element of the tile begins that has the result's block `block`: an even
/// one, with its successor beside it if there is one.
inline const float* panel_of(const FilteredPicture& picture, std::size_t elements,
                             const float* panels, std::size_t element, std::size_t block) {
  const std::size_t matrix = panel_floats(picture, elements) / elements;
  const std::size_t column = picture.in_blocks() * wide_floats * wide_floats;
  return panels + element * matrix + block * column;
}

/// Of a filter that lies as outputs, inputs, height, width. In memory once if it is alike.
template <std::size_t Results>
KeptBytes filter_panels(const FilteredPicture& picture, const Buffer& filter);

}  // namespace polychron::kernels::direct

#endif
