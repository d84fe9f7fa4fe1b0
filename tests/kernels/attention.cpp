// softmax(scale * Q K + mask) V in one step.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "kernels/attention_operands.hpp"
#include "kernels/vectors.hpp"
#include "tests/kernels/own_loops.hpp"
#include "tests/kernels/random.hpp"
#include "tests/kernels/special_values.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using kernels::Slot;
using tests::Random;

using tests::floats::infinity;
using tests::floats::nan;
using Order = std::vector<std::uint32_t>;

/// Operands as the step sees them, and their numbers as they lie in memory.
struct Attention {
  kernels::Problem problem;
  std::vector<std::vector<float>> inputs;

  Attention() {
    problem.op = kernels::op_attention;
    problem.attributes = LinearAttributes{1, 0};
  }
  Attention& scale(double factor) {
    problem.attributes = LinearAttributes{factor, 0};
    return *this;
  }
  Attention& input(Shape shape, std::vector<float> numbers, Order order = {}) {
    BOOST_REQUIRE_EQUAL(numbers.size(), *element_count(shape));
    problem.inputs.push_back(
        {{DataType::float32, std::move(shape)}, {}, nullptr, true, std::move(order)});
    problem.own_inputs = problem.inputs.size();
    inputs.push_back(std::move(numbers));
    return *this;
  }
  Attention& output(Shape shape, Order order = {}) {
    problem.outputs.push_back(
        {{DataType::float32, std::move(shape)}, {}, nullptr, true, std::move(order)});
    return *this;
  }
  std::size_t results() const { return *element_count(problem.outputs[0].descriptor.shape); }
};

std::vector<float> numbers(Random& random, const Shape& shape, float range = 2) {
  std::vector<float> all(*element_count(shape));
  for (float& x : all) x = static_cast<float>(random.pick(0, 2000)) / 1000 * range - range;
  return all;
}

/// The places of a slot's elements: those of a matrix for each head, in order, broadcast to heads
/// of this shape with `rows` rows and `columns` columns.
std::vector<std::size_t> places(const Slot& slot, Shape shape, std::uint32_t rows,
                                std::uint32_t columns) {
  shape.insert(shape.end(), {rows, columns});
  const Shape& own = slot.descriptor.shape;
  const auto steps = kernels::steps_of(slot);
  std::vector<std::size_t> all(*element_count(shape));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t d = shape.size(), rest = i; d-- > 0; rest /= shape[d]) {
      if (d + own.size() < shape.size()) continue;  // what is not there is broadcast
      const std::size_t at = d + own.size() - shape.size();
      if (own[at] > 1) all[i] += rest % shape[d] * static_cast<std::size_t>(steps[at]);
    }
  return all;
}

/// In double precision, as the result lies.
std::vector<double> expected(const Attention& attention) {
  const auto& problem = attention.problem;
  const auto& inputs = attention.inputs;
  const Shape& shape = problem.outputs[0].descriptor.shape;
  const Shape heads(shape.begin(), shape.end() - 2);
  const std::uint32_t queries = shape[shape.size() - 2], value_features = shape.back();
  const std::uint32_t features = problem.inputs[0].descriptor.shape.back();
  const std::uint32_t keys = problem.inputs[1].descriptor.shape.back();
  const double scale = std::get<LinearAttributes>(problem.attributes).alpha;
  const auto read = [&](std::size_t input, std::uint32_t rows, std::uint32_t columns) {
    std::vector<double> numbers;
    for (const std::size_t at : places(problem.inputs[input], heads, rows, columns))
      numbers.push_back(inputs[input][at]);
    return numbers;
  };
  const auto query = read(0, queries, features), key = read(1, features, keys);
  const auto value = read(2, keys, value_features);
  const auto mask = inputs.size() > 3 ? read(3, queries, keys) : std::vector<double>();
  const auto result_at = places(problem.outputs[0], heads, queries, value_features);
  std::vector<double> result(attention.results());
  for (std::size_t row = 0; row < result.size() / value_features; ++row) {
    const std::size_t head = row / queries;
    std::vector<double> weights(keys);
    for (std::size_t k = 0; k < keys; ++k) {
      for (std::size_t f = 0; f < features; ++f)
        weights[k] += query[row * features + f] * key[(head * features + f) * keys + k];
      weights[k] = weights[k] * scale + (mask.empty() ? 0 : mask[row * keys + k]);
    }
    const double most = *std::ranges::max_element(weights);
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (std::size_t v = 0; v < value_features; ++v) {
      double weighted = 0;
      for (std::size_t k = 0; k < keys; ++k)
        weighted += weights[k] * value[(head * keys + k) * value_features + v];
      result[result_at[row * value_features + v]] = weighted / sum;
    }
  }
  return result;
}

