// Signals: window functions, DFT, STFT, MelWeightMatrix.
#include <array>
#include <numbers>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr double tau = 2 * std::numbers::pi;
/// The most elements of a matrix of waves, and of all frames together.
constexpr std::size_t max_products = max_calculated * 64;

ElementType output_type(const Node& node) {
  return static_cast<ElementType>(node.integer("output_datatype", 1));
}

std::int64_t known_size(const Node& node, std::size_t i, const char* name) {
  const auto values = node.integers(i);
  if (values.size() != 1 || values[0] < 1 || values[0] > static_cast<std::int64_t>(max_calculated))
    unsupported(std::string(name) + " of " + (values.empty() ? "none" : std::to_string(values[0])));
  return values[0];
}

/// a - b cos(angle) + c cos(2 angle)
void cosine_window(Node& node, double a, double b, double c) {
  const auto size = known_size(node, 0, "a window");
  const auto steps = static_cast<double>(node.integer("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto angle = tau * static_cast<double>(i) / std::max(steps, 1.0);
    values[i] = a - b * std::cos(angle) + c * std::cos(2 * angle);
  }
  node.set(make_literal(output_type(node), {static_cast<std::uint32_t>(size)}, values));
}

void hann(Node& node) { cosine_window(node, 0.5, 0.5, 0); }
void hamming(Node& node) { cosine_window(node, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Node& node) { cosine_window(node, 0.42, 0.5, 0.08); }

/// A Fourier transform as products with matrices of cosines and sines.
struct Transform {
  std::uint32_t length = 1;  ///< of the transform
  std::uint32_t bins = 1;    ///< of the result
  bool inverse = false;
};

/// Row n and column k have f(angle) of n * k turns.
template <class F>
Term waves(const Term& x, const Transform& plan, F&& f) {
  const auto taken = x.shape()[1];
  if (std::uint64_t{taken} * plan.bins > max_products)
    unsupported("a transform of " + std::to_string(taken) + " points into " +
                std::to_string(plan.bins) + ": their product may be " +
                std::to_string(max_products));
  std::vector<double> values;
  for (std::uint32_t n = 0; n < taken; ++n)
    for (std::uint32_t k = 0; k < plan.bins; ++k) {
      const auto turn = static_cast<double>(std::uint64_t{n} * k % plan.length);
      values.push_back(f(n, tau * turn / plan.length));
    }
  return constant(x.node(), element_type(x.data_type()), {taken, plan.bins}, values);
}

/// `x` is [rows, taken, 1 or 2]: [rows, bins, 2].
Term transformed(const Term& x, const Transform& plan) {
  const auto unit = plan.inverse ? 1.0 / plan.length : 1.0;
  const auto turned = plan.inverse ? unit : -unit;
  const auto c = waves(x, plan, [&](auto, double angle) { return unit * std::cos(angle); });
  const auto s = waves(x, plan, [&](auto, double angle) { return turned * std::sin(angle); });
  const auto real = x.at(2, 0);
  auto re = real.matmul(c);
  auto im = real.matmul(s);
  if (x.shape()[2] == 2) {
    const auto imaginary = x.at(2, 1);
    re = re - imaginary.matmul(s);
    im = im + imaginary.matmul(c);
  }
  return concat({re.unsqueeze(2), im.unsqueeze(2)}, 2);
}

/// The signal whose first half of a spectrum is `x`, [rows, taken, 2]: [rows, length, 1]. The other
/// half mirrors the first, without the bins that are their own mirror.
Term from_half(const Term& x, const Transform& plan) {
  const auto share = [&](std::uint32_t n) {
    return (n == 0 || 2 * n == plan.length ? 1.0 : 2.0) / plan.length;
  };
  const auto c = waves(x, plan, [&](auto n, double angle) { return share(n) * std::cos(angle); });
  const auto s = waves(x, plan, [&](auto n, double angle) { return share(n) * std::sin(angle); });
  return (x.at(2, 0).matmul(c) - x.at(2, 1).matmul(s)).unsqueeze(2);
}

/// Input 0, [..., 1 or 2]. A signal [batch, length] is real, as in other runtimes.
Term read_signal(Node& node) {
  const auto x = term(node, 0);
  const auto shape = x.shape();
  const auto has_parts = [&] { return shape.back() == 1 || shape.back() == 2; };
  if (shape.size() == 2 && !has_parts()) return x.unsqueeze(2);
  if (shape.size() < 2 || !has_parts()) malformed("a signal of shape " + to_string(shape));
  return x;
}

/// The axis became an input at opset 20.
void dft(Node& node) {
  auto x = read_signal(node);
  const auto rank = x.rank();
  auto given = node.integer("axis", 1);
  if (node.opset >= 20) {
    const auto values = node.optional_integers(2).value_or(std::vector<std::int64_t>{-2});
    given = values.size() == 1 ? values[0] : 0;
  }
  const auto axis = node.axis(given, rank);
  if (axis + 1 >= rank) malformed("axis " + std::to_string(given) + " is that of the parts");
  const bool inverse = node.integer("inverse", 0) != 0,
             one_sided = node.integer("onesided", 0) != 0;
  const auto size = x.shape()[axis];
  Transform plan{size, 1, inverse};
  if (inverse && one_sided) {
    if (x.shape().back() != 2) malformed("half a spectrum must be complex");
    const bool known = node.has_input(1);
    if (!known && size < 2) malformed("a spectrum of one bin, and no length");
    if (!known && size > max_calculated) unsupported(std::to_string(size) + " bins");
    plan.length = 2 * (size - 1);
  }
  if (node.has_input(1)) plan.length = static_cast<std::uint32_t>(known_size(node, 1, "a length"));
  const auto half = plan.length / 2 + 1;
  plan.bins = one_sided && !inverse ? half : plan.length;
  x = x.slice(axis, 0, std::min(size, one_sided && inverse ? half : plan.length));
  std::vector<std::uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  std::swap(order[axis], order[rank - 2]);
  x = x.transpose(order);
  Shape shape = x.shape();
  const auto rows = static_cast<std::uint32_t>(count({shape.begin(), shape.end() - 2}));
  x = x.reshape({rows, shape[rank - 2], shape[rank - 1]});
  const auto y = one_sided && inverse ? from_half(x, plan) : transformed(x, plan);
  shape[rank - 2] = plan.bins;
  shape[rank - 1] = y.shape()[2];
  node.set(y.reshape(shape).transpose(order).operand());
}

/// Frames of the signal, each times the window, transformed.
void stft(Node& node) {
  auto x = term(node, 0);
  if (x.rank() == 2) x = x.unsqueeze(2);  // real, as other runtimes take it
  if (x.rank() != 3) malformed("a signal of shape " + to_string(x.shape()));
  const auto step = known_size(node, 1, "a step");
  std::int64_t size = 0;
  if (node.has_input(2)) size = node.shape(2)[0];
  if (node.has_input(3)) size = known_size(node, 3, "a frame");
  const std::int64_t length = x.shape()[1];
  if (size < 1 || size > length) malformed("frames of " + std::to_string(size));
  const auto frames = (length - size) / step + 1;
  if (frames * size > static_cast<std::int64_t>(max_products))
    unsupported(std::to_string(frames) + " frames of " + std::to_string(size) +
                ": their product may be " + std::to_string(max_products));
  std::vector<std::int64_t> places;
  for (std::int64_t f = 0; f < frames; ++f)
    for (std::int64_t i = 0; i < size; ++i) places.push_back(f * step + i);
  const auto f32 = static_cast<std::uint32_t>(frames);
  const auto s32 = static_cast<std::uint32_t>(size);
  auto cut = x.gather(constant(node, ElementType::int32, {f32, s32}, places), 1);
  if (node.has_input(2)) cut = cut * term(node, 2).reshape({s32, 1});
  Transform plan{s32, s32, false};
  if (node.integer("onesided", 1) != 0) plan.bins = s32 / 2 + 1;
  const auto batch = x.shape()[0];
  const auto y = transformed(cut.reshape({batch * f32, s32, x.shape()[2]}), plan);
  node.set(y.reshape({batch, f32, plan.bins, 2}).operand());
}

/// Triangles at equal distances on the mel scale, as in the specification.
void mel_weight_matrix(Node& node) {
  const auto bins = known_size(node, 0, "a number of bins");
  const auto length = known_size(node, 1, "a length");
  const auto rate = known_size(node, 2, "a sample rate");
  const auto low = node.optional_scalar(3), high = node.optional_scalar(4);
  if (!low || !high) malformed("the edges are missing");
  // Plausible frequencies only, so that every computed position is valid.
  if (!(*low >= 0 && *high >= *low && *high <= 1e9))
    malformed("the edges are not valid frequencies");
  const auto spectrum = length / 2 + 1;
  if (bins * spectrum > static_cast<std::int64_t>(max_calculated) * 16) unsupported("such a size");
  node.importer.spend_bytes(static_cast<std::uint64_t>(bins * spectrum) * 8);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto step = (mel(*high) - mel(*low)) / static_cast<double>(bins + 2);
  std::vector<std::int64_t> points;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const auto hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(*low)) / 2595) - 1);
    points.push_back(static_cast<std::int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  std::vector<double> weights(static_cast<std::size_t>(spectrum * bins), 0);
  const auto put = [&](std::int64_t row, std::int64_t column, double value) {
    if (row >= 0 && row < spectrum) weights[static_cast<std::size_t>(row * bins + column)] = value;
  };
  for (std::int64_t i = 0; i < bins; ++i) {
    const auto* p = &points[static_cast<std::size_t>(i)];
    const auto rise = p[1] - p[0], fall = p[2] - p[1];
    if (rise == 0) put(p[1], i, 1);
    for (auto row = p[0]; rise != 0 && row <= std::min(p[1], spectrum); ++row)
      put(row, i, static_cast<double>(row - p[0]) / static_cast<double>(rise));
    for (auto row = p[1]; fall != 0 && row < std::min(p[2], spectrum); ++row)
      put(row, i, static_cast<double>(p[2] - row) / static_cast<double>(fall));
  }
  node.set(make_literal(output_type(node),
                        {static_cast<std::uint32_t>(spectrum), static_cast<std::uint32_t>(bins)},
                        weights));
}

}  // namespace

std::span<const Row> signal_rows() noexcept {
  static constexpr std::array rows{
      Row{"BlackmanWindow", blackman},
      Row{"DFT", dft},
      Row{"HammingWindow", hamming},
      Row{"HannWindow", hann},
      Row{"MelWeightMatrix", mel_weight_matrix},
      Row{"STFT", stft},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
