// batchNormalization, instanceNormalization and layerNormalization of float32 in any layout, and
// rmsNormalization. Sums are in double, and so is x - mean, except in rows of the last two.
#include <array>
#include <cmath>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/normalized_rows.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/rms_normalization.hpp"
#include "kernels/vectors.hpp"
#include "ops/layouts.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

const float* floats(const Arguments& arguments, std::size_t index) {
  return index < arguments.inputs.size() ? reinterpret_cast<const float*>(arguments.inputs[index])
                                         : nullptr;
}

/// Scale and bias of a channel; 1 and 0 if absent.
struct Affine {
  const float* scales;
  const float* biases;
  double scale(std::size_t i) const { return scales == nullptr ? 1 : double{scales[i]}; }
  double bias(std::size_t i) const { return biases == nullptr ? 0 : double{biases[i]}; }
};

/// y = (x - mean) * factor + bias, for one channel.
void normalize(const float* in, float* out, std::size_t count, double mean, double factor,
               double bias) {
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>((double{in[i]} - mean) * factor + bias);
}

/// Mean, factor and bias of up to `size` neighbouring channels.
struct Tile {
  static constexpr std::size_t size = 64;
  std::array<double, size> mean, factor, bias;

  void apply(const float* in, float* out, std::size_t count) const {
    POLYCHRON_INDEPENDENT_STEPS
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<float>((double{in[i]} - mean[i]) * factor[i] + bias[i]);
  }
};

void batch_normalize(const Around& seen, double epsilon, const Arguments& arguments) {
  const float* in = floats(arguments, 0);
  auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
  const float *means = floats(arguments, 1), *variances = floats(arguments, 2);
  const Affine affine{floats(arguments, 3), floats(arguments, 4)};
  const auto factor = [&](std::size_t c) {
    return affine.scale(c) / std::sqrt(double{variances[c]} + epsilon);
  };
  const auto [outer, channels, inner] = seen;
  if (inner > 1) {
    for (std::size_t i = 0; i < outer; ++i)
      for (std::size_t c = 0; c < channels; ++c, in += inner, out += inner)
        normalize(in, out, inner, double{means[c]}, factor(c), affine.bias(c));
    return;
  }
  for (std::size_t start = 0; start < channels; start += Tile::size) {
    const std::size_t count = std::min(Tile::size, channels - start);
    Tile tile;
    for (std::size_t k = 0; k < count; ++k) {
      tile.mean[k] = double{means[start + k]};
      tile.factor[k] = factor(start + k);
      tile.bias[k] = affine.bias(start + k);
    }
    for (std::size_t i = 0; i < outer; ++i)
      tile.apply(in + i * channels + start, out + i * channels + start, count);
  }
}

/// The sum of f(x) of a line, in several accumulators.
template <class F>
double sum_of(const float* in, std::size_t count, const F& f) {
  constexpr std::size_t lanes = 32;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += f(double{in[i + k]});
  double sum = 0;
  for (; i < count; ++i) sum += f(double{in[i]});
  for (const double part : sums) sum += part;
  return sum;
}

/// The dimension of scale and bias. Elements that are normalised together lie along `along.extent`.
/// Scale and bias are indexed by the outer index within `channels`, by the inner one, or by the
/// place along the extent.
enum class Scaled : std::uint8_t { outer, inner, along };
struct Moments {
  Around along;
  std::size_t channels;
  Scaled scaled;
  double epsilon;
  bool centred = true;  ///< false: the mean counts as 0, in lines alone
};

void normalize_lines(const Moments& m, const Affine& affine, const float* in, float* out) {
  const std::size_t count = m.along.extent;
  for (std::size_t i = 0; i < m.along.outer; ++i, in += count, out += count) {
    const double sum = m.centred ? sum_of(in, count, [](double x) { return x; }) : 0;
    const double mean = sum / static_cast<double>(count);
    const double squares = sum_of(in, count, [&](double x) { return (x - mean) * (x - mean); });
    const double factor = 1 / std::sqrt(squares / static_cast<double>(count) + m.epsilon);
    const std::size_t channel = i % m.channels;
    if (m.scaled == Scaled::outer) {
      normalize(in, out, count, mean, factor * affine.scale(channel), affine.bias(channel));
      continue;
    }
    for (std::size_t k = 0; k < count; ++k)
      out[k] =
          static_cast<float>((double{in[k]} - mean) * factor * affine.scale(k) + affine.bias(k));
  }
}

void normalize_columns(const Moments& m, const Affine& affine, const float* in, float* out,
                       std::size_t start, std::size_t columns) {
  const auto [outer, extent, inner] = m.along;
  Tile tile;
  std::array<double, Tile::size> sums{}, squares{};
  for (std::size_t e = 0; e < extent; ++e)
    for (std::size_t k = 0; k < columns; ++k) sums[k] += double{in[e * inner + k]};
  for (std::size_t k = 0; k < columns; ++k) tile.mean[k] = sums[k] / static_cast<double>(extent);
  for (std::size_t e = 0; e < extent; ++e)
    for (std::size_t k = 0; k < columns; ++k) {
      const double off = double{in[e * inner + k]} - tile.mean[k];
      squares[k] += off * off;
    }
  const bool own = m.scaled == Scaled::inner;  // true: each column has its own
  for (std::size_t k = 0; k < columns; ++k) {
    const double factor = 1 / std::sqrt(squares[k] / static_cast<double>(extent) + m.epsilon);
    tile.factor[k] = own ? factor * affine.scale(start + k) : factor;
    tile.bias[k] = own ? affine.bias(start + k) : 0;
  }
  for (std::size_t e = 0; e < extent; ++e) {
    float* const row = out + e * inner;
    tile.apply(in + e * inner, row, columns);
    if (own) continue;
    const double scale = affine.scale(e), bias = affine.bias(e);
    for (std::size_t k = 0; k < columns; ++k)
      row[k] = static_cast<float>(double{row[k]} * scale + bias);
  }
}