template <class Run>
std::vector<float> computed(const Attention& attention, const Run& run, bool at_end = true) {
  std::vector<std::span<const std::byte>> inputs;
  for (const auto& input : attention.inputs) inputs.push_back(std::as_bytes(std::span(input)));
  return tests::run_fenced<float>(*tests::own_kernel_of(attention.problem), inputs,
                                  attention.results(), to_string(attention.problem), run, at_end);
}
std::vector<float> computed(const Attention& attention, bool at_end = true) {
  return computed(attention, tests::run_whole, at_end);
}

/// With heads in front of their rows or, as projections leave them, behind.
Attention random_attention(std::uint32_t seed) {
  Random random(seed);
  const bool four = random.chance();
  const Shape heads = four ? Shape{random.pick(1, 2), random.pick(1, 5)} : Shape{random.pick(1, 6)};
  const std::uint32_t queries = random.pick(8, 40), keys = random.pick(1, 70);
  const std::uint32_t features = random.pick(1, 70), value_features = random.pick(1, 100);
  const auto matrix = [&](std::uint32_t rows, std::uint32_t columns, bool shared = false) {
    Shape shape = heads;
    if (shared)
      for (auto& extent : shape)
        if (random.chance()) extent = 1;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  // Rows of all heads beside each other; for keys, also as the first product takes them.
  const auto apart = [&]() -> Order {
    if (!random.chance()) return {};
    return four ? Order{0, 2, 1, 3} : Order{1, 0, 2};
  };
  const auto key_order = [&]() -> Order {
    switch (random.pick(0, 2)) {
      case 0:
        return {};
      case 1:
        return four ? Order{0, 1, 3, 2} : Order{0, 2, 1};
      default:
        return four ? Order{0, 2, 3, 1} : Order{1, 2, 0};
    }
  };
  Attention made;
  made.scale(random.chance() ? 1 : 0.3);
  const auto add = [&](const Shape& shape, Order order, float range = 2) {
    made.input(shape, numbers(random, shape, range), std::move(order));
  };
  add(matrix(queries, features), apart(), 0.5);
  add(matrix(features, keys, true), key_order());
  add(matrix(keys, value_features, true), apart());
  if (random.chance()) {
    Shape mask = matrix(random.chance() ? queries : 1, random.pick(0, 4) == 0 ? 1 : keys, true);
    if (random.chance()) mask.erase(mask.begin());
    add(mask, {}, 3);
  }
  made.output(matrix(queries, value_features), apart());
  return made;
}

/// Attention with this number of heads, nothing transposed, and a mask.
Attention plain_attention(std::uint32_t heads, std::uint32_t queries, std::uint32_t keys,
                          std::uint32_t features, std::uint32_t seed = 1) {
  Random random(seed);
  Attention made;
  made.scale(0.25);
  for (const Shape& shape : {Shape{heads, queries, features}, Shape{heads, features, keys},
                             Shape{heads, keys, features}, Shape{1, 1, keys}})
    made.input(shape, numbers(random, shape));
  made.output({heads, queries, features});
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(near_double_precision) {
  if (!tests::has_fused_loops()) return;
  std::size_t masked = 0, transposed = 0, shared = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto attention = random_attention(seed);
    const auto& inputs = attention.problem.inputs;
    const auto result = computed(attention, seed % 2 == 0);
    const auto right = expected(attention);
    double worst = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double error = std::fabs(result[i] - right[i]);
      worst = std::max(worst, std::isnan(error) ? 1 : error);
    }
    // Values are at most 2; scores, of up to 70 products of at most 1, off by some 1e-6.
    BOOST_TEST(worst < 2e-5,
               "off by " << worst << " with seed " << seed << ": " << to_string(attention.problem));
    masked += inputs.size() > 3 ? 1U : 0U;
    transposed += inputs[1].order.empty() ? 0U : 1U;
    shared += inputs[1].descriptor.shape.front() == 1 ? 1U : 0U;
  }
  for (const std::size_t count : {masked, transposed, shared}) BOOST_TEST(count > 30U);
}

