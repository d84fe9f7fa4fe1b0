// 3x3 convolutions by minimal filtering (Winograd 1980; Lavin and Gray 2015), of pictures in blocks
// of channels. Tiles of the picture and the filters are transformed, multiplied element by
// element, and transformed back. The multiplication is one matrix product for each element of the
// tile. F(4x4, 3x3) takes 36 products for 16 results instead of 144, F(2x2, 3x3) 16 for 4 instead
// of 36.
//
// The transform sums a tile's numbers before it multiplies them. The error of a result is therefore
// relative to the largest number of its window times the largest of the filter, even if these two
// are never multiplied. With F(4x4, 3x3) it is relative to the largest number of the tile.
// Differences of infinities are NaN. Tiles with numbers too large for this are convolved directly.

#include "kernels/direct/direct.hpp"
#include "kernels/direct/filtered_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/direct/filter_panels.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels::direct {
namespace {

/// Bytes of transformed filters that stay in the processor's cache between several passes.
constexpr std::size_t near_filter = 8U * 1024 * 1024;

/// A part: the results of some tiles for some of their channels.
struct TileShare {
  std::size_t first_tile, last_tile;
  std::size_t first_block, last_block;
  std::size_t at_once;  ///< tiles whose transforms stay in cache together
  std::size_t scratch;  ///< where its memory begins, in floats
};

class MinimalFiltering final : public Kernel {
 public:
  /// Tiles have `results` by `results` results.
  MinimalFiltering(const ConvolutionGeometry& picture, const Epilogue& epilogue,
                   std::size_t results, KeptBytes panels)
      : picture_(picture), epilogue_(epilogue), results_(results), panels_(std::move(panels)) {
    const std::size_t tiles = tiles_of(picture, results), blocks = picture.out_blocks();
    const double operations = 2.0 * static_cast<double>(elements_ * tiles * picture.in_channels) *
                              static_cast<double>(picture.out_channels);
    // Divides the tiles if each part then has enough of them for each pass over the filter.
    // Otherwise divides the channels, so that a larger filter comes from memory only once.
    const bool near = panels_->size() <= near_filter;
    const bool by_tiles = tiles >= usual_parts * (near ? any_rows * 3 / 4 : most_tiles);
    const std::size_t pairs = (blocks + most_columns - 1) / most_columns;
    const std::size_t parts = parts_of(operations / operations_per_ns,
                                       by_tiles ? tiles : std::min(pairs, std::size_t{2}));
    for (std::size_t i = 0; i < parts; ++i) {
      const auto stretch = [&](std::size_t count, std::size_t k) { return count * k / parts; };
      TileShare share{0, tiles, 0, blocks, 0, scratch_floats_};
      if (by_tiles) {
        share.first_tile = stretch(tiles, i);
        share.last_tile = stretch(tiles, i + 1);
      } else {
        share.first_block = stretch(pairs, i) * most_columns;
        share.last_block = std::min(stretch(pairs, i + 1) * most_columns, blocks);
      }
      share.at_once = tiles_at_once(share, near);
      scratch_floats_ += share.at_once * tile_floats(share);
      shares_.push_back(share);
    }
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override { return scratch_floats_ * sizeof(float); }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<FilteringBound>(*this, arguments);
  }

 private:
  class FilteringBound final : public Bound {
   public:
    FilteringBound(const MinimalFiltering& kernel, const Arguments& arguments)
        : kernel_(kernel), arguments_(arguments) {}
    std::size_t parts() const noexcept override { return kernel_.parts(); }
    void run() override {
      for (std::size_t i = 0; i < parts(); ++i) run_part(i);
    }
    void run_part(std::size_t part) override { kernel_.compute(kernel_.shares_[part], arguments_); }

   private:
    const MinimalFiltering& kernel_;
    const Arguments& arguments_;
  };

  /// Floats for a tile's transform and its products, in one part.
  std::size_t tile_floats(const TileShare& share) const {
    return elements_ * picture_.block *
           (picture_.in_blocks() + share.last_block - share.first_block);
  }

  /// The tiles whose transforms fit into a core's own cache together. If the filter is not in
  /// cache, as many tiles as one pass over it can serve.
  std::size_t tiles_at_once(const TileShare& share, bool filter_is_near) const {
    const std::size_t own = (has_avx512() ? 800 : 320) * 1024 / sizeof(float);
    const std::size_t count = share.last_tile - share.first_tile;
    const std::size_t most =
        filter_is_near ? std::clamp<std::size_t>(own / tile_floats(share), any_rows / 2, most_tiles)
                       : most_tiles;
    const std::size_t rounds = (count + most - 1) / most;
    return (count + rounds - 1) / rounds;
  }

