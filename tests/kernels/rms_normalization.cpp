// Rows divided by the root of their mean square: the pass that joins the pieces, and the step.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <optional>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/random.hpp"
#include "tests/kernels/special_values.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Random;
using tests::Runner;
using tests::floats::infinity;
using tests::floats::nan;

enum class SquareBy { mul, pow };
enum class DivisionBy { div, reciprocal, quotient };

/// A normalization as decoders write it. Each field is one thing that may be otherwise.
struct WrittenNormalization {
  Shape shape{2, 3, 20};
  std::optional<Shape> scale = Shape{20};
  SquareBy square = SquareBy::mul;
  DivisionBy division = DivisionBy::div;
  bool scale_first = false, epsilon_first = false, root_first = false, constant_scale = true;
  std::uint32_t axis = 2;
  bool keeps = true;
  float exponent = 2, one = 1, epsilon = 1e-5F;
  bool computed_epsilon = false, other_row = false, other_square = false;
  int read_too = -1;  ///< the number of an inner result that is an output

  GraphMaker maker = {};

  ValueId scalar(float value) { return maker.constant<float>({}, {value}); }
  void make() {
    const auto x = maker.input(shape), other = other_row || other_square ? maker.input(shape) : x;
    Shape reduced = shape;
    reduced[axis] = 1;
    if (!keeps) reduced.erase(reduced.begin() + axis);
    const auto squares = square == SquareBy::pow
                             ? maker.add("pow", {x, scalar(exponent)}, shape)
                             : maker.add("mul", {x, other_square ? other : x}, shape);
    const auto mean =
        maker.add("reduceMean", {squares}, reduced, ReduceAttributes{{{axis}}, keeps});
    const auto small = computed_epsilon ? maker.input({1}) : scalar(epsilon);
    const auto sum = maker.add(
        "add", epsilon_first ? std::vector{small, mean} : std::vector{mean, small}, reduced);
    auto root = maker.add("sqrt", {sum}, reduced);
    if (division == DivisionBy::reciprocal) root = maker.add("reciprocal", {root}, reduced);
    if (division == DivisionBy::quotient) root = maker.add("div", {scalar(one), root}, reduced);
    auto y = maker.add(division == DivisionBy::div ? "div" : "mul",
                       root_first ? std::vector{root, other} : std::vector{other, root}, shape);
    if (scale) {
      const auto factor = constant_scale ? maker.random(*scale) : maker.input(*scale);
      y = maker.add("mul", scale_first ? std::vector{factor, y} : std::vector{y, factor}, shape);
    }
    maker.output(y);
    if (read_too >= 0) maker.output(maker.inner[static_cast<std::size_t>(read_too)]);
  }
};

/// The number of steps, if one is the normalization; else 0. Results are near those of a plan
/// without passes.
std::size_t normalization_steps(WrittenNormalization written, const std::string& what) {
  written.make();
  Runner with(kernels::make_cpu_backend(), written.maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), written.maker.share());
  for (Runner* runner : {&with, &without}) {
    runner->randomize(5);
    runner->run();
  }
  const auto one = with.get<float>(0), other = without.get<float>(0);
  for (std::size_t i = 0; i < one.size(); ++i)
    if (std::isnan(one[i]) != std::isnan(other[i]) ||
        std::abs(one[i] - other[i]) > 1e-6F * std::max(1.0F, std::abs(other[i])))
      BOOST_ERROR(what << ": element " << i << " is " << one[i] << ", expected " << other[i]);
  const auto steps = with.plan().describe();
  return tests::steps_with(steps, "rmsNormalization") == 1 ? steps.size() : 0;
}

/// The step alone, of rows of `width` numbers with a scale.
std::vector<float> rms_normalized(const std::vector<float>& x, const std::vector<float>& scale,
                                  float epsilon, std::size_t least_parts = 1) {
  const auto width = static_cast<std::uint32_t>(scale.size());
  WrittenNormalization written{.shape = {static_cast<std::uint32_t>(x.size()) / width, width},
                               .scale = Shape{width},
                               .constant_scale = false,
                               .axis = 1,
                               .epsilon = epsilon};
  written.make();
  Runner runner(kernels::make_cpu_backend(), written.maker.share());
  const auto steps = runner.plan().describe();
  BOOST_TEST(steps.size() == 1U);
  BOOST_TEST(steps[0].find("rmsNormalization") != std::string::npos, steps[0]);
  BOOST_TEST((steps[0].find(" parts") != std::string::npos) == (least_parts > 1), steps[0]);
  runner.set(0, x);
  runner.set(1, scale);
  runner.run();
  return runner.get<float>(0);
}

std::vector<float> row_numbers(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(random.pick(0, 4000)) / 1000 - 2;
  return values;
}

double row_expected(std::span<const float> row, std::span<const float> scale, std::size_t i,
                    float epsilon) {
  double squares = 0;
  for (const float x : row) squares += double{x} * x;
  return row[i] / std::sqrt(squares / static_cast<double>(row.size()) + double{epsilon}) * scale[i];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rms_normalization)

