// Sampling at positions given by tensors: GridSample and RoiAlign.
//
// The image becomes rows of channels, one row for each pixel. Each tap gathers its pixels for all
// results at once, and weights them.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

struct Pixels {
  Term rows;  ///< [N x H x W, C]
  std::uint32_t batch, channels, height, width;
};

Pixels pixels_of(const Term& image) {
  const auto s = image.shape();
  if (s.size() != 4) unsupported("an image of shape " + to_string(s));
  if (element_count(s).value_or(0) > 0x7fffffff) unsupported("an image of that size");
  return {image.transpose({0, 2, 3, 1}).reshape({s[0] * s[2] * s[3], s[1]}), s[0], s[1], s[2],
          s[3]};
}

/// The pixels [R, P, C] of image `batch` at integers `y` and `x` inside of it, each [R, P].
Term fetch(const Pixels& pixels, const Term& batch, const Term& y, const Term& x) {
  const auto row = y.cast(DataType::int32) * pixels.width + x.cast(DataType::int32) +
                   batch * (pixels.height * static_cast<double>(pixels.width));
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
  if (s.size() != 4 || s[0] != pixels.batch || s[3] != 2)
    malformed("a grid of shape " + to_string(s));
  const auto flat = positions.reshape({s[0], s[1] * s[2], 2});
  const auto x = denormalized(flat.at(2, 0), pixels.width, grid.align_corners);
  const auto y = denormalized(flat.at(2, 1), pixels.height, grid.align_corners);
  const auto batch = iota(node, DataType::int32, 2, 0, s[0]);
  std::optional<Term> sum;
  const auto columns = taps_of(grid, mode, x, pixels.width);
  for (const auto& row : taps_of(grid, mode, y, pixels.height))
    for (const auto& column : columns) {
      const auto part =
          weighted(fetch(pixels, batch, row.position, column.position), row.weight * column.weight);
      sum = sum ? *sum + part : part;
    }
  node.set(sum->transpose({0, 2, 1}).reshape({s[0], pixels.channels, s[1], s[2]}).operand());
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
  const auto size = unsigned_list(
      {node.integer("output_height", 1), node.integer("output_width", 1)}, "an output size");
  const auto ratio = sampling_ratio(node);
  const auto scale = node.real("spatial_scale", 1);
  const auto regions = term(node, 1) * scale - (half_pixel ? 0.5 : 0.0);
  const auto r = regions.shape()[0];
  const auto edge = [&](std::uint32_t i) { return regions.slice(1, i, i + 1); };
  const auto h = size[0] * ratio;
  const auto w = size[1] * ratio;
  const auto y = ends_of(samples(edge(1), edge(3), size[0], ratio, half_pixel), pixels.height);
  const auto x = ends_of(samples(edge(0), edge(2), size[1], ratio, half_pixel), pixels.width);
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
          fetch(pixels, batch, down(lower ? y.high : y.low), across(right ? x.high : x.low)),
          weight * valid);
      sum = sum ? *sum + part : part;
    }
  const auto bins = sum->reshape({r, size[0], ratio, size[1], ratio, pixels.channels}).mean({2, 4});
  node.set(bins.transpose({0, 3, 1, 2}).operand());
}

}  // namespace

std::span<const Row> sampling_rows() noexcept {
  static constexpr std::array rows{
      Row{"GridSample", grid_sample},
      Row{"RoiAlign", roi_align},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
