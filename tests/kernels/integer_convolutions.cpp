// Convolutions of 8-bit integers: the pass that recognises them, and the loops that compute them.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/integer_graphs.hpp"
#include "tests/kernels/own_loops.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Random;
using tests::Runner;
using tests::steps_with;

std::int32_t byte_value(std::byte bits, DataType type) {
  const auto value = std::to_integer<std::uint8_t>(bits);
  return type == DataType::int8 ? static_cast<std::int8_t>(value) : std::int32_t{value};
}

// -- the loops ------------------------------------------------------------------------------------

struct Convolution {
  std::uint32_t images = 1, groups = 1, channels = 3, filters = 5;  // of a group
  std::array<std::uint32_t, 2> size{8, 9}, window{3, 3}, stride{1, 1}, dilation{1, 1};
  std::array<std::uint32_t, 4> padding{1, 1, 1, 1};
  DataType type = DataType::uint8;
  int lowest = -255, highest = 255;  // of the weights
  std::optional<int> first = {};     // the first weight of each filter, beside others
  int end = 0;  // -1: all elements are the type's lowest, the zero point the highest; 1: reversed

  std::uint32_t out(std::size_t i) const {
    const auto padded = size[i] + padding[2 * i] + padding[2 * i + 1];
    return (padded - (window[i] - 1) * dilation[i] - 1) / stride[i] + 1;
  }
  std::vector<std::byte> picture = {};
  std::vector<std::int32_t> weights = {}, biases = {};
  std::byte zero = {};

  kernels::Problem problem(std::uint32_t seed) {
    Random random(seed);
    picture.resize(std::size_t{images} * groups * channels * size[0] * size[1]);
    for (auto& x : picture) x = static_cast<std::byte>(random.pick(0, 255));
    zero = static_cast<std::byte>(random.pick(0, 255));
    if (end != 0) {
      const std::uint8_t least = type == DataType::int8 ? 128 : 0;
      const auto most = static_cast<std::uint8_t>(least - 1);
      std::ranges::fill(picture, std::byte{end < 0 ? least : most});
      zero = std::byte{end < 0 ? most : least};
    }
    weights.resize(std::size_t{groups} * filters * channels * window[0] * window[1]);
    for (auto& x : weights)
      x = lowest + static_cast<int>(random.pick(0, static_cast<std::uint32_t>(highest - lowest)));
    const std::size_t of_filter = weights.size() / (groups * filters);
    if (first)
      for (std::size_t i = 0; i < weights.size(); i += of_filter) weights[i] = *first;
    for (std::uint32_t i = 0; i < groups * filters; ++i)
      biases.push_back(static_cast<int>(random.pick(0, 2000)) - 1000);
    kernels::Problem p;
    p.op = kernels::op_integer_convolution;
    p.own_inputs = 4;
    Conv2dAttributes a;
    a.padding.assign(padding.begin(), padding.end());
    a.strides.assign(stride.begin(), stride.end());
    a.dilations.assign(dilation.begin(), dilation.end());
    a.groups = groups;
    p.attributes = a;
    p.inputs.resize(4);
    p.inputs[0].descriptor = {type, {images, groups * channels, size[0], size[1]}};
    p.inputs[1].descriptor = {DataType::int32, {groups * filters, channels, window[0], window[1]}};
    p.inputs[1].constant =
        std::make_shared<const Buffer>(Buffer::copy_of(std::span<const std::int32_t>(weights)));
    p.inputs[2].descriptor = {type, {}};
    p.inputs[3].descriptor = {DataType::int32, {1, groups * filters, 1, 1}};
    p.outputs.resize(1);
    p.outputs[0].descriptor = {DataType::int32, {images, groups * filters, out(0), out(1)}};
    return p;
  }

