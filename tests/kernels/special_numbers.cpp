// NaN and infinity through every operator that compares, in every size and layout that has an
// implementation of its own; and options that are numbers of their operand's type.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/special_values.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::GraphMaker;
using tests::op_named;
using tests::Runner;
using tests::floats::infinity;
using tests::floats::nan;

std::vector<float> run(const GraphMaker& maker, const std::vector<float>& x) {
  Runner runner(kernels::make_cpu_backend(), maker.share());
  runner.set(0, x);
  runner.run();
  return runner.get<float>(0);
}

bool is_same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct Function {
  const char* op;
  Attributes attributes;
  float at_nan, at_infinity, at_minus_infinity;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> list{
      {"abs", {}, nan, infinity, infinity},
      {"clamp", ClampAttributes{-1.0, 2.0}, nan, 2, -1},
      {"clamp", ClampAttributes{std::nullopt, 2.0}, nan, 2, -infinity},
      {"clamp", ClampAttributes{}, nan, infinity, -infinity},
      {"elu", EluAttributes{0.5}, nan, infinity, -0.5F},
      {"exp", {}, nan, infinity, 0},
      {"leakyRelu", LeakyReluAttributes{0.5}, nan, infinity, -infinity},
      {"linear", LinearAttributes{0, 1.0}, nan, nan, nan},
      {"linear", LinearAttributes{2, 1.0}, nan, infinity, -infinity},
      {"neg", {}, nan, -infinity, infinity},
      {"relu", {}, nan, infinity, 0},
      {"sigmoid", {}, nan, 1, 0},
      {"softplus", {}, nan, infinity, 0},
      {"tanh", {}, nan, 1, -1},
  };
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(special_numbers)

BOOST_AUTO_TEST_CASE(functions_of_nan_and_infinity) {
  for (const std::uint32_t count : {3U, 40U, 1500U, 40000U})
    for (const Function& function : functions()) {
      std::vector<float> x(count, 0.5F);
      x[0] = nan, x[1] = infinity, x[count - 1] = -infinity;
      GraphMaker maker;
      maker.output(
          maker.node(op_named(function.op), {maker.input({count})}, {count}, function.attributes));
      const auto y = run(maker, x);
      BOOST_TEST(is_same(y[0], function.at_nan), function.op << " of NaN is " << y[0]);
      BOOST_TEST(is_same(y[1], function.at_infinity), function.op << " of infinity is " << y[1]);
      BOOST_TEST(is_same(y[count - 1], function.at_minus_infinity),
                 function.op << " of -infinity is " << y[count - 1]);
    }
}

// Behind a sum, in blocks of channels that a convolution made.
BOOST_AUTO_TEST_CASE(functions_of_nan_behind_others) {
  for (const Function& function : functions()) {
    GraphMaker maker;
    const Shape shape{1, 32, 3, 3};
    const auto x = maker.input(shape);
    const auto y =
        maker.node(op("conv2d"), {maker.node(op("abs"), {x}, shape), maker.random({32, 32, 1, 1})},
                   shape, Conv2dAttributes{});
    const auto sum = maker.node(op("add"), {y, maker.node(op("abs"), {y}, shape)}, shape);
    maker.output(maker.node(op_named(function.op), {sum}, shape, function.attributes));
    const auto z = run(maker, std::vector<float>(32 * 9, nan));
    BOOST_TEST(std::isnan(z[0]), function.op << " of a sum that is NaN is " << z[0]);
  }
}

// Behind a convolution or product, oneDNN drops NaN in some functions that it computes in the same
// step. Our own loops and other steps keep it.
BOOST_AUTO_TEST_CASE(functions_of_nan_behind_products) {
  const auto may_drop = [](std::string_view name) {
    return name == "relu" || name == "clamp" || name == "sigmoid" || name == "elu";
  };
  for (const Function& function : functions())
    for (const bool product : {false, true})
      for (const std::uint32_t channels : {1U, 32U, 64U}) {
        GraphMaker maker;
        const Shape in = product ? Shape{9, 64} : Shape{1, channels, 7, 7};
        const Shape out = product ? Shape{9, channels} : Shape{1, 32, 7, 7};
        const auto y =
            product
                ? maker.node(op("matmul"), {maker.input(in), maker.random({64, channels})}, out)
                : maker.node(op("conv2d"), {maker.input(in), maker.random({32, channels, 1, 1})},
                             out, Conv2dAttributes{});
        maker.output(maker.node(op_named(function.op), {y}, out, function.attributes));
        Runner runner(kernels::make_cpu_backend(), maker.share());
        runner.set(0, std::vector<float>(*element_count(in), nan));
        runner.run();
        std::string joined, text;
        for (const auto& step : runner.plan().describe()) {
          text += "\n" + step;
          if (step.find("+") != std::string::npos && step.starts_with("onednn")) joined = step;
        }
        for (const float z : runner.get<float>(0))
          BOOST_REQUIRE_MESSAGE(std::isnan(z) || (may_drop(function.op) && !joined.empty()),
                                function.op << " of NaN is " << z << text);
      }
}

namespace {

/// Results of `name` from `first` to `last` are off by `allowed` places at most.
void check_range(const char* name, double (*exact)(double), float first, float last,
                 double allowed) {
  std::vector<float> x;
  for (int i = 0; i <= 3000; ++i)
    x.push_back(first + (last - first) * static_cast<float>(i) / 3000);
  GraphMaker maker;
  const Shape shape{static_cast<std::uint32_t>(x.size())};
  maker.output(maker.node(op_named(name), {maker.input(shape)}, shape,
                          default_attributes(ops::find(name)->attributes)));
  const auto y = run(maker, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(x[i]);
    const int exponent = expected == 0 ? -126 : std::max(std::ilogb(expected), -126);
    BOOST_TEST((y[i] == static_cast<float>(expected) ||
                std::fabs(y[i] - expected) <= allowed * std::ldexp(1, exponent - 23)),
               name << " of " << x[i] << " is " << y[i] << ", expected " << expected);
  }
}

double exact_elu(double x) { return x < 0 ? std::expm1(x) : x; }
double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

// Also where little is left of a result.
BOOST_AUTO_TEST_CASE(exponentials_keep_their_precision) {
  check_range(
      "exp", [](double x) { return std::exp(x); }, -110, 92, 2);
  check_range("sigmoid", exact_sigmoid, -100, 20, 4);
  check_range("elu", exact_elu, -1e-3F, 1e-3F, 4);
  check_range("elu", exact_elu, -20, 4, 4);
}

BOOST_AUTO_TEST_CASE(ceil_of_what_is_nearly_0_is_minus_0) {
  for (const std::uint32_t count : {1U, 5U, 100U, 5000U}) {
    GraphMaker maker;
    maker.output(maker.node(op("ceil"), {maker.input({count})}, {count}));
    for (const float y : run(maker, std::vector<float>(count, -0.25F)))
      BOOST_REQUIRE(y == 0 && std::signbit(y));
  }
}

BOOST_AUTO_TEST_CASE(largest_and_smallest_of_infinities) {
  const float most = std::numeric_limits<float>::max();
  for (const float value : {infinity, -infinity, most, -most, 1.0F})
    for (const auto* name : {"reduceMax", "reduceMin"})
      for (const auto& [shape, axes] : {std::pair<Shape, std::vector<std::uint32_t>>{{2}, {0}},
                                        {{3, 70}, {1}},
                                        {{70, 3}, {0}},
                                        {{4, 3, 33}, {0, 2}},
                                        {{2, 3, 4, 5, 6}, {1, 3}}}) {
        ReduceAttributes a;
        a.axes = axes;
        Shape result;
        for (std::uint32_t i = 0; i < shape.size(); ++i)
          if (std::ranges::find(axes, i) == axes.end()) result.push_back(shape[i]);
        GraphMaker maker;
        maker.output(maker.node(op_named(name), {maker.input(shape)}, result, a));
        std::vector<float> x(*element_count(shape), value);
        for (const float y : run(maker, x))
          BOOST_TEST(y == value, name << " of " << value << " is " << y);
        x[0] = 3;  // one result is another number
        const auto y = run(maker, x);
        const bool taken = (std::string_view(name) == "reduceMax") == (value < 3);
        BOOST_TEST(y.front() == (taken ? 3 : value));
        BOOST_TEST(y.back() == (y.size() == 1 && taken ? 3 : value));
      }
}

BOOST_AUTO_TEST_CASE(windows_of_infinities) {
  const float lowest = std::numeric_limits<float>::lowest();
  for (const float value : {-infinity, lowest, infinity})
    for (const auto layout : {InputOperandLayout::nchw, InputOperandLayout::nhwc})
      for (const bool blocked : {false, true}) {
        if (blocked && layout == InputOperandLayout::nhwc) continue;
        Pool2dAttributes a;
        a.layout = layout;
        a.window_dimensions = {{2, 3}};
        a.padding = {1, 0, 1, 1};
        a.strides = {2, 1};
        a.dilations = {1, 2};
        const bool nchw = layout == InputOperandLayout::nchw;
        const Shape shape = nchw ? Shape{1, 20, 5, 6} : Shape{1, 5, 6, 20};
        const Shape result = nchw ? Shape{1, 20, 3, 4} : Shape{1, 3, 4, 20};
        GraphMaker maker;
        auto x = maker.input(shape);
        if (blocked) {  // the first channel for all
          std::vector<float> filter(20 * 20, 0.0F);
          for (std::size_t i = 0; i < 20; ++i) filter[i * 20] = 1;
          const auto bias = maker.constant<float>({20}, std::vector<float>(20, value));
          x = maker.node(op("conv2d"), {x, maker.constant<float>({20, 20, 1, 1}, filter), bias},
                         shape, Conv2dAttributes{});
        }
        maker.output(maker.node(op("maxPool2d"), {x}, result, a));
        std::vector<float> numbers(600, blocked ? 0 : value);
        for (const float y : run(maker, numbers)) BOOST_TEST(y == value);
        if (blocked || std::isinf(value) == (value > 0)) continue;
        numbers[0] = 3;
        const auto y = run(maker, numbers);
        BOOST_TEST(y[nchw ? 1 : 20] == 3);  // the first window begins in the padding
        BOOST_TEST(y.back() == value);
      }
}

BOOST_AUTO_TEST_CASE(bounds_of_integers_that_are_nan) {
  for (const bool upper : {false, true}) {
    GraphMaker maker;
    ClampAttributes a;
    (upper ? a.max_value : a.min_value) = static_cast<double>(nan);
    const auto x = maker.input({3}, DataType::int32);
    maker.output(maker.node(op("clamp"), {x}, {3}, a, DataType::int32));
    Runner runner(kernels::make_cpu_backend(), maker.share());
    runner.set<std::int32_t>(0, {5, 0, -7});
    runner.run();
    const std::vector<std::int32_t> expected =
        upper ? std::vector<std::int32_t>{0, 0, -7} : std::vector<std::int32_t>{5, 0, 0};
    BOOST_TEST(runner.get<std::int32_t>(0) == expected, boost::test_tools::per_element());
  }
}

namespace {

struct Options {
  const char* op;
  std::size_t operands;  ///< vectors or matrices like the input
  Attributes given, cast;
};

GemmAttributes gemm(double alpha, double beta) {
  GemmAttributes a;
  a.alpha = alpha;
  a.beta = beta;
  return a;
}
template <class A>
A with_epsilon(double epsilon) {
  A a;
  a.epsilon = epsilon;
  return a;
}

Buffer result_of(const Options& options, const Attributes& attributes, bool optimize) {
  GraphMaker maker;
  const Shape shape{1, 2, 2, 2};
  const bool matrix = std::holds_alternative<GemmAttributes>(attributes);
  const Shape own = matrix ? Shape{2, 2} : shape;
  std::vector<ops::ValueId> operands{maker.input(own, DataType::float16)};
  for (std::size_t i = 0; i < options.operands; ++i)
    operands.push_back(maker.input(matrix ? own : Shape{2}, DataType::float16));
  if (matrix) operands.push_back(operands[0]);
  maker.output(maker.node(op_named(options.op), operands, own, attributes, DataType::float16));
  Runner runner(kernels::make_cpu_backend({.optimize = optimize, .reference_only = !optimize}),
                maker.share());
  std::vector<float16> numbers(*element_count(own));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float16(i % 2 == 0 ? 2000.0 - static_cast<double>(i)
                                    : 0.001 - 0.5 * static_cast<double>(i));
  runner.set(0, std::as_bytes(std::span(numbers)));
  for (std::size_t i = 1; i <= options.operands; ++i)
    runner.set(i, std::as_bytes(std::span(numbers).first(matrix ? 4 : 2)));
  runner.run();
  return runner.bytes(0);
}

}  // namespace

// An option of type double counts as the nearest float16 where the operand is one.
BOOST_AUTO_TEST_CASE(options_have_their_operands_type) {
  const double step = 0x1p-10;  // from 1 to the next number
  const std::vector<Options> list{
      {"linear", 0, LinearAttributes{1.0003, 0.0003}, LinearAttributes{1, 0.0003}},
      {"linear", 0, LinearAttributes{1 + 1.4 * step, 0}, LinearAttributes{1 + step, 0}},
      {"leakyRelu", 0, LeakyReluAttributes{1 + 1.4 * step}, LeakyReluAttributes{1 + step}},
      {"elu", 0, EluAttributes{1 + 1.4 * step}, EluAttributes{1 + step}},
      {"hardSigmoid", 0, HardSigmoidAttributes{1 + 1.4 * step, 0.5},
       HardSigmoidAttributes{1 + step, 0.5}},
      {"gemm", 1, gemm(1 + 1.4 * step, 1), gemm(1 + step, 1)},
      {"batchNormalization", 2, with_epsilon<BatchNormalizationAttributes>(2050.9),
       with_epsilon<BatchNormalizationAttributes>(2050)},
      {"instanceNormalization", 0, with_epsilon<InstanceNormalizationAttributes>(2050.9),
       with_epsilon<InstanceNormalizationAttributes>(2050)},
      {"layerNormalization", 0, with_epsilon<LayerNormalizationAttributes>(2050.9),
       with_epsilon<LayerNormalizationAttributes>(2050)},
      {"linear", 0, LinearAttributes{70000, 0}, LinearAttributes{65520, 0}},  // infinite
  };
  for (const Options& options : list)
    for (const bool optimize : {false, true}) {
      const Buffer given = result_of(options, options.given, optimize);
      const Buffer cast = result_of(options, options.cast, optimize);
      BOOST_TEST(std::memcmp(given.data(), cast.data(), given.size()) == 0,
                 options.op << (optimize ? "" : ", the reference"));
    }
  const Buffer infinite = result_of(list.back(), list.back().given, true);
  BOOST_TEST(std::isinf(static_cast<float>(infinite.as<float16>()[0])));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
