// Convolutions as matrix products, of pictures in blocks of channels. Each tap of the window
// multiplies pixels of a row with a panel of the filter. The sum of these products is a group of
// pixels of the result. Sums stay in registers until they are complete.
//
// The operands lie in distant cache lines, which no hardware prefetcher foresees. Prefetching them
// saves a third of the time when they come from beyond a core's own caches.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/invariant.hpp"
#include "kernels/direct/convolution_geometry.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/direct/picture_operands.hpp"
#include "kernels/direct/window_panels.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"
#include "kernels/window_range.hpp"

namespace polychron::kernels::direct {
namespace {

/// The convolution. One that reads a picture as one contiguous row is of a single row.
struct PanelGeometry : ConvolutionGeometry {
  explicit PanelGeometry(const Problem& problem) : ConvolutionGeometry(problem) {
    if (!is_flat()) return;
    x.in = x.out = y.in * x.in;
    y.in = y.out = 1;
  }

  /// The groups of a row. The first ones have the most pixels that are possible.
  std::size_t groups_of_row() const { return (x.out + most - 1) / most; }
  std::size_t long_groups_of_row() const {
    const std::size_t rest = x.out % most, groups = x.out / most;
    return rest > 0 && rest < most / 2 && groups > 0 ? groups - 1 : groups;
  }
  std::size_t groups() const { return batch * y.out * groups_of_row(); }
  /// True if groups follow each other in the whole picture.
  bool is_flat() const { return y.is_pointwise() && x.is_pointwise(); }

  std::size_t most = most_rows();  ///< pixels of a group
};

/// How much of the operands stays in a core's own cache.
struct OwnCache {
  std::size_t picture;  ///< bytes of the groups that are computed with all panels
  std::size_t panels;   ///< bytes of panels that need no prefetching for the next groups
};
/// Processors with AVX-512 have at least 1 MiB for each core, others 512 KiB.
OwnCache own_cache() {
  return has_avx512() ? OwnCache{640 * 1024, 512 * 1024} : OwnCache{256 * 1024, 128 * 1024};
}

/// A group: pixels of a picture's row. `alike` is the number of equally long groups from it on.
struct Pixels {
  std::size_t picture, y, x, count, alike;

  Pixels(const PanelGeometry& geometry, std::size_t group) {
    const std::size_t groups = geometry.groups_of_row(), row = group / groups;
    const std::size_t at = group % groups, many = geometry.long_groups_of_row();
    picture = row / geometry.y.out;
    y = row % geometry.y.out;
    // The last one or two groups share the remaining pixels.
    const std::size_t most = geometry.most;
    const std::size_t rest = geometry.x.out - many * most, short_ones = groups - many;
    const auto begin = [&](std::size_t i) {
      return i <= many ? i * most : many * most + rest * (i - many) / short_ones;
    };
    x = begin(at);
    count = begin(at + 1) - x;
    alike = at < many ? many - at : 1;
  }
};

/// A part: the results of some groups for some of their channels.
struct BlockShare {
  std::size_t first_group, last_group;
  std::size_t first_block, last_block;
};

class PanelConvolution final : public Kernel {
 public:
  PanelConvolution(const Problem& problem, const Epilogue& epilogue)
      : geometry_(problem),
        sizes_{geometry_.taps(), geometry_.in_channels, geometry_.out_channels, geometry_.block},
        epilogue_(epilogue),
        panels_(window_panels(sizes_, problem)) {
    ensure(sizes_.taps <= most_panel_taps, "windows are small");
    const std::size_t groups = geometry_.groups(), blocks = sizes_.blocks();
    const std::size_t pairs = (blocks + most_columns - 1) / most_columns;
    const double operations =
        2.0 * static_cast<double>(sizes_.taps * sizes_.inputs * sizes_.outputs) *
        static_cast<double>(geometry_.batch * geometry_.y.out * geometry_.x.out);
    // Every part reads all of one operand: the filter, or the picture.
    const bool by_groups = panels_->size() <= geometry_.in_bytes() && groups >= 2 * usual_parts;
    const std::size_t parts = parts_of(operations / operations_per_ns, by_groups ? groups : pairs);
    for (std::size_t i = 0; i < parts; ++i) {
      const auto stretch = [&](std::size_t count, std::size_t k) { return count * k / parts; };
      BlockShare share{0, groups, 0, blocks};
      if (by_groups) {
        share.first_group = stretch(groups, i);
        share.last_group = stretch(groups, i + 1);
      } else {
        share.first_block = stretch(pairs, i) * most_columns;
        share.last_block = std::min(stretch(pairs, i + 1) * most_columns, blocks);
      }
      shares_.push_back(share);
    }
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index == 1; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<PanelConvolution, PictureOperands>>(
        *this, PictureOperands{arguments});
  }

  BlockShare whole() const { return {0, geometry_.groups(), 0, sizes_.blocks()}; }
  const BlockShare& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const BlockShare& share) const noexcept {
    const std::size_t columns = std::min(most_columns, sizes_.blocks() - share.first_block);
    const std::size_t column = sizes_.column() * sizeof(float);
    return {panels_->data() + share.first_block * column,
            std::min(columns * column, most_read_first)};
  }

  /// Takes a number of groups at a time whose part of the picture stays in a core's own cache for
  /// all panels.
  void compute(const BlockShare& share, const PictureOperands& operands,
               std::span<const std::byte> read_next) const {
    const std::size_t groups = share.last_group - share.first_group;
    const std::size_t most = std::max<std::size_t>(
        own_cache().picture / (geometry_.in_bytes() / geometry_.groups() + 1), 1);
    const std::size_t rounds = (groups + most - 1) / most;
    for (std::size_t i = 0; i < rounds; ++i)
      compute({share.first_group + groups * i / rounds,
               share.first_group + groups * (i + 1) / rounds, share.first_block, share.last_block},
              operands, i == 0, i + 1 == rounds ? read_next : std::span<const std::byte>{});
  }

