// Transposed convolutions of few channels, and those that leave gaps between windows. Row by row
// and tap by tap, the products of a row are summed over the channels, then added where they belong.
// oneDNN (2.6.3) makes a general product of each, and takes two to seven times ONNX Runtime's time.
#include <algorithm>
#include <array>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/direct/picture_operands.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"
#include "kernels/window_range.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::direct {
namespace {

/// The height or the width. Tap k of pixel i meets pixel i * stride + k * dilation - padding.
struct ScatterAxis {
  std::int64_t in, out, window, stride, dilation, padding;

  std::int64_t offset(std::int64_t tap) const { return tap * dilation - padding; }
  /// The pixels whose tap meets the result.
  WindowRange pixels(std::int64_t tap) const { return window_range(offset(tap), in, stride, out); }
};

struct ScatterGeometry {
  std::int64_t batch, groups, inputs, outputs;  ///< channels of a group
  ScatterAxis y, x;
  /// Elements of the filter from one channel, row or column to the next.
  std::int64_t input_step, output_step, y_step, x_step;
  bool biased;
};

/// Pixels of a row whose sums are held together.
constexpr std::int64_t scattered_at_once = 64;

/// sums[k] = the products of `pixels`, `plane` elements apart, with `weights`, over all channels.
void sum_channels(const float* pixels, std::int64_t plane, const float* weights, std::int64_t step,
                  std::int64_t channels, float* sums, std::int64_t count) {
  std::fill_n(sums, count, 0.0F);
  for (std::int64_t c = 0; c < channels; ++c) {
    const float weight = weights[c * step];
    const float* const from = pixels + c * plane;
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t k = 0; k < count; ++k) sums[k] += weight * from[k];
  }
}

void add_sums(const float* sums, float* to, std::int64_t stride, std::int64_t count) {
  if (stride == 1) {
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t k = 0; k < count; ++k) to[k] += sums[k];
    return;
  }
  POLYCHRON_INDEPENDENT_STEPS
  for (std::int64_t k = 0; k < count; ++k) to[k * stride] += sums[k];
}

/// Adds those of two neighbouring taps, at a stride of 2.
void add_two_sums(const float* first, const float* second, float* to, std::int64_t count) {
  POLYCHRON_INDEPENDENT_STEPS
  for (std::int64_t k = 0; k < count; ++k) {
    to[2 * k] += first[k];
    to[2 * k + 1] += second[k];
  }
}

/// Adds the products of tap (ky, kx) to a channel of the result, and with `two` those of the next
/// tap in the row, which meets the pixels behind.
void scatter_tap(const ScatterGeometry& g, std::int64_t ky, std::int64_t kx, bool two,
                 const float* in, const float* filter, float* out) {
  std::array<float, scattered_at_once> sums, others;
  const float* const weights = filter + ky * g.y_step + kx * g.x_step;
  const WindowRange rows = g.y.pixels(ky), columns = g.x.pixels(kx);
  const std::int64_t plane = g.y.in * g.x.in;
  for (std::int64_t y = rows.first; y < rows.last; ++y)
    for (std::int64_t x = columns.first; x < columns.last; x += scattered_at_once) {
      const std::int64_t count = std::min(columns.last - x, scattered_at_once);
      const float* const from = in + y * g.x.in + x;
      float* const to =
          out + (y * g.y.stride + g.y.offset(ky)) * g.x.out + x * g.x.stride + g.x.offset(kx);
      sum_channels(from, plane, weights, g.input_step, g.inputs, sums.data(), count);
      if (two) {
        sum_channels(from, plane, weights + g.x_step, g.input_step, g.inputs, others.data(), count);
        add_two_sums(sums.data(), others.data(), to, count);
      } else {
        add_sums(sums.data(), to, g.x.stride, count);
      }
    }
}

/// One channel of the result. `in` is the group's first channel, `filter` begins at the channel.
void scatter(const ScatterGeometry& g, const float* in, const float* filter, float bias,
             float* out) {
  std::fill_n(out, g.y.out * g.x.out, bias);
  const auto meets_next = [&](std::int64_t kx) {
    const WindowRange own = g.x.pixels(kx), next = g.x.pixels(kx + 1);
    return kx + 1 < g.x.window && own.first == next.first && own.last == next.last;
  };
  for (std::int64_t ky = 0; ky < g.y.window; ++ky)
    for (std::int64_t kx = 0; kx < g.x.window; ++kx) {
      const bool two = g.x.stride == 2 && g.x.dilation == 1 && meets_next(kx);
      scatter_tap(g, ky, kx, two, in, filter, out);
      if (two) ++kx;
    }
}