  std::vector<std::int32_t> expected() const {
    std::vector<std::int32_t> result;
    const auto tap = [&](std::size_t i, std::uint32_t at, std::uint32_t k) {
      return std::int64_t{at} * stride[i] + std::int64_t{k} * dilation[i] - padding[2 * i];
    };
    for (std::uint32_t n = 0; n < images; ++n)
      for (std::uint32_t f = 0; f < groups * filters; ++f)
        for (std::uint32_t y = 0; y < out(0); ++y)
          for (std::uint32_t x = 0; x < out(1); ++x) {
            std::int64_t sum = biases[f];
            for (std::uint32_t c = 0; c < channels; ++c)
              for (std::uint32_t ky = 0; ky < window[0]; ++ky)
                for (std::uint32_t kx = 0; kx < window[1]; ++kx) {
                  const auto row = tap(0, y, ky), column = tap(1, x, kx);
                  if (row < 0 || row >= size[0] || column < 0 || column >= size[1]) continue;
                  const auto plane = (n * groups + f / filters) * channels + c;
                  const auto at = (std::int64_t{plane} * size[0] + row) * size[1] + column;
                  sum += std::int64_t{byte_value(picture[static_cast<std::size_t>(at)], type) -
                                      byte_value(zero, type)} *
                         weights[((f * channels + c) * window[0] + ky) * window[1] + kx];
                }
            result.push_back(static_cast<std::int32_t>(sum));
          }
    return result;
  }
};

void check(Convolution c, std::uint32_t seed, void (*run)(kernels::Bound&) = tests::run_whole) {
  const auto problem = c.problem(seed);
  const auto expected = c.expected();
  const bool exact = tests::run_fenced<std::int32_t>(
                         *tests::own_kernel_of(problem),
                         {c.picture, {}, std::span(&c.zero, 1), std::as_bytes(std::span(c.biases))},
                         expected.size(), to_string(problem), run, seed % 2 == 0) == expected;
  BOOST_TEST(exact, to_string(problem) << ", seed " << seed);
}

Convolution any_convolution(Random& random) {
  const auto any = [&](std::uint32_t least, std::uint32_t most) {
    return random.pick(least, most);
  };
  Convolution c;
  c.images = any(1, 2), c.groups = any(1, 3), c.channels = any(1, 9), c.filters = any(1, 9);
  for (std::size_t i = 0; i < 2; ++i) {
    c.window[i] = any(1, 4), c.stride[i] = any(1, 3), c.dilation[i] = any(1, 2);
    c.padding[2 * i] = any(0, 3), c.padding[2 * i + 1] = any(0, 3);
    c.size[i] = (c.window[i] - 1) * c.dilation[i] + any(1, 24);
  }
  c.type = any(0, 1) == 0 ? DataType::int8 : DataType::uint8;
  // Small weights are multiplied as bytes, large ones as bytes in several steps, or in 16 bits.
  c.highest = std::array{10, 60, 90, 134, 255}.at(any(0, 4));
  c.lowest = c.highest == 134 ? -121 : -c.highest;
  return c;
}

// -- the pass -------------------------------------------------------------------------------------

/// A convolution as importers write it. Each field is one thing that may be otherwise.
struct WrittenConvolution {
  std::uint32_t groups = 1, channels = 6, filters = 4;  // of a group
  DataType type = DataType::uint8, filter_type = DataType::int8, zero_type = type;
  std::vector<std::array<std::uint32_t, 2>> parts = {{0, 2}, {2, 6}};
  bool zero = true, filter_zeros = true, bias = false, windows = false, computed = false;
  bool dequantized = false, factor = false, quantized = false, relu = false, whole_zero = false;
  bool bias_of_columns = false;
  DataType result_type = DataType::uint8;
  std::vector<float> result_scales = {};  // of each filter; empty: random ones
  std::optional<Number> least = {};

  GraphMaker maker = {};
  ValueId wide = 0, result = 0;
  std::vector<ValueId> products = {};