  void compute(const TileShare& share, const Arguments& arguments) const {
    const auto floats = [&](std::size_t input) {
      return reinterpret_cast<const float*>(arguments.inputs[input]);
    };
    const std::size_t blocks = share.last_block - share.first_block;
    for (std::size_t tile = share.first_tile; tile < share.last_tile; tile += share.at_once) {
      TileWork work{results_,
                    picture_,
                    epilogue_,
                    floats(0),
                    floats(1),
                    epilogue_.bias == 0 ? nullptr : floats(epilogue_.bias),
                    epilogue_.added == 0 ? nullptr : floats(epilogue_.added),
                    reinterpret_cast<float*>(arguments.outputs[0]),
                    tile,
                    std::min(share.at_once, share.last_tile - tile),
                    share.first_block,
                    share.last_block,
                    reinterpret_cast<float*>(arguments.scratch) + share.scratch,
                    nullptr,
                    {}};
      work.products = work.tiles + elements_ * picture_.in_blocks() * picture_.block * work.count;
      transform_tiles(work);
      if (work.any_ordinary())
        for (std::size_t e = 0; e < elements_; ++e) multiply(work, e, blocks);
      finish_tiles(work);
    }
  }

  void multiply(const TileWork& work, std::size_t element, std::size_t blocks) const {
    const std::size_t step = picture_.block * work.count;
    const float* const tiles = work.tiles + element * picture_.in_blocks() * step;
    float* const products = work.products + element * blocks * step;
    const std::size_t groups = (work.count + most_rows() - 1) / most_rows();
    const auto* const panels = reinterpret_cast<const float*>(panels_->data());
    for (std::size_t block = work.first_block; block < work.last_block; block += most_columns) {
      Tap tap{tiles, panel_of(picture_, elements_, panels, element, block)};
      PanelProduct product{.taps = {&tap, 1},
                           .row_step = picture_.block,
                           .left_step = step,
                           .times = 1,
                           .elements = picture_.in_blocks() * picture_.block,
                           .columns = std::min(most_columns, picture_.out_blocks() - block),
                           .result = products + (block - work.first_block) * step,
                           .result_step = step};
      PanelAhead ahead = ahead_of(work, element, block);
      for (std::size_t i = 0, done = 0; i < groups; ++i) {
        const std::size_t rows = work.count * (i + 1) / groups - done;
        product.fetch = ahead.share(product.fours(), 1, groups - i);
        product.next_left = i + 1 < groups ? tap.left + rows * picture_.block : tiles;
        multiply_rows(product, rows);
        tap.left += rows * picture_.block;
        product.result += rows * picture_.block;
        done += rows;
      }
    }
  }

  /// The panel that is multiplied after this one; nothing after the last.
  PanelAhead ahead_of(const TileWork& work, std::size_t element, std::size_t block) const {
    block += most_columns;
    if (block >= work.last_block) {
      block = work.first_block;
      if (++element == elements_) return {nullptr, 0};
    }
    const std::size_t columns = std::min(most_columns, picture_.out_blocks() - block);
    const auto* const panels = reinterpret_cast<const float*>(panels_->data());
    return {panel_of(picture_, elements_, panels, element, block),
            columns * picture_.in_blocks() * picture_.block * picture_.block};
  }

  ConvolutionGeometry picture_;
  Epilogue epilogue_;
  std::size_t results_;
  std::size_t elements_ = elements_of(results_);
  KeptBytes panels_;
  std::vector<TileShare> shares_;
  std::size_t scratch_floats_ = 0;
};

bool is_ordinary(const Slot& filter) {
  const auto floats = filter.constant->as<float>().first(*element_count(filter.descriptor.shape));
  return std::ranges::all_of(
      floats, [](float x) { return std::abs(x) < TileTransform<2>::ordinary_limit; });
}

/// True if tiles of 4x4 results are better than those of 2x2. Their filters are 36/16 as large,
/// which costs time unless they stay in cache, and gains little if there are few tiles. Their
/// errors are larger, but grow more slowly with a sum's length than the tolerance does. With fewer
/// than 64 channels some errors exceed it.
bool gains_by_large_tiles(const ConvolutionGeometry& picture) {
  return picture.in_channels >= 64 && tiles_of(picture, 4) >= 16 &&
         panel_floats(picture, 36) * sizeof(float) <= near_filter;
}

}  // namespace

KernelResult prepare_minimal_filtering(const Problem& problem) {
  if (auto why = refuse_minimal_filtering(problem)) return refuse(*std::move(why));
  if (!is_ordinary(problem.inputs[1])) return refuse("filters of ordinary values only");
  const ConvolutionGeometry picture(problem);
  const std::size_t results = gains_by_large_tiles(picture) ? 4 : 2;
  return KernelResult(std::make_unique<MinimalFiltering>(
      picture, *epilogue_of(problem), results,
      filter_panels(picture, *problem.inputs[1].constant, results)));
}

}  // namespace polychron::kernels::direct
