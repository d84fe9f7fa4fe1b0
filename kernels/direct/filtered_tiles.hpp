// The transforms of a picture's tiles, in blocks of channels, to the products and back: see
// kernels/direct/minimal_filtering.cpp.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/direct/convolution_geometry.hpp"
#include "kernels/direct/panel_product.hpp"
#include "kernels/direct/tile_transforms.hpp"
#include "kernels/epilogue.hpp"

namespace polychron::kernels::direct {

/// The most tiles that are computed together.
inline constexpr std::size_t most_tiles = 4 * any_rows;

/// Tiles of `results` by `results` in all pictures of a batch.
inline std::size_t tiles_of(const ConvolutionGeometry& picture, std::size_t results) {
  const auto along = [&](std::size_t extent) { return (extent + results - 1) / results; };
  return picture.batch * along(picture.y.out) * along(picture.x.out);
}

/// The elements of a transformed tile.
constexpr std::size_t elements_of(std::size_t results) { return (results + 2) * (results + 2); }

/// The work on some tiles, for some blocks of the result's channels.
struct TileWork {
  std::size_t results;  ///< of a tile along one dimension: 2 or 4
  const ConvolutionGeometry& picture;
  const Epilogue& epilogue;
  const float* input;
  const float* filter;  ///< untransformed: outputs, inputs, height, width
  const float* bias;    ///< null if there is none
  const float* added;   ///< null if there is none
  float* output;
  std::size_t first_tile, count;  ///< at most most_tiles
  std::size_t first_block, last_block;
  float* tiles;                          ///< blocks by element, block of channels, tile
  float* products;                       ///< the same for blocks of the result's channels
  std::array<bool, most_tiles> special;  ///< tiles with numbers too large to transform

  /// True if any tile is not special. Special tiles need no products.
  bool any_ordinary() const {
    return !std::all_of(special.begin(), special.begin() + static_cast<std::ptrdiff_t>(count),
                        [](bool is) { return is; });
  }
  float* product_of(std::size_t element, std::size_t block, std::size_t tile) const {
    return products +
           ((element * (last_block - first_block) + block - first_block) * count + tile) *
               picture.block;
  }
};

// Both need has_fused_vectors().
/// Fills `tiles` from the picture, and sets `special`.
void transform_tiles(TileWork& work);
/// Transforms `products` into the result. Computes special tiles directly from the picture.
void finish_tiles(const TileWork& work);

}  // namespace polychron::kernels::direct