  ValueId picture_part(std::uint32_t begin, std::uint32_t end) {
    if (groups == 1)
      return begin == 0 && end == channels ? wide : tests::part_of(maker, wide, 1, begin, end);
    const auto split = maker.node(op("reshape"), {wide}, {1, groups, channels, 7, 8},
                                  ReshapeAttributes{{1, groups, channels, 7, 8}});
    const auto taken =
        begin == 0 && end == channels ? split : tests::part_of(maker, split, 2, begin, end);
    const Shape joined{1, groups * (end - begin), 7, 8};
    return maker.node(op("reshape"), {taken}, joined,
                      ReshapeAttributes{{joined.begin(), joined.end()}});
  }
  ValueId filter_row(ValueId filter, std::uint32_t row) {
    PadAttributes a{.beginning_padding = {0, 0, row, 0}, .ending_padding = {0, 0, 2 - row, 0}};
    return maker.node(op("pad"), {tests::part_of(maker, filter, 2, row, row + 1)},
                      tests::shape_of(maker, filter), a);
  }

  void make() {
    const std::uint32_t all = groups * filters;
    const Shape of{1, all, 7, 8}, window{all, channels, 3, 3};
    Conv2dAttributes a;
    a.padding = {1, 1, 1, 1};
    a.groups = groups;
    const auto x = maker.input({1, groups * channels, 7, 8}, type);
    const auto w = computed ? maker.input(window, filter_type)
                            : tests::random_bytes(maker, filter_type, window, 3);
    if (dequantized) {
      const auto scale = maker.constant<float>({1, 1, 1, 1}, {0.5F});
      const auto point = tests::random_bytes(maker, zero_type, {1, 1, 1, 1}, 6);
      const auto steps = maker.random({all, 1, 1, 1}, 0.01F, 0.1F);
      const auto points = tests::random_bytes(maker, filter_type, {all, 1, 1, 1}, 5);
      wide = maker.node(op("dequantizeLinear"), {x, scale, point}, tests::shape_of(maker, x));
      const auto filter = maker.node(op("dequantizeLinear"), {w, steps, points}, window);
      result = maker.node(op("conv2d"), {wide, filter, maker.random({all})}, of, a);
    } else {
      std::optional<ValueId> point, points;
      if (zero) point = maker.input(whole_zero ? Shape{1, 1, 7, 8} : Shape{}, zero_type);
      if (filter_zeros) points = tests::random_bytes(maker, filter_type, {all, 1, 1, 1}, 5);
      wide = tests::difference(maker, x, point);
      const auto filter = tests::difference(maker, w, points);
      std::vector<std::array<ValueId, 2>> pairs;
      for (const auto& [begin, end] : parts) {
        const auto picture = picture_part(begin, end);
        const auto part =
            begin == 0 && end == channels ? filter : tests::part_of(maker, filter, 1, begin, end);
        for (std::uint32_t row = 0; row < (windows ? 3 : 1); ++row)
          pairs.push_back({picture, windows ? filter_row(part, row) : part});
      }
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        products.push_back(maker.node(op("conv2d"), {pairs[i][0], pairs[i][1]}, of, a));
        const auto integer = tests::cast_to(maker, products.back(), DataType::int32);
        result =
            i == 0 ? integer : maker.node(op("add"), {result, integer}, of, {}, DataType::int32);
      }
      if (bias) {
        const auto many =
            maker.constant<std::int32_t>(bias_of_columns ? Shape{1, 1, 1, 8} : Shape{1, all, 1, 1},
                                         std::vector<std::int32_t>(bias_of_columns ? 8 : all, 7));
        result = maker.node(op("add"), {result, many}, of, {}, DataType::int32);
      }
      if (factor || quantized) result = tests::cast_to(maker, result, DataType::float32);
      if (factor) result = maker.node(op("mul"), {result, maker.random({1, all, 1, 1})}, of);
    }
    if (relu) result = maker.node(op("relu"), {result}, of);
    if (least) result = maker.node(op("clamp"), {result}, of, ClampAttributes{least, {}});
    if (quantized) {
      const auto steps = result_scales.empty()
                             ? maker.random({1, all, 1, 1}, 20, 40)
                             : maker.constant<float>({1, all, 1, 1}, result_scales);
      const auto points = tests::random_bytes(maker, result_type, {1, all, 1, 1}, 8);
      result = maker.node(op("quantizeLinear"), {result, steps, points}, of, {}, result_type);
    }
    maker.output(result);
  }
};