void normalize_moments(const Moments& m, const Arguments& arguments) {
  const float* in = floats(arguments, 0);
  auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
  const Affine affine{floats(arguments, 1), floats(arguments, 2)};
  const auto [outer, extent, inner] = m.along;
  if (inner == 1) return normalize_lines(m, affine, in, out);
  for (std::size_t i = 0; i < outer; ++i)
    for (std::size_t start = 0; start < inner; start += Tile::size)
      normalize_columns(m, affine, in + i * extent * inner + start,
                        out + i * extent * inner + start, start,
                        std::min(Tile::size, inner - start));
}

/// Rows in float32, and those for which that is too small in double.
void normalize_rows(const Moments& m, const Arguments& arguments) {
  const float* in = floats(arguments, 0);
  auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
  NormalizedRows rest{m.along.outer,        m.along.extent,       static_cast<float>(m.epsilon),
                      floats(arguments, 1), floats(arguments, 2), m.centred};
  Moments one = m;
  one.along.outer = 1;
  while (true) {
    const std::size_t done = normalize_rows(rest, in, out);
    if (done == rest.rows) return;
    in += done * rest.count, out += done * rest.count;
    with_vectors([&] { normalize_lines(one, {rest.scales, rest.biases}, in, out); });
    in += rest.count, out += rest.count;
    rest.rows -= done + 1;
  }
}

KernelResult make_moments_kernel(const Moments& moments) {
  return make_kernel(
      [moments](const Arguments& arguments) {
        with_vectors([&] { normalize_moments(moments, arguments); });
      },
      0);
}

std::optional<std::string> unsuitable(const Problem& problem) {
  if (problem.inputs[0].descriptor.data_type != DataType::float32) return "float32 only";
  return not_plain(problem);
}

KernelResult prepare_batch(const Problem& problem) {
  if (const auto reason = unsuitable(problem)) return refuse(*reason);
  const auto& a = std::get<BatchNormalizationAttributes>(problem.attributes);
  const Around seen = around(problem.inputs[0].descriptor.shape, a.axis);
  return make_kernel(
      [seen, epsilon = a.epsilon](const Arguments& arguments) {
        with_vectors([&] { batch_normalize(seen, epsilon, arguments); });
      },
      0);
}

KernelResult prepare_instance(const Problem& problem) {
  if (const auto reason = unsuitable(problem)) return refuse(*reason);
  const auto& a = std::get<InstanceNormalizationAttributes>(problem.attributes);
  const Shape& shape = problem.inputs[0].descriptor.shape;
  const auto [n, c, h, w] = ops::picture_axes(a.layout);
  const std::size_t pixels = std::size_t{shape[h]} * shape[w], channels = shape[c];
  if (a.layout == InputOperandLayout::nchw || channels == 1)
    return make_moments_kernel(
        {{shape[n] * channels, pixels, 1}, channels, Scaled::outer, a.epsilon});
  return make_moments_kernel({{shape[n], pixels, channels}, channels, Scaled::inner, a.epsilon});
}

KernelResult prepare_layer(const Problem& problem) {
  if (const auto reason = unsuitable(problem)) return refuse(*reason);
  const auto& a = std::get<LayerNormalizationAttributes>(problem.attributes);
  const Shape& shape = problem.inputs[0].descriptor.shape;
  const std::size_t first = a.axes && !a.axes->empty() ? a.axes->front() : 1;
  const std::size_t count =
      a.axes ? a.axes->size() : shape.size() - std::min<std::size_t>(1, shape.size());
  for (std::size_t i = 0; a.axes && i < count; ++i)
    if ((*a.axes)[i] != first + i) return refuse("neighbouring axes in order only");
  if (count == 0) return refuse("no axes");
  Around along;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (i < first ? along.outer : i < first + count ? along.extent : along.inner) *= shape[i];
  const Moments moments{along, 1, Scaled::along, a.epsilon};
  if (along.inner > 1) return make_moments_kernel(moments);
  return make_kernel([moments](const Arguments& arguments) { normalize_rows(moments, arguments); },
                     0);
}

KernelResult prepare_rms(const Problem& problem) {
  const auto found = rms_normalization(problem);
  if (!found) return refuse("not a normalization of plain rows of float32");
  return make_kernel(
      [moments = Moments{{found->rows, found->count, 1}, 1, Scaled::along, found->epsilon, false}](
          const Arguments& arguments) { normalize_rows(moments, arguments); },
      0);
}

}  // namespace

std::span<const Entry> normalization_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("batchNormalization"), prepare_batch},
                                      {ops::op("instanceNormalization"), prepare_instance},
                                      {ops::op("layerNormalization"), prepare_layer},
                                      {op_rms_normalization, prepare_rms}};
  return entries;
}

}  // namespace polychron::kernels::direct