BOOST_AUTO_TEST_CASE(keys_and_features_of_any_number) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t keys = 1; keys <= 100; keys += keys % 16 == 1 ? 14U : 1U)
    for (const std::uint32_t features : {1U, 15U, 16U, 17U, 33U, 64U}) {
      const auto attention = plain_attention(1, 8 + keys % 9, keys, features, keys);
      const auto result = computed(attention);
      const auto right = expected(attention);
      const bool near = std::ranges::equal(
          result, right, [](double a, double b) { return std::fabs(a - b) < 2e-5; });
      BOOST_TEST(near, keys << " keys of " << features);
    }
}

// With a score and 0, one weight is 1 / (1 + e^x), and 0 below 2e-32.
BOOST_AUTO_TEST_CASE(weights_are_exact_to_some_units) {
  if (!tests::has_fused_loops()) return;
  constexpr std::uint32_t queries = 4000;
  std::vector<float> scores(queries);
  for (std::size_t i = 0; i < queries; ++i) scores[i] = -0.03F * static_cast<float>(i);
  Attention made;
  made.input({queries, 1}, scores).input({1, 2}, {1, 0}).input({2, 1}, {1, 0});
  const auto result = computed(made.output({queries, 1}));
  for (std::size_t i = 0; i < queries; ++i) {
    const double weight = 1 / (1 + std::exp(-static_cast<double>(scores[i])));
    const double error = std::fabs(result[i] - weight);
    BOOST_TEST(error <= std::max(4e-7 * weight, 2.1e-32), "e^" << scores[i]);
  }
}

// A row knows nothing of those that are computed with it.
BOOST_AUTO_TEST_CASE(rows_are_the_same_in_every_group_and_part) {
  if (!tests::has_fused_loops()) return;
  const auto whole = plain_attention(1, 45, 50, 20);
  const auto all = computed(whole);
  for (std::uint32_t first : {1U, 8U, 30U}) {
    auto some = whole;
    const std::uint32_t queries = 45 - first;
    some.problem.inputs[0].descriptor.shape[1] = some.problem.outputs[0].descriptor.shape[1] =
        queries;
    some.inputs[0].erase(some.inputs[0].begin(), some.inputs[0].begin() + first * 20);
    const auto part = computed(some);
    BOOST_TEST(tests::unlike(part, std::span(all).subspan(first * 20U)) == 0U, first);
  }
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  if (!tests::has_fused_loops()) return;
  struct Cut {
    std::uint32_t heads, queries, keys, features;
    std::size_t parts;
  };
  for (const Cut& cut :
       {Cut{12, 128, 128, 32, 2}, Cut{12, 128, 128, 64, 4}, Cut{5, 200, 200, 64, 5},
        Cut{1, 500, 400, 64, 4}, Cut{2, 70, 300, 64, 2}, Cut{3, 9, 9, 9, 1}}) {
    const auto attention = plain_attention(cut.heads, cut.queries, cut.keys, cut.features);
    const auto kernel = tests::own_kernel_of(attention.problem);
    BOOST_TEST_REQUIRE(kernel->parts() == cut.parts, to_string(attention.problem));
    const auto whole = computed(attention);
    const auto in_parts = computed(attention, [&](kernels::Bound& bound) {
      for (std::size_t part = bound.parts(); part-- > 0;) bound.run_part(part);
    });
    BOOST_TEST(tests::unlike(whole, in_parts) == 0U, to_string(attention.problem));
    BOOST_TEST(std::ranges::none_of(whole, [](float x) { return std::isnan(x); }));
  }
}

// Each has memory of its own: two may be computed at the same time.
BOOST_AUTO_TEST_CASE(parts_share_no_memory) {
  if (!tests::has_fused_loops()) return;
  const auto attention = plain_attention(12, 128, 128, 64);
  computed(attention, [](kernels::Bound& bound, std::span<const std::byte> scratch) {
    const std::size_t own = scratch.size() / bound.parts();
    for (std::size_t part = 0; part < bound.parts(); ++part) {
      const std::vector before(scratch.begin(), scratch.end());
      bound.run_part(part);
      const auto first = std::mismatch(before.begin(), before.end(), scratch.begin()).second;
      const auto last = std::mismatch(before.rbegin(), before.rend(), scratch.rbegin()).second;
      BOOST_TEST_REQUIRE((first != scratch.end()));
      BOOST_TEST(static_cast<std::size_t>(first - scratch.begin()) >= part * own);
      BOOST_TEST(static_cast<std::size_t>(last.base() - scratch.begin()) <= (part + 1) * own);
    }
  });
}

