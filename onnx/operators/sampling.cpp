// Sampling at positions given by tensors: GridSample, AffineGrid that makes them, and RoiAlign.
//
// The image becomes rows of channels, one row for each pixel. Each tap gathers its pixels for all
// results at once, and weights them.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

struct Pixels {
  Term rows;  ///< [N x H x W, C], or [N x D x H x W, C]
  std::uint32_t batch, channels;
  Shape sizes;  ///< of the spatial dimensions
};

/// Of an image, or of a volume.
Pixels pixels_of(const Term& image) {
  const auto s = image.shape();
  if (s.size() != 4 && s.size() != 5) unsupported("an image of shape " + to_string(s));
  if (element_count(s).value_or(0) > 0x7fffffff) unsupported("an image of that size");
  std::vector<std::uint32_t> order(s.size());
  std::iota(order.begin(), order.end(), 0U);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  const auto rows = static_cast<std::uint32_t>(count(s)) / s[1];
  return {image.transpose(order).reshape({rows, s[1]}), s[0], s[1], s.from(2)};
}

/// The pixels [R, P, C] of image `batch` at integers inside of it, for each spatial dimension [R,
/// P].
Term fetch(const Pixels& pixels, const Term& batch, const std::vector<Term>& positions) {
  auto row = batch;
  for (std::size_t d = 0; d < positions.size(); ++d)
    row = row * pixels.sizes[d] + positions[d].cast(DataType::int32);
  return pixels.rows.gather(row, 0);
}

Term weighted(const Term& pixels, const Term& weight) {
  return pixels * weight.unsqueeze(static_cast<std::uint32_t>(weight.rank()));
}

// -- GridSample -----------------------------------------------------------------------------------

struct Grid {
  std::string padding;
  bool align_corners = false;
};

/// From [-1, 1] to pixels.
Term denormalized(const Term& at, std::uint32_t length, bool align_corners) {
  if (align_corners) return (at + 1) * ((length - 1) / 2.0);
  return ((at + 1) * static_cast<double>(length) - 1) * 0.5;
}

/// An integer position, moved into the image as the padding mode says.
Term inside(const Grid& grid, const Term& at, std::uint32_t length) {
  if (grid.padding != "reflection" || length == 1) return at.clamped(0, length - 1.0);
  const double period = grid.align_corners ? 2.0 * (length - 1) : 2.0 * length;
  const double mirror = grid.align_corners ? period : period - 1;
  const auto rest = at - (at / period).floor() * period;
  return (rest < static_cast<double>(length)).choose(rest, mirror - rest).clamped(0, length - 1.0);
}

struct Tap {
  Term position, weight;
};

/// The integer positions along one axis and their weights.
std::vector<Tap> taps_of(const Grid& grid, const std::string& mode, const Term& at,
                         std::uint32_t length) {
  std::vector<Tap> taps;
  const auto add = [&](const Term& position, const Term& weight) {
    const auto place = inside(grid, position, length);
    const bool zeros = grid.padding == "zeros";
    const auto share = zeros ? (place == position).choose(weight, weight.number(0)) : weight;
    taps.push_back({place, share});
  };
  if (mode == "nearest") {
    const auto position = at.round_even();
    add(position, at.number(1).expand(at.shape()));
    return taps;
  }
  const auto low = at.floor();
  const auto t = at - low;
  if (mode == "bilinear" || mode == "linear") {
    add(low, 1 - t);
    add(low + 1, t);
    return taps;
  }
  constexpr double a = -0.75;
  const auto near = [&](const Term& x) { return ((x * (a + 2) - (a + 3)) * x * x + 1); };
  const auto far = [&](const Term& x) { return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a; };
  add(low - 1, far(t + 1));
  add(low, near(t));
  add(low + 1, near(1 - t));
  add(low + 2, far(2 - t));
  return taps;
}

/// One of the pixels that a result is made of.
struct Sample {
  std::vector<Term> positions;
  std::optional<Term> weight;
};