/// The steps of the plan. Its results have the bits of a plan without passes, or differ by at most
/// one step if `nearly`.
std::vector<std::string> compared_steps(const GraphMaker& maker, bool nearly = false) {
  Runner with(kernels::make_cpu_backend(), maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), maker.share());
  const auto& graph = *maker.share();
  for (Runner* runner : {&with, &without}) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      Random random(static_cast<std::uint32_t>(i));
      std::vector<std::uint8_t> bytes(
          *byte_length(graph.values[graph.inputs[i].second].descriptor));
      for (auto& x : bytes) x = static_cast<std::uint8_t>(random.pick(0, 255));
      runner->set(i, bytes);
    }
    runner->run();
  }
  const DataType type = graph.values[graph.outputs[0].second].descriptor.data_type;
  if (nearly && type == DataType::float32) {
    const auto one = with.get<float>(0), other = without.get<float>(0);
    for (std::size_t i = 0; i < one.size(); ++i)
      BOOST_TEST(std::abs(one[i] - other[i]) <= 1e-5F * (std::abs(other[i]) + 100));
  } else {
    const Buffer one = with.bytes(0), other = without.bytes(0);
    const auto differs = [&](std::byte a, std::byte b) {
      return std::abs(byte_value(a, type) - byte_value(b, type)) > (nearly ? 1 : 0);
    };
    const bool same = std::ranges::equal(one.bytes(), other.bytes(),
                                         [&](std::byte a, std::byte b) { return !differs(a, b); });
    BOOST_TEST(same);
  }
  return with.plan().describe();
}

void is_one_step(WrittenConvolution written, const std::string& what) {
  BOOST_TEST_CONTEXT(what) {
    written.make();
    const auto steps = compared_steps(written.maker, written.dequantized);
    BOOST_TEST(steps_with(steps, "] integerConvolution") == 1);
    BOOST_TEST(steps.size() == 1);
  }
}
void stays(WrittenConvolution written, const std::string& what, std::ptrdiff_t single = 0) {
  BOOST_TEST_CONTEXT(what) {
    written.make();
    const auto steps = compared_steps(written.maker, written.dequantized);
    BOOST_TEST(steps_with(steps, "] integerConvolution") == single);
    BOOST_TEST(steps.size() > 1);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_convolutions)

BOOST_AUTO_TEST_CASE(sums_are_exact_for_any_shapes) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    check(any_convolution(random), seed, seed % 3 == 0 ? tests::run_parts : tests::run_whole);
  }
}

// The largest products of all, with each kind of instruction a place where they could saturate.
BOOST_AUTO_TEST_CASE(ends_of_the_types_do_not_saturate) {
  for (const auto type : {DataType::int8, DataType::uint8})
    for (const int weight : {-255, -128, -65, -64, -33, -32, 32, 33, 64, 65, 127, 128, 255})
      for (const std::uint32_t channels : {1U, 2U, 4U, weight * weight == 255 * 255 ? 600U : 30U})
        for (const int end : {-1, 1})
          check(
              {.channels = channels, .type = type, .lowest = weight, .highest = weight, .end = end},
              1);
}

// A weight minus its zero point may be more than a byte, and its neighbour 0.
BOOST_AUTO_TEST_CASE(single_weights_may_be_larger_than_a_byte) {
  for (const int first : {-255, -254, -129, -128, 127, 128, 129, 254, 255})
    for (const std::uint32_t channels : {1U, 2U, 5U})
      for (const int others : {0, 3})
        check({.channels = channels, .lowest = -others, .highest = others, .first = first}, 1);
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  check({.channels = 64, .filters = 32, .size = {40, 40}}, 1, tests::run_parts);
  check({.channels = 64, .filters = 32, .size = {40, 40}, .stride = {2, 2}}, 2, tests::run_parts);
  check({.groups = 64, .channels = 1, .filters = 1, .size = {50, 50}}, 3, tests::run_parts);
}

