#include "tests/kernels/convolutions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/epilogue.hpp"
#include "kernels/fusion.hpp"
#include "kernels/processor.hpp"
#include "ops/layouts.hpp"
#include "ops/table.hpp"

namespace polychron::tests {

using kernels::Layout;
using kernels::Problem;
using ops::op;

namespace {

/// The channels of a block, as this processor has them.
std::size_t block_channels() { return kernels::channel_block(kernels::picture_layout()); }

/// The place of an element of a picture in blocks of channels.
std::size_t place_of(const Shape& shape, std::size_t n, std::size_t c, std::size_t y,
                     std::size_t x) {
  const std::size_t block = block_channels(), blocks = (shape[1] + block - 1) / block;
  return (((n * blocks + c / block) * shape[2] + y) * shape[3] + x) * block + c % block;
}

std::uint32_t extent_of(std::uint32_t in, std::uint32_t window, std::uint32_t dilation,
                        std::uint32_t begin, std::uint32_t end, std::uint32_t stride) {
  const std::uint32_t reach = (window - 1) * dilation + 1;
  return in + begin + end < reach ? 0 : (in + begin + end - reach) / stride + 1;
}

}  // namespace

Problem in_blocks(Problem problem) {
  problem.inputs[0].layout = problem.outputs[0].layout = kernels::picture_layout();
  for (std::size_t i = problem.own_inputs; i < problem.inputs.size(); ++i)
    problem.inputs[i].layout = kernels::picture_layout();
  return problem;
}

std::unique_ptr<kernels::Kernel> first_kernel(const Problem& problem) {
  for (const auto& implementation : kernels::implementations(problem.op))
    if (auto kernel = implementation.prepare(in_blocks(problem))) return std::move(*kernel);
  return nullptr;
}

std::string_view first_way(const Problem& problem) {
  for (const auto& row : kernels::implementations(problem.op))
    if (row.prepare(in_blocks(problem))) return row.way;
  return {};
}

bool takes_panels(const Problem& problem) { return first_way(problem) == kernels::by_panels; }

std::uint32_t panel_stride() { return kernels::vectors() == kernels::Vectors::avx2 ? 1 : 2; }

bool takes_depthwise(const Problem& problem) { return first_way(problem) == "depthwise"; }

std::vector<Buffer> copies_of(const ProblemMaker& maker) {
  std::vector<Buffer> values;
  for (const Buffer& value : maker.values()) values.push_back(Buffer::copy_of(value.bytes()));
  return values;
}

std::vector<double> results_of(const ProblemMaker& maker, const std::vector<Buffer>& values,
                               bool reference) {
  const auto all = kernels::implementations(maker.problem().op);
  auto way = all.end() - 1;
  if (!reference)
    way = std::ranges::find_if(all, [&](const auto& implementation) {
      return implementation.prepare(in_blocks(maker.problem())).has_value();
    });
  BOOST_REQUIRE(way != all.end());
  const auto outcome = run_kernel(*way, maker.problem(), values,
                                  reference ? Layout::plain : kernels::picture_layout());
  BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
  return numbers_of(maker.problem().outputs[0].descriptor, outcome.outputs[0]);
}

Buffer blocked(const Shape& shape, const Buffer& plain) {
  Buffer result(kernels::storage_bytes({DataType::float32, shape}, kernels::picture_layout()));
  const auto from = plain.as<float>();
  const auto to = result.as<float>();
  std::size_t i = 0;
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (std::size_t c = 0; c < shape[1]; ++c)
      for (std::size_t y = 0; y < shape[2]; ++y)
        for (std::size_t x = 0; x < shape[3]; ++x) to[place_of(shape, n, c, y, x)] = from[i++];
  return result;
}

Shape Convolution::filter() const {
  const auto order = ops::filter_axes(a.filter_layout);
  Shape shape(4);
  shape[order[0]] = out;
  shape[order[1]] = in / a.groups;
  shape[order[2]] = window_height;
  shape[order[3]] = window_width;
  return shape;
}

Shape Convolution::result() const {
  return {
      batch, out,
      extent_of(height, window_height, a.dilations[0], a.padding[0], a.padding[1], a.strides[0]),
      extent_of(width, window_width, a.dilations[1], a.padding[2], a.padding[3], a.strides[1])};
}

ProblemMaker Convolution::maker(std::uint32_t seed, bool bias) const {
  ProblemMaker maker(op("conv2d"), seed);
  maker.attributes(a).input(input()).constant(filter());
  if (bias) maker.input({out});
  maker.output(result());
  return maker;
}

Convolution depthwise(std::uint32_t channels, std::uint32_t height, std::uint32_t width,
                      std::uint32_t window, std::uint32_t stride) {
  Convolution c{1, channels, channels, height, width, window, window};
  c.a.groups = channels;
  c.a.strides = {stride, stride};
  c.a.padding.assign(4, window / 2);
  return c;
}

void add_bounds(ProblemMaker& maker, Random& random) {
  ClampAttributes clamp;
  switch (random.pick(0, 4)) {
    case 0:
      maker.then(op("relu"));
      return;
    case 1:
      clamp = {0.0, 6.0};
      break;
    case 2:
      clamp.max_value = -0.5;
      break;
    case 3:
      clamp.min_value = 0.75;
      break;
    default:
      clamp = {std::int64_t{1}, std::uint64_t{3}};
  }
  maker.then(op("clamp"), clamp);
}

ProblemMaker random_convolution(std::uint32_t seed) {
  constexpr std::uint64_t most_products = 2'000'000;  // the reference is slow
  for (std::uint32_t i = 0;; ++i) {
    Random random(seed + 10000 * i);
    Convolution c{random.chance() ? 1 : random.pick(2, 3),
                  random.pick(8, 70),
                  random.pick(16, 70),
                  random.pick(1, 12),
                  random.pick(1, 45),
                  random.pick(1, 7),
                  random.pick(1, 5)};
    const bool pointwise = random.pick(0, 3) == 0;
    if (pointwise) c.window_height = c.window_width = 1;
    // On AVX2 a library computes shorter sums.
    const std::uint32_t taps = c.window_height * c.window_width;
    if (kernels::vectors() == kernels::Vectors::avx2) c.in = std::max(c.in, 64 / taps + 1);
    c.a.strides = {random.pick(1, panel_stride()), random.pick(1, panel_stride())};
    c.a.dilations = {random.pick(1, 3), random.pick(1, 3)};
    if (random.pick(0, 2) > 0)
      for (auto& padding : c.a.padding) padding = random.pick(0, random.chance() ? 2 : 9);
    c.a.filter_layout = static_cast<Conv2dFilterOperandLayout>(random.pick(0, 3));
    const Shape result = c.result();
    if (result[2] == 0 || result[3] == 0) continue;
    if (*element_count(result) * c.in * c.window_height * c.window_width > most_products) continue;
    ProblemMaker maker = c.maker(seed, random.chance());
    if (random.chance()) maker.then_with(op("add"), result);
    if (random.pick(0, 3) > 0) add_bounds(maker, random);
    return maker;
  }
}

ProblemMaker random_depthwise(std::uint32_t seed) {
  for (std::uint32_t i = 0;; ++i) {
    Random random(seed + 10000 * i);
    const std::uint32_t channels = random.pick(2, 70), window = random.chance() ? 3 : 5;
    Convolution c{random.chance() ? 1 : random.pick(2, 3),   channels, channels, random.pick(1, 20),
                  random.pick(1, random.chance() ? 12 : 40), window,   window};
    c.a.groups = channels;
    c.a.strides = {random.pick(1, 2), random.pick(1, 2)};
    if (random.pick(0, 2) > 0)
      for (auto& padding : c.a.padding) padding = random.pick(0, window - 1);
    c.a.filter_layout = static_cast<Conv2dFilterOperandLayout>(random.pick(0, 3));
    const Shape result = c.result();
    if (result[2] == 0 || result[3] == 0) continue;
    ProblemMaker maker = c.maker(seed, random.chance());
    if (random.chance()) maker.then_with(op("add"), result);
    if (random.pick(0, 3) > 0) add_bounds(maker, random);
    return maker;
  }
}

Prepared::Prepared(const ProblemMaker& maker, const std::vector<Buffer>& values)
    : problem(in_blocks(maker.problem())), kernel(first_kernel(problem)) {
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    inputs.push_back(problem.inputs[i].layout == Layout::plain
                         ? Buffer::copy_of(values[i].bytes())
                         : blocked(problem.inputs[i].descriptor.shape, values[i]));
}

std::size_t Prepared::result_bytes() const {
  return kernels::storage_bytes(problem.outputs[0].descriptor, kernels::picture_layout());
}

std::vector<const std::byte*> Prepared::addresses() const {
  std::vector<const std::byte*> list;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    list.push_back(kernel->keeps_constant(i) ? nullptr : inputs[i].data());
  return list;
}

Buffer Prepared::result(const std::function<void(kernels::Bound&)>& run) const {
  Buffer output(result_bytes()), scratch(kernel->scratch_bytes());
  std::ranges::fill(output.bytes(), std::byte{0xff});
  const auto in = addresses();
  const std::array<std::byte*, 1> outputs{output.data()};
  const kernels::Arguments arguments{in, outputs, scratch.data()};
  run(*kernel->bind(arguments));
  return output;
}

Buffer expected_by_sums(const Prepared& prepared, const ProblemMaker& maker) {
  const auto& a = std::get<Conv2dAttributes>(prepared.problem.attributes);
  const auto order = ops::filter_axes(a.filter_layout);
  const Shape& in = prepared.problem.inputs[0].descriptor.shape;
  const Shape& out = prepared.problem.outputs[0].descriptor.shape;
  const Shape& filter = prepared.problem.inputs[1].descriptor.shape;
  const auto epilogue = *kernels::epilogue_of(prepared.problem);
  const auto picture = prepared.inputs[0].as<float>();
  const auto weights = maker.values()[1].as<float>();
  const std::size_t window[2] = {filter[order[2]], filter[order[3]]};
  std::array<std::size_t, 4> steps{};  // of outputs, inputs, height, width
  for (std::size_t axis = 0; axis < 4; ++axis) {
    steps[axis] = 1;
    for (std::size_t i = order[axis] + 1; i < 4; ++i) steps[axis] *= filter[i];
  }
  Buffer expected(prepared.result_bytes());
  const auto result = expected.as<float>();
  // The picture's place that a tap sees; not below the picture's extent if it sees none.
  const auto seen = [&](std::size_t axis, std::size_t at, std::size_t tap) {
    return at * a.strides[axis] + tap * a.dilations[axis] - a.padding[2 * axis];
  };
  const std::size_t inputs = filter[order[1]], outputs = out[1] / a.groups;  // of a group
  const auto sum_of = [&](std::size_t n, std::size_t o, std::size_t y, std::size_t x) {
    float sum = epilogue.bias == 0 ? 0 : prepared.inputs[epilogue.bias].as<float>()[o];
    for (std::size_t ky = 0; ky < window[0]; ++ky)
      for (std::size_t kx = 0; kx < window[1]; ++kx) {
        const std::size_t row = seen(0, y, ky), column = seen(1, x, kx);
        if (row >= in[2] || column >= in[3]) continue;
        for (std::size_t i = 0; i < inputs; ++i)
          sum = std::fma(picture[place_of(in, n, o / outputs * inputs + i, row, column)],
                         weights[o * steps[0] + i * steps[1] + ky * steps[2] + kx * steps[3]], sum);
      }
    return sum;
  };
  for (std::size_t n = 0; n < out[0]; ++n)
    for (std::size_t o = 0; o < out[1]; ++o)
      for (std::size_t y = 0; y < out[2]; ++y)
        for (std::size_t x = 0; x < out[3]; ++x) {
          const std::size_t at = place_of(out, n, o, y, x);
          float sum = sum_of(n, o, y, x);
          if (epilogue.added != 0) sum += prepared.inputs[epilogue.added].as<float>()[at];
          result[at] = std::min(std::max(sum, epilogue.lowest), epilogue.highest);
        }
  return expected;
}

}  // namespace polychron::tests