// As in masks, and as numbers that have gone wrong.
BOOST_AUTO_TEST_CASE(what_is_infinite_or_not_a_number) {
  if (!tests::has_fused_loops()) return;
  constexpr std::uint32_t queries = 20, keys = 37, features = 5;
  auto attention = plain_attention(1, queries, keys, features);
  for (const float masked : {-10000.0F, -infinity}) {
    for (std::size_t k = 0; k < keys; ++k) attention.inputs[3][k] = k % 3 == 1 ? masked : 0;
    const auto result = computed(attention);
    const auto right = expected(attention);
    for (std::size_t i = 0; i < result.size(); ++i)
      BOOST_TEST(std::fabs(result[i] - right[i]) < 2e-5);
    // Masked elements have no share, even among the largest numbers.
    auto large = attention;
    for (std::size_t f = 0; f < features; ++f) large.inputs[2][features + f] = 3e38F;
    BOOST_TEST(tests::unlike(computed(large), result) == 0U);
  }
  // If all scores of a row are very low, none is low beside the others.
  auto low = attention;
  std::ranges::fill(low.inputs[3], -500.0F);
  auto level = attention;
  std::ranges::fill(level.inputs[3], 0.0F);
  const auto of_low = computed(low), of_level = computed(level);
  for (std::size_t i = 0; i < of_low.size(); ++i)
    BOOST_TEST(std::fabs(of_low[i] - of_level[i]) < 1e-4);
  // A key that is no number is part of every row.
  auto key = level;
  key.inputs[1][7] = nan;
  BOOST_TEST(std::ranges::all_of(computed(key), [](float x) { return std::isnan(x); }));
  // A mask of a number for each row changes that row, if it is none.
  auto of_rows = level;
  of_rows.problem.inputs[3].descriptor.shape = {1, queries, 1};
  of_rows.inputs[3].assign(queries, 0.5F);
  of_rows.inputs[3][3] = nan;
  const auto but_one = computed(of_rows);
  for (std::size_t i = 0; i < but_one.size(); ++i)
    BOOST_TEST(std::isnan(but_one[i]) == (i / features == 3));
  // Nothing is left of all.
  auto none = attention;
  std::ranges::fill(none.inputs[3], -infinity);
  BOOST_TEST(std::ranges::all_of(computed(none), [](float x) { return std::isnan(x); }));
  // The largest values, one of which every row is nearly.
  auto largest = attention;
  std::ranges::fill(largest.inputs[3], 0.0F);
  std::ranges::fill(largest.inputs[2], 3e38F);
  for (const float x : computed(largest)) BOOST_TEST(std::fabs(x / 3e38F - 1) < 1e-5F);
  // One row of queries that is no number is one row of the result.
  for (const float wrong : {nan, infinity}) {
    auto one = attention;
    one.inputs[0][3 * features + 2] = wrong;
    const auto before = computed(attention), after = computed(one);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (i / features == 3)
        BOOST_TEST(std::isnan(after[i]));
      else
        BOOST_TEST(after[i] == before[i]);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_for_it) {
  if (!tests::has_fused_loops()) return;
  const auto takes = [](const kernels::Problem& problem) {
    return kernels::attention_operands(problem).has_value();
  };
  const auto good = plain_attention(2, 16, 16, 8).problem;
  BOOST_TEST(takes(good));
  BOOST_TEST(!takes(plain_attention(2, 7, 16, 8).problem));
  const auto refuses = [&](std::size_t input, Shape shape, Order order) {
    auto other = good;
    other.inputs[input].descriptor.shape = std::move(shape);
    other.inputs[input].order = std::move(order);
    BOOST_TEST(!takes(other), "input " << input);
  };
  // Neither rows nor columns lie together.
  refuses(0, {2, 16, 8}, {0, 2, 1});
  refuses(1, {2, 8, 16}, {2, 1, 0});
  refuses(2, {2, 16, 8}, {2, 1, 0});
  refuses(3, {1, 1, 16}, {0, 2, 1});
  for (std::size_t input = 0; input < 4; ++input) {
    auto half = good;
    half.inputs[input].descriptor.data_type = DataType::float16;
    BOOST_TEST(!takes(half), "input " << input);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