// The rows of a picture are written in blocks, each with its own padding.
BOOST_AUTO_TEST_CASE(pictures_of_several_blocks) {
  const Convolution large{.images = 2, .channels = 200, .filters = 8, .size = {60, 30}};
  check(large, 4, tests::run_parts);
  check(large, 5, tests::run_whole);
}

BOOST_AUTO_TEST_CASE(convolutions_of_importers_are_one_step) {
  for (const auto type : {DataType::int8, DataType::uint8})
    for (const auto filter_type : {DataType::int8, DataType::uint8})
      is_one_step({.type = type, .filter_type = filter_type}, "parts of channels");
  is_one_step({.parts = {{0, 6}}}, "one part");
  is_one_step({.parts = {{2, 6}, {0, 2}}}, "parts in another order");
  is_one_step({.zero = false, .filter_zeros = false}, "no zero points");
  is_one_step({.windows = true}, "parts of windows");
  is_one_step({.channels = 900,
               .filters = 420,
               .type = DataType::int8,
               .parts = {{0, 400}, {400, 900}},
               .zero = false,
               .filter_zeros = false},
              "a filter too large to be folded in float32");
  is_one_step({.groups = 3}, "groups");
  is_one_step({.groups = 5, .channels = 1, .filters = 1, .parts = {{0, 1}}}, "depthwise");
  is_one_step({.bias = true}, "a bias");
  is_one_step({.bias = true, .factor = true, .quantized = true}, "quantized");
  is_one_step({.factor = true, .quantized = true, .relu = true, .result_type = DataType::int8},
              "quantized to int8");
  is_one_step({.dequantized = true}, "dequantized");
  is_one_step({.groups = 3, .dequantized = true, .quantized = true, .relu = true},
              "dequantized, quantized again");
}

// Tiny scales make numbers that no integer has, and infinite ones; NaN becomes 0.
BOOST_AUTO_TEST_CASE(quantized_results_saturate) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto type : {DataType::int8, DataType::uint8}) {
    is_one_step({.factor = true, .quantized = true, .result_type = type, .least = infinity},
                "nothing below infinity");
    is_one_step({.filters = 8,
                 .factor = true,
                 .quantized = true,
                 .result_type = type,
                 .result_scales = {1e-45F, 1e-6F, 1e-5F, 1e-4F, 1e-3F, 1e-2F, nan, 1e30F}},
                "of any scale");
  }
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  stays({.filter_type = DataType::uint8, .parts = {{0, 6}, {0, 6}}, .filter_zeros = false},
        "a filter beyond 255, in two steps", 2);
  stays({.zero_type = DataType::int8}, "a zero point of another type");
  stays({.computed = true}, "a filter that is not constant");
  stays({.computed = true, .dequantized = true}, "a filter that is not constant");
  stays({.whole_zero = true}, "a zero point for each pixel");
  stays({.filters = 8, .bias = true, .bias_of_columns = true},
        "a bias for each column, in two steps", 1);
}

BOOST_AUTO_TEST_CASE(parts_that_others_read_stay) {
  WrittenConvolution written;
  written.make();
  written.maker.output(written.products[0]);
  const auto steps = compared_steps(written.maker);
  BOOST_TEST(steps_with(steps, "] integerConvolution") == 1);
  BOOST_TEST(steps_with(steps, "] conv2d") == 1);
}

BOOST_AUTO_TEST_CASE(operands_may_have_other_readers) {
  WrittenConvolution written;
  written.make();
  written.maker.output(written.wide);
  BOOST_TEST(steps_with(compared_steps(written.maker), "] integerConvolution") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