 private:
  /// `first`: panels come from outside of the cache. `read_next`: read after all of them.
  void compute(const BlockShare& share, const PictureOperands& operands, bool first,
               std::span<const std::byte> read_next) const {
    const std::size_t blocks = share.last_block - share.first_block;
    const bool far = first || blocks * sizes_.column() * sizeof(float) > own_cache().panels;
    const auto* const panels = reinterpret_cast<const float*>(panels_->data());
    std::array<Tap, most_panel_taps> taps;  // for one group at a time
    for (std::size_t block = share.first_block; block < share.last_block; block += most_columns) {
      const auto columns_at = [&](std::size_t at) {
        return std::min(most_columns, sizes_.blocks() - at);
      };
      const bool last = block + most_columns >= share.last_block;
      const std::size_t next = last ? share.first_block : block + most_columns;
      auto ahead = last && !read_next.empty()
                       ? PanelAhead(read_next)
                       : PanelAhead(panels + next * sizes_.column(),
                                    far ? columns_at(next) * sizes_.column() : 0);
      for (std::size_t group = share.first_group; group < share.last_group;) {
        const Pixels pixels(geometry_, group);
        const std::size_t left = share.last_group - group;
        PanelProduct product = product_of(pixels, block, columns_at(block), operands, taps);
        product.times = geometry_.is_flat() ? std::min(pixels.alike, left) : 1;
        product.fetch = ahead.share(product.fours(), product.times, left);
        group += product.times;
        if (group < share.last_group)
          product.next_left = left_of(Pixels(geometry_, group), operands);
        multiply_rows(product, pixels.count);
      }
    }
  }

  /// Where a group's pixels begin for a tap.
  const float* left_of(const Pixels& pixels, const PictureOperands& operands) const {
    return operands.input(0) + pixels.picture * geometry_.in_blocks() * geometry_.in_plane() +
           (pixels.y * geometry_.y.stride * geometry_.x.in + pixels.x * geometry_.x.stride) *
               geometry_.block;
  }

  PanelProduct product_of(const Pixels& pixels, std::size_t block, std::size_t columns,
                          const PictureOperands& operands,
                          std::array<Tap, most_panel_taps>& taps) const {
    const Extent &y = geometry_.y, &x = geometry_.x;
    const auto* const picture =
        operands.input(0) + pixels.picture * geometry_.in_blocks() * geometry_.in_plane();
    const float* const panel =
        reinterpret_cast<const float*>(panels_->data()) + block * sizes_.column();
    const auto inside = [](std::ptrdiff_t at, std::size_t extent) {
      return at >= 0 && at < static_cast<std::ptrdiff_t>(extent);
    };
    std::size_t count = 0;
    for (std::size_t ky = 0; ky < y.window; ++ky) {
      const std::ptrdiff_t row = y.place(pixels.y, ky);
      if (!inside(row, y.in)) continue;
      for (std::size_t kx = 0; kx < x.window; ++kx) {
        std::size_t first = 0, last = pixels.count;
        while (first < last && !inside(x.place(pixels.x + first, kx), x.in)) ++first;
        while (first < last && !inside(x.place(pixels.x + last - 1, kx), x.in)) --last;
        if (first == last) continue;
        const std::ptrdiff_t at = row * static_cast<std::ptrdiff_t>(x.in) + x.place(pixels.x, kx);
        taps[count++] = {picture + at * static_cast<std::ptrdiff_t>(geometry_.block),
                         panel + (ky * x.window + kx) * sizes_.tap() * columns, first,
                         last == pixels.count ? any_rows : last};
      }
    }
    const std::size_t at = (pixels.picture * sizes_.blocks() + block) * geometry_.out_plane() +
                           (pixels.y * x.out + pixels.x) * geometry_.block;
    return {.taps = {taps.data(), count},
            .row_step = x.stride * geometry_.block,
            .left_step = geometry_.in_plane(),
            .times = 1,
            .elements = filled_up(sizes_.inputs),
            .columns = columns,
            .result = operands.result() + at,
            .result_step = geometry_.out_plane(),
            .channels = sizes_.outputs - block * geometry_.block,
            .bias = operands.other(epilogue_.bias, block * geometry_.block),
            .added = operands.other(epilogue_.added, at),
            .lowest = epilogue_.lowest,
            .highest = epilogue_.highest};
  }

  const PanelGeometry geometry_;
  const WindowPanels sizes_;
  const Epilogue epilogue_;
  const KeptBytes panels_;
  std::vector<BlockShare> shares_;
};

bool is_finite(const Slot& filter) {
  const auto weights = filter.constant->as<float>().first(*element_count(filter.descriptor.shape));
  return std::ranges::all_of(weights, [](float x) { return std::isfinite(x); });
}

}  // namespace

KernelResult prepare_panels(const Problem& problem) {
  if (auto why = refuse_panels(problem)) return refuse(*std::move(why));
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  const bool padded = std::ranges::any_of(a.padding, [](std::uint32_t p) { return p != 0; });
  if (padded && !is_finite(problem.inputs[1]))
    return refuse("with padding, which they would meet, weights that are finite only");
  return KernelResult(std::make_unique<PanelConvolution>(as_row(problem), *epilogue_of(problem)));
}

}  // namespace polychron::kernels::direct