/// Each tap of one dimension with each of the others.
std::vector<Sample> combined(const std::vector<std::vector<Tap>>& taps) {
  std::vector<Sample> samples(1);
  for (const auto& along : taps) {
    std::vector<Sample> longer;
    for (const auto& sample : samples)
      for (const auto& tap : along) {
        longer.push_back(sample);
        longer.back().positions.push_back(tap.position);
        longer.back().weight = sample.weight ? *sample.weight * tap.weight : tap.weight;
      }
    samples = std::move(longer);
  }
  return samples;
}

void grid_sample(Node& node) {
  const auto mode = node.text("mode", "bilinear");
  const Grid grid{node.text("padding_mode", "zeros"), node.integer("align_corners", 0) != 0};
  constexpr std::array modes{"bilinear", "linear", "nearest", "bicubic", "cubic"};
  if (std::find(modes.begin(), modes.end(), mode) == modes.end())
    malformed("attribute 'mode' is " + quote(mode));
  if (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection")
    malformed("attribute 'padding_mode' is " + quote(grid.padding));
  const auto pixels = pixels_of(term(node, 0));
  const auto positions = term(node, 1);
  const auto s = positions.shape();
  const auto spatial = static_cast<std::uint32_t>(pixels.sizes.size());
  if (s.size() != spatial + 2 || s[0] != pixels.batch || s.back() != spatial)
    malformed("a grid of shape " + to_string(s));
  const Shape to(s.begin() + 1, s.end() - 1);
  const auto flat = positions.reshape({s[0], static_cast<std::uint32_t>(count(to)), spatial});
  std::vector<std::vector<Tap>> taps;
  for (std::uint32_t d = 0; d < spatial; ++d) {  // a position is x, y, z
    const auto at = denormalized(flat.at(2, spatial - 1 - d), pixels.sizes[d], grid.align_corners);
    taps.push_back(taps_of(grid, mode, at, pixels.sizes[d]));
  }
  const auto batch = iota(node, DataType::int32, 2, 0, s[0]);
  std::optional<Term> sum;
  for (const auto& sample : combined(taps)) {
    const auto part = weighted(fetch(pixels, batch, sample.positions), *sample.weight);
    sum = sum ? *sum + part : part;
  }
  Shape shape{s[0], pixels.channels};
  shape.insert(shape.end(), to.begin(), to.end());
  node.set(sum->transpose({0, 2, 1}).reshape(shape).operand());
}

/// The positions of an image's pixels in [-1, 1], x first, each turned by its image's matrix.
void affine_grid(Node& node) {
  const auto theta = term(node, 0);
  const auto size = to_shape(node.integers(1));  // N, C, then the image's
  const bool align_corners = node.integer("align_corners", 0) != 0;
  const auto spatial = static_cast<std::uint32_t>(size.size()) - 2;
  if (size.size() < 4 || size.size() > 5 || theta.shape() != Shape{size[0], spatial, spatial + 1})
    malformed("matrices of shape " + to_string(theta.shape()) + " for an image of " +
              to_string(size));
  const Shape to(size.begin() + 2, size.end());
  const auto pixels = count(to);
  if (pixels == 0 || pixels > max_calculated * 16) unsupported("a grid of " + to_string(to));
  std::vector<double> values;
  for (std::size_t i = 0; i < pixels; ++i) {
    auto rest = i;
    for (std::uint32_t d = spatial; d-- > 0; rest /= to[d]) {
      const auto at = static_cast<double>(rest % to[d]), last = to[d] - 1.0;
      values.push_back(!align_corners ? (2 * at + 1) / to[d] - 1
                       : last > 0     ? 2 * at / last - 1
                                      : 0);
    }
    values.push_back(1);
  }
  const auto u32 = static_cast<std::uint32_t>(pixels);
  const auto base = constant(node, element_type(theta.data_type()), {u32, spatial + 1}, values);
  Shape shape(size);
  shape.erase(shape.begin() + 1);
  shape.push_back(spatial);
  node.set(base.unsqueeze(0).matmul(theta.transpose({0, 2, 1})).reshape(shape).operand());
}

// -- RoiAlign -------------------------------------------------------------------------------------

/// Positions of the samples along one axis of each region, [R, samples].
Term samples(const Term& begin, const Term& end, std::uint32_t bins, std::uint32_t ratio,
             bool half_pixel) {
  auto length = end - begin;
  if (!half_pixel) length = length.max(1);
  const auto step = length / static_cast<double>(bins);
  const auto each = iota(begin.node(), begin.data_type(), 2, 1, bins * ratio);
  return begin + step * ((each + 0.5) / static_cast<double>(ratio));
}

struct Ends {
  Term low, high, share, valid;  ///< weight of the high one
};

Ends ends_of(const Term& at, std::uint32_t length) {
  const auto valid = at >= -1 && at <= static_cast<double>(length);
  const auto place = at.clamped(0, length - 1.0);
  const auto low = place.floor();
  return {low, (low + 1).min(length - 1.0), place - low, valid.cast(at.data_type())};
}

/// The number of samples of a bin along an axis. 0 means as many as its pixels, which must be
/// known.
std::uint32_t sampling_ratio(const Node& node) {
  const auto ratio = node.integer("sampling_ratio", 0);
  if (ratio < 0 || ratio > 64) malformed("attribute 'sampling_ratio' is " + std::to_string(ratio));
  if (ratio == 0) unsupported("how many samples are taken depends on values: sampling_ratio is 0");
  return static_cast<std::uint32_t>(ratio);
}

void roi_align(Node& node) {
  if (node.text("mode", "avg") != "avg") unsupported("mode 'max'");
  const bool half_pixel =
      node.opset >= 16 && node.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const auto pixels = pixels_of(term(node, 0));
  if (pixels.sizes.size() != 2) malformed("an image of shape " + to_string(node.shape(0)));
  const auto size = unsigned_list(
      {node.integer("output_height", 1), node.integer("output_width", 1)}, "an output size");
  const auto ratio = sampling_ratio(node);
  const auto scale = node.real("spatial_scale", 1);
  const auto regions = term(node, 1) * scale - (half_pixel ? 0.5 : 0.0);
  const auto r = regions.shape()[0];
  const auto edge = [&](std::uint32_t i) { return regions.slice(1, i, i + 1); };
  const auto h = size[0] * ratio;
  const auto w = size[1] * ratio;
  const auto y = ends_of(samples(edge(1), edge(3), size[0], ratio, half_pixel), pixels.sizes[0]);
  const auto x = ends_of(samples(edge(0), edge(2), size[1], ratio, half_pixel), pixels.sizes[1]);
  const auto down = [&](const Term& t) {
    return t.unsqueeze(2).expand({r, h, w}).reshape({r, h * w});
  };
  const auto across = [&](const Term& t) {
    return t.unsqueeze(1).expand({r, h, w}).reshape({r, h * w});
  };
  const auto batch = term(node, 2).cast(DataType::int32).reshape({r, 1});
  const auto valid = down(y.valid) * across(x.valid);
  std::optional<Term> sum;
  for (const bool lower : {false, true})
    for (const bool right : {false, true}) {
      const auto weight =
          down(lower ? y.share : 1 - y.share) * across(right ? x.share : 1 - x.share);
      const auto part = weighted(
          fetch(pixels, batch, {down(lower ? y.high : y.low), across(right ? x.high : x.low)}),
          weight * valid);
      sum = sum ? *sum + part : part;
    }
  const auto bins = sum->reshape({r, size[0], ratio, size[1], ratio, pixels.channels}).mean({2, 4});
  node.set(bins.transpose({0, 3, 1, 2}).operand());
}

}  // namespace

std::span<const Row> sampling_rows() noexcept {
  static constexpr std::array rows{
      Row{"AffineGrid", affine_grid},
      Row{"GridSample", grid_sample},
      Row{"RoiAlign", roi_align},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
