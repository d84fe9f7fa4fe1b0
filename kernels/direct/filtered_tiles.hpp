// The transforms of a picture's tiles, in blocks of 16 channels, to the products and back: see
// kernels/direct/minimal_filtering.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/direct/convolution_geometry.hpp"
#include "kernels/direct/panel_product.hpp"
#include "kernels/direct/tile_transforms.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/problem.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// The most tiles that are computed together.
inline constexpr std::size_t most_tiles = 4 * most_rows;

/// Tiles of `results` by `results` in all pictures of a batch.
inline std::size_t tiles_of(const ConvolutionGeometry& picture, std::size_t results) {
  const auto along = [&](std::size_t extent) { return (extent + results - 1) / results; };
  return picture.batch * along(picture.y.out) * along(picture.x.out);
}

/// The work on some tiles, for some blocks of the result's channels.
template <std::size_t Results>
struct TileWork {
  using Transform = TileTransform<Results>;
  static constexpr std::size_t elements = Transform::size * Transform::size;

  const ConvolutionGeometry& picture;
  const Epilogue& epilogue;
  const float* input;
  const float* filter;  ///< untransformed: outputs, inputs, height, width
  const float* bias;    ///< null if there is none
  const float* added;   ///< null if there is none
  float* output;
  std::size_t first_tile, count;  ///< at most most_tiles
  std::size_t first_block, last_block;
  float* tiles;                          ///< vectors by element, block of channels, tile
  float* products;                       ///< the same for blocks of the result's channels
  std::array<bool, most_tiles> special;  ///< tiles with numbers too large to transform

  /// Fills `tiles` from the picture, and sets `special`.
  [[POLYCHRON_WIDE]] void transform_tiles();
  /// True if any tile is not special. Special tiles need no products.
  bool any_ordinary() const;
  /// Transforms `products` into the result. Computes special tiles directly from the picture.
  [[POLYCHRON_WIDE]] void finish() const;

 private:
  struct Place {
    std::size_t tile;  ///< number among those computed together
    std::size_t picture;
    std::ptrdiff_t y, x;  ///< of its first result
  };
  Place place_of(std::size_t tile) const;
  float* product_of(std::size_t element, std::size_t block, std::size_t tile) const {
    return products +
           ((element * (last_block - first_block) + block - first_block) * count + tile) *
               wide_floats;
  }
  [[POLYCHRON_WIDE]] void load(const Place& place, std::size_t block, Wide* values) const;
  [[POLYCHRON_WIDE]] void store(const Place& place, std::size_t block, const Wide* values) const;
  [[POLYCHRON_WIDE]] void convolve_plainly(std::span<const Place> places, std::size_t block) const;
  [[POLYCHRON_WIDE]] void add_windows(const Place& place, std::size_t block, std::size_t in_block,
                                      const Wide* weights) const;
};

extern template struct TileWork<2>;
extern template struct TileWork<4>;

}  // namespace polychron::kernels::direct

#endif