class ScatteredConvolution final : public Kernel {
 public:
  struct Channels {
    std::int64_t first, last;  ///< of the results of all pictures
  };

  explicit ScatteredConvolution(const ScatterGeometry& geometry) : g_(geometry) {
    const double products = static_cast<double>(channels() * g_.inputs * g_.y.in * g_.x.in) *
                            static_cast<double>(g_.y.window * g_.x.window);
    const double moved = static_cast<double>(channels() * g_.y.out * g_.x.out) * sizeof(float);
    parts_ = parts_of(products / products_per_ns + moved / bytes_per_ns,
                      static_cast<std::size_t>(channels()));
  }

  std::size_t parts() const noexcept override { return parts_; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<ScatteredConvolution, const Arguments&>>(*this, arguments);
  }
  Channels whole() const { return {0, channels()}; }
  Channels share(std::size_t part) const {
    const auto at = [&](std::size_t i) {
      return channels() * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(parts_);
    };
    return {at(part), at(part + 1)};
  }
  std::span<const std::byte> read_first(Channels) const { return {}; }
  void compute(Channels share, const Arguments& arguments, std::span<const std::byte>) const {
    const PictureOperands operands{arguments};
    with_vectors([&, share] {
      for (std::int64_t c = share.first; c < share.last; ++c) {
        const std::int64_t all = g_.groups * g_.outputs, channel = c % all;
        const std::int64_t group = channel / g_.outputs;
        const std::int64_t first = (c / all * g_.groups + group) * g_.inputs;
        scatter(g_, operands.input(0) + first * g_.y.in * g_.x.in,
                operands.input(1) + group * g_.inputs * g_.input_step +
                    channel % g_.outputs * g_.output_step,
                g_.biased ? operands.input(2)[channel] : 0.0F,
                operands.result() + c * g_.y.out * g_.x.out);
      }
    });
  }

 private:
  static constexpr double products_per_ns = 2;
  std::int64_t channels() const { return g_.batch * g_.groups * g_.outputs; }

  const ScatterGeometry g_;
  std::size_t parts_ = 1;
};

/// True if some pixels of the result are between windows.
bool leaves_gaps(const ConvTranspose2dAttributes& a, const Shape& filter, const ops::Axes& order) {
  for (std::size_t i = 0; i < 2; ++i)
    if (a.strides[i] > (std::uint64_t{filter[order[2 + i]]} - 1) * a.dilations[i] + 1) return true;
  return false;
}

}  // namespace

Refusal refuse_scattered(const Problem& problem) {
  const auto& a = std::get<ConvTranspose2dAttributes>(problem.attributes);
  if (auto reason = not_plain(problem)) return reason;
  if (a.input_layout != InputOperandLayout::nchw) return "nchw only";
  for (const Slot& slot : problem.inputs)
    if (slot.present && slot.descriptor.data_type != DataType::float32) return "float32 only";
  const Shape& out = problem.outputs[0].descriptor.shape;
  if (!windows_stay_near(a, out[2], out[3])) return "windows near the picture only";
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a.filter_layout);
  constexpr std::uint32_t most_inputs = 8, most_inputs_beside_gaps = 64;
  const std::uint32_t inputs = filter[order[1]] / a.groups;
  const bool gaps = leaves_gaps(a, filter, order);
  if (inputs > (gaps ? most_inputs_beside_gaps : most_inputs) || (a.groups == 1 && !gaps))
    return "few channels in groups, or gaps between windows, only";
  return std::nullopt;
}

KernelResult prepare_scattered(const Problem& problem) {
  if (auto reason = refuse_scattered(problem)) return refuse(*std::move(reason));
  const auto& a = std::get<ConvTranspose2dAttributes>(problem.attributes);
  const Shape& in = problem.inputs[0].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a.filter_layout);
  const auto steps = steps_of(problem.inputs[1]);
  const auto axis = [&](std::size_t i) {
    return ScatterAxis{in[2 + i],    out[2 + i],     filter[order[2 + i]],
                       a.strides[i], a.dilations[i], a.padding[2 * i]};
  };
  return KernelResult(std::make_unique<ScatteredConvolution>(
      ScatterGeometry{in[0], a.groups, filter[order[1]] / a.groups, filter[order[0]], axis(0),
                      axis(1), steps[order[1]], steps[order[0]], steps[order[2]], steps[order[3]],
                      problem.own_inputs > 2 && problem.inputs[2].present}));
}

}  // namespace polychron::kernels::direct