BOOST_AUTO_TEST_CASE(near_double_precision) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::size_t width = random.pick(1, 150), rows = random.pick(1, 5);
    const auto x = row_numbers(random, rows * width), scale = row_numbers(random, width);
    const auto result = rms_normalized(x, scale, 0.01F);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto row = std::span(x).subspan(i / width * width, width);
      BOOST_TEST(std::fabs(result[i] - row_expected(row, scale, i % width, 0.01F)) < 2e-6,
                 "seed " << seed << ": element " << i << " of rows of " << width);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_row_has_the_same_bits_alone_and_among_others) {
  Random random(1);
  for (const std::size_t width : {64U, 576U, 577U}) {
    const std::size_t rows = 64;
    const auto x = row_numbers(random, rows * width), scale = row_numbers(random, width);
    const auto together = rms_normalized(x, scale, 1e-5F, width > 64 ? 2 : 1);
    for (std::size_t row = 0; row < rows; row += 9) {
      const auto* const begin = x.data() + row * width;
      const auto alone = rms_normalized({begin, begin + width}, scale, 1e-5F);
      BOOST_TEST(std::memcmp(alone.data(), &together[row * width], width * sizeof(float)) == 0,
                 "row " << row << " of " << width);
    }
  }
}

// Squares whose sum float32 does not hold do not concern other rows.
BOOST_AUTO_TEST_CASE(large_and_special_numbers) {
  constexpr std::size_t width = 40;
  Random random(2);
  auto x = row_numbers(random, 6 * width);
  const auto scale = row_numbers(random, width), before = rms_normalized(x, scale, 1e-5F);
  for (std::size_t i = 0; i < width; ++i) x[width + i] *= 1e19F;
  x[2 * width + 7] = infinity;
  x[3 * width + 7] = nan;
  std::fill_n(x.begin() + 4 * width, width, 0.0F);
  const auto result = rms_normalized(x, scale, 1e-5F);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto row = i / width;
    const bool wrong = row == 3 || i == 2 * width + 7;
    const float right = row == 2 || row == 4 ? 0 : before[i];
    BOOST_TEST((wrong ? std::isnan(result[i]) : std::fabs(result[i] - right) < 2e-4F),
               i << ": " << result[i]);
  }
  const auto nothing = rms_normalized(std::vector<float>(width), scale, 0);
  BOOST_TEST(std::ranges::all_of(nothing, [](float y) { return std::isnan(y); }));
}

BOOST_AUTO_TEST_CASE(pieces_are_one_step) {
  const auto one = [](WrittenNormalization written, const std::string& what) {
    BOOST_TEST(normalization_steps(std::move(written), what) == 1U, what);
  };
  one({}, "as it is written");
  one({.square = SquareBy::pow}, "a power");
  one({.division = DivisionBy::reciprocal}, "a reciprocal");
  one({.division = DivisionBy::reciprocal, .root_first = true}, "a reciprocal first");
  one({.division = DivisionBy::quotient}, "one by the root");
  one({.scale_first = true}, "the scale first");
  one({.epsilon_first = true}, "epsilon first");
  one({.constant_scale = false}, "a scale that is no constant");
  one({.scale = Shape{1, 1, 20}}, "a scale with more dimensions");
  one({.scale = std::nullopt}, "no scale");
  one({.epsilon = 0}, "no epsilon");
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  const auto stays = [](WrittenNormalization written, const std::string& what) {
    BOOST_TEST(normalization_steps(std::move(written), what) == 0U, what);
  };
  stays({.shape = {20, 20, 20}, .axis = 1}, "another axis");
  stays({.shape = {20, 20, 20}, .keeps = false}, "a mean that drops its axis");
  stays({.square = SquareBy::pow, .exponent = 3}, "a cube");
  stays({.division = DivisionBy::quotient, .one = 2}, "two by the root");
  stays({.root_first = true}, "the root by the row");
  stays({.computed_epsilon = true}, "an epsilon that is no constant");
  stays({.other_row = true}, "another row");
  stays({.other_square = true}, "a product with another row");
  // A scale of rows is a step of its own.
  BOOST_TEST(normalization_steps({.scale = Shape{3, 1}}, "a scale for each row") == 2U);
  BOOST_TEST(normalization_steps({.scale = Shape{}}, "a scale for all") == 2U);
  // Each inner result, if another reader needs it. Only the scale can be left out.
  WrittenNormalization all;
  all.make();
  for (std::size_t i = 0; i + 1 < all.maker.inner.size(); ++i) {
    const auto steps =
        normalization_steps({.read_too = static_cast<int>(i)}, "inner " + std::to_string(i));
    BOOST_TEST(steps == (i + 2 == all.maker.inner.size() ? 2U : 0U), "inner result " << i);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
