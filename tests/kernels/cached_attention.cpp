// Attention over a cache: the loops that compute it, and the pass that joins it.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/own_loops.hpp"
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

// -- the loops ------------------------------------------------------------------------------------

enum AttentionOperand : std::size_t {
  q,
  old_keys,
  old_values,
  old_mask,
  new_keys,
  new_values,
  new_mask
};

/// A problem and its numbers. The cache holds `length` tokens; row i sees the new ones up to i.
struct Cached {
  std::uint32_t groups = 1, rows = 3, features = 64, cached = 40, fresh = 3, length = 17;
  std::uint32_t batch = 0;   ///< 0: no such dimension; else each has masks of its own
  bool each_group = false;   ///< masks for each group; one key less in the second
  bool each_row = false;     ///< cached masks for each row, which does not see keys up to its own
  bool one_part = false;     ///< no new keys
  bool halves = false;       ///< the cache is float16
  float hidden = -infinity;  ///< of masks
  kernels::Problem problem = {};
  std::array<std::vector<float>, 7> inputs = {};

  std::size_t all_groups() const { return std::size_t{groups} * std::max(batch, 1U); }
  Shape led(std::uint32_t each, Shape shape) const {
    shape.insert(shape.begin(), each);
    if (batch > 0) shape.insert(shape.begin(), batch);
    return shape;
  }
  /// Where the mask of a group and a row begins, in rows.
  std::size_t mask_row(std::size_t group, std::size_t row, bool with_rows) const {
    const std::size_t own = each_group ? group : group / groups;
    return with_rows ? own * rows + row : own;
  }
  bool sees(std::size_t mask, std::size_t key) const {
    const std::size_t own = each_row ? mask / rows : mask, row = each_row ? mask % rows : 0;
    return key + (each_group ? own % groups % 2 : 0) < length && (!each_row || key >= row);
  }
  bool is_half(std::size_t i) const { return halves && (i == old_keys || i == old_values); }
  Cached& make(std::uint32_t seed = 1) {
    Random random(seed);
    const std::uint32_t masks = each_group ? groups : 1;
    const std::array shapes{
        led(groups, {rows, features}),   led(groups, {cached, features}),
        led(groups, {cached, features}), led(masks, {each_row ? rows : 1, cached}),
        led(groups, {fresh, features}),  led(groups, {fresh, features}),
        led(masks, {rows, fresh})};
    problem.op = kernels::op_cached_attention;
    problem.attributes = LinearAttributes{0.25, 0};
    problem.own_inputs = one_part ? std::size_t{new_keys} : shapes.size();
    for (std::size_t i = 0; i < problem.own_inputs; ++i) {
      problem.inputs.emplace_back().descriptor = {
          is_half(i) ? DataType::float16 : DataType::float32, shapes[i]};
      for (std::size_t j = 0; j < *element_count(shapes[i]); ++j)
        inputs[i].push_back(i == old_mask   ? sees(j / cached, j % cached) ? 0 : hidden
                            : i == new_mask ? j % fresh <= j / fresh % rows ? 0 : hidden
                                            : static_cast<float>(random.pick(0, 2000)) / 1000 - 1);
      if (is_half(i))
        for (float& value : inputs[i]) value = static_cast<float>(float16(value));
    }
    problem.outputs.emplace_back().descriptor = {DataType::float32, shapes[q]};
    return *this;
  }
  /// Overwrites what no row may see.
  Cached& spoil(float with) {
    for (const auto operand : {old_keys, old_values})
      for (std::size_t i = 0; i < inputs[operand].size(); ++i)
        if (i / features % cached >= length) inputs[operand][i] = with;
    return *this;
  }
  Cached& only_row(std::uint32_t row) {
    for (const auto operand : {q, new_mask}) {
      const std::size_t wide = operand == q ? features : fresh;
      std::vector<float> own;
      for (std::size_t i = row * wide; i < inputs[operand].size(); i += rows * wide)
        own.insert(own.end(), &inputs[operand][i], &inputs[operand][i] + wide);
      inputs[operand] = own;
      problem.inputs[operand].descriptor.shape[1] = 1;
    }
    problem.outputs[0].descriptor.shape[1] = rows = 1;
    return *this;
  }
};

std::vector<float> computed(const Cached& attention, bool in_parts = false) {
  std::vector<std::span<const std::byte>> inputs;
  std::array<std::vector<float16>, 7> narrow;
  for (std::size_t i = 0; i < attention.problem.inputs.size(); ++i) {
    const auto& wide = attention.inputs[i];
    narrow[i] = std::vector<float16>(wide.begin(), wide.end());
    inputs.push_back(attention.is_half(i) ? std::as_bytes(std::span<const float16>(narrow[i]))
                                          : std::as_bytes(std::span(wide)));
  }
  return tests::run_fenced<float>(*tests::own_kernel_of(attention.problem), inputs,
                                  attention.inputs[q].size(), to_string(attention.problem),
                                  in_parts ? tests::run_parts : tests::run_whole);
}

std::vector<double> expected(const Cached& a) {
  std::vector<double> result(a.inputs[q].size());
  const std::size_t fresh = a.one_part ? 0 : a.fresh, keys = a.cached + fresh, f = a.features;
  for (std::size_t i = 0; i < a.all_groups() * a.rows; ++i) {
    const std::size_t group = i / a.rows, row = i % a.rows;
    const auto element = [&](AttentionOperand old, AttentionOperand own, std::size_t k,
                             std::size_t j) {
      return double{k < a.cached ? a.inputs[old][(group * a.cached + k) * f + j]
                                 : a.inputs[own][(group * fresh + k - a.cached) * f + j]};
    };
    const auto mask = [&](std::size_t k) {
      return double{k < a.cached
                        ? a.inputs[old_mask][a.mask_row(group, row, a.each_row) * a.cached + k]
                        : a.inputs[new_mask][a.mask_row(group, row, true) * fresh + k - a.cached]};
    };
    std::vector<double> weights(keys);
    double most = -infinity, sum = 0;
    for (std::size_t k = 0; k < keys; ++k) {
      for (std::size_t j = 0; j < f; ++j)
        weights[k] += a.inputs[q][i * f + j] * element(old_keys, new_keys, k, j);
      weights[k] = weights[k] * 0.25 + mask(k);
      most = std::max(most, weights[k]);
    }
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (std::size_t k = 0; k < keys; ++k)
      for (std::size_t j = 0; j < f; ++j)
        result[i * f + j] += weights[k] / sum * element(old_values, new_values, k, j);
  }
  return result;
}

void check_values(const Cached& attention, const std::vector<float>& result, double near = 5e-6) {
  const auto right = expected(attention);
  double worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double error = std::fabs(right[i] - double{result[i]});
    worst = std::max(worst, std::isnan(error) ? 1 : error);
  }
  BOOST_TEST(worst < near, to_string(attention.problem) << " is off by " << worst);
}

bool equal_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// -- the pass -------------------------------------------------------------------------------------

/// An attention as decoders write it, of new keys beside a cache. Each field is one thing that may
/// be otherwise.
struct WrittenAttention {
  Shape mask{1, 1, 40};
  std::vector<std::uint32_t> turn{0, 2, 1};
  std::uint32_t rows = 6, softmax_axis = 2, features = 32;
  float new_scale = 0.5F;
  bool other_query = false, swapped_weights = false, swapped = false, mask_first = false;
  bool many_masks = false, computed_scale = false, unmasked = false;
  DataType keys = DataType::float32, values = DataType::float32;  ///< of the cache, before casts
  int read_too = -1;  ///< the number of an inner result that is an output

  GraphMaker maker = {};

  ValueId scores(ValueId queries, ValueId keys, std::uint32_t count, ValueId added, float scale) {
    const Shape turned{2, features, count}, shape{2, rows, count};
    Shape as_it_lies = turned;
    if (turn != std::vector<std::uint32_t>{0, 2, 1}) as_it_lies = {2, count, features};
    const auto product = maker.add(
        "matmul", {queries, maker.add("transpose", {keys}, as_it_lies, TransposeAttributes{turn})},
        shape);
    const auto factor = computed_scale ? maker.input({1}) : maker.constant<float>({}, {scale});
    const auto scaled = maker.add("mul", {product, factor}, shape);
    if (unmasked) return scaled;
    return maker.add("add", mask_first ? std::vector{added, scaled} : std::vector{scaled, added},
                     shape);
  }
  void make() {
    const Shape query{2, rows, features}, old{2, 40, features}, own{2, 5, features};
    const auto cache = [&](DataType type) {
      const auto read = maker.input(old, type);
      const CastAttributes widened{DataType::float32};
      return type == DataType::float32 ? read : maker.node(op("cast"), {read}, old, widened);
    };
    const auto queries = maker.input(query), kc = cache(keys), vc = cache(values),
               kn = maker.input(own), vn = maker.input(own), mc = maker.input(mask),
               mn = maker.input({many_masks ? 2U : 1U, rows, 5}),
               others = other_query ? maker.input(query) : queries;
    const auto first = scores(queries, kc, 40, mc, 0.5F),
               second = scores(others, kn, 5, mn, new_scale);
    const Shape all{2, rows, 45}, seen{2, rows, 40}, rest{2, rows, 5};
    const auto both = maker.add("concat", {first, second}, all, ConcatAttributes{2});
    const auto weights = maker.add("softmax", {both}, all, SoftmaxAttributes{softmax_axis});
    const auto parts = maker.add("split", {weights}, seen, SplitAttributes{{40, 5}, false, 2});
    auto& graph = maker.graph();
    graph.values.push_back({ops::Value::Kind::result, {DataType::float32, rest}, nullptr});
    const auto fresh = static_cast<ValueId>(graph.values.size() - 1);
    graph.nodes.back().outputs.push_back(fresh);
    maker.inner.push_back(fresh);
    const auto one = maker.add("matmul", {parts, vc}, query),
               other = maker.add("matmul", {fresh, vn}, query);
    const auto sum =
        maker.node(op("add"), swapped ? std::vector{other, one} : std::vector{one, other}, query);
    maker.output(sum);
    if (read_too >= 0) maker.output(maker.inner[static_cast<std::size_t>(read_too)]);
  }
};

/// An attention to a cache that has all keys, as ONNX Runtime's WebNN provider writes
/// GroupQueryAttention: heads repeat the keys of their group. Each field is one thing that may be
/// otherwise.
struct RepeatedKeys {
  std::uint32_t batch = 1, groups = 2, each = 3, rows = 1, features = 32;
  bool repeats = true, repeats_values = true, by_heads = true, constant_mask = false;
  Shape mask{};  ///< default: of each head and row
  bool wrong_turn = false, mask_first = false;
  std::uint32_t softmax_axis = 3;
  int read_too = -1;

  GraphMaker maker = {};

  ValueId repeated(ValueId x, bool repeat) {
    if (!repeat || each == 1) return x;
    const Shape one =
        by_heads ? Shape{batch, groups, 1, 40, features} : Shape{batch, 1, groups, 40, features};
    Shape wide = one;
    wide[by_heads ? 2 : 1] = each;
    const Shape heads{batch, groups * each, 40, features};
    const auto apart = maker.add("reshape", {x}, one, ReshapeAttributes{one});
    return maker.add("reshape", {maker.add("expand", {apart}, wide, ExpandAttributes{wide})}, heads,
                     ReshapeAttributes{heads});
  }
  void make() {
    const std::uint32_t heads = groups * each;
    const Shape query{batch, heads, rows, features}, scores{batch, heads, rows, 40};
    const Shape cache{batch, groups, 40, features}, all{batch, heads, 40, features};
    if (mask.empty()) mask = scores;
    const auto queries = maker.input(query), k = maker.input(repeats ? cache : all),
               v = maker.input(repeats && repeats_values ? cache : all),
               m = constant_mask ? maker.random(mask) : maker.input(mask);
    const std::vector<std::uint32_t> order = wrong_turn ? std::vector<std::uint32_t>{1, 0, 3, 2}
                                                        : std::vector<std::uint32_t>{0, 1, 3, 2};
    const auto turned = maker.add("transpose", {repeated(k, repeats)}, {batch, heads, features, 40},
                                  TransposeAttributes{order});
    const auto product = maker.add("matmul", {queries, turned}, scores);
    const auto scaled = maker.add("mul", {product, maker.constant<float>({1}, {0.5F})}, scores);
    const auto masked =
        maker.add("add", mask_first ? std::vector{m, scaled} : std::vector{scaled, m}, scores);
    const auto weights = maker.add("softmax", {masked}, scores, SoftmaxAttributes{softmax_axis});
    const auto of_values = repeated(v, repeats && repeats_values);
    maker.output(maker.node(op("matmul"), {weights, of_values}, query));
    if (read_too >= 0) maker.output(maker.inner[static_cast<std::size_t>(read_too)]);
  }
};

/// True if the plan has the step. Its results are near those of a plan without passes.
template <class Written>
bool has_step(Written written, const std::string& what) {
  written.make();
  Runner with(kernels::make_cpu_backend(), written.maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), written.maker.share());
  const auto& graph = written.maker.graph();
  for (Runner* runner : {&with, &without}) {
    runner->randomize(5);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const auto& read = graph.values[graph.inputs[i].second].descriptor;
      if (read.data_type != DataType::float16) continue;
      Random random(static_cast<std::uint32_t>(i));
      std::vector<float16> halves(*element_count(read.shape));
      for (auto& value : halves) value = float16(random.pick(0, 2000) / 1000.0 - 1);
      runner->set(i, halves);
    }
    runner->run();
  }
  const auto one = with.get<float>(0), other = without.get<float>(0);
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!(std::abs(one[i] - other[i]) <= 1e-5F))
      BOOST_ERROR(what << ": element " << i << " is " << one[i] << ", expected " << other[i]);
  return tests::steps_with(with.plan().describe(), "cachedAttention") > 0;
}

/// True if casts of the cache are steps, or parts of steps, of the plan.
template <class Written>
bool widens(Written written) {
  written.make();
  Runner runner(kernels::make_cpu_backend(), written.maker.share());
  return tests::steps_with(runner.plan().describe(), "cast") > 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cached_attention)

BOOST_AUTO_TEST_CASE(near_double_precision) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Cached attention{.groups = random.pick(1, 4),
                     .rows = random.pick(1, 12),
                     .features = 16 * random.pick(1, 10),
                     .cached = random.pick(1, 90),
                     .fresh = random.pick(1, 20)};
    attention.length = random.pick(0, attention.cached);
    attention.batch = random.pick(0, 2);
    attention.each_group = random.pick(0, 1) != 0;
    attention.each_row = random.pick(0, 1) != 0;
    if (random.pick(0, 1) != 0) attention.hidden = std::numeric_limits<float>::lowest();
    attention.halves = kernels::has_fused_vectors() && random.chance();
    attention.one_part = attention.length > attention.rows && random.pick(0, 1) != 0;
    attention.make(seed);
    check_values(attention, computed(attention));
  }
}

BOOST_AUTO_TEST_CASE(places_that_hold_no_token_are_not_read) {
  for (const std::uint32_t length : {0U, 1U, 16U, 39U, 40U}) {
    const bool halves = kernels::has_fused_vectors() && length % 2 != 0;
    auto attention = Cached{.groups = 2, .length = length, .halves = halves}.make();
    const auto result = computed(attention);
    check_values(attention, result);
    for (const float left : {nan, infinity, -infinity, 3e38F})
      BOOST_TEST(equal_bits(computed(attention.spoil(left)), result), length << ", " << left);
  }
  // Memory behind them that may not be touched.
  for (const bool halves : {false, kernels::has_fused_vectors()}) {
    auto attention = Cached{.halves = halves}.make();
    const auto result = computed(attention);
    for (const auto operand : {old_keys, old_values}) attention.inputs[operand].resize(17 * 64);
    BOOST_TEST(equal_bits(computed(attention), result));
  }
}

// Each row as it would be if it were the only one: the first keys are hidden, too.
BOOST_AUTO_TEST_CASE(keys_that_a_row_does_not_see_are_not_read) {
  auto attention = Cached{.groups = 2, .cached = 30, .each_row = true}.make();
  const auto result = computed(attention);
  for (std::size_t group = 0; group < 2; ++group)
    for (const std::size_t key : {0U, 1U}) {
      auto spoilt = attention;
      for (const auto operand : {old_keys, old_values})
        spoilt.inputs[operand][(group * 30 + key) * 64] = nan;
      const auto after = computed(spoilt);
      for (std::size_t row = 0; row < 6; ++row)
        BOOST_TEST(equal_bits(std::span(after).subspan(row * 64, 64),
                              std::span(result).subspan(row * 64, 64)) ==
                       (row / 3 != group || row % 3 > key),
                   group << ", " << key << ", " << row);
    }
}

// The lowest number hides a key only beside others: if a row sees nothing else, all keys count.
BOOST_AUTO_TEST_CASE(a_row_of_hidden_keys_alone) {
  constexpr float low = std::numeric_limits<float>::lowest();
  for (const bool one_part : {false, true}) {
    auto attention = Cached{.length = 0, .one_part = one_part, .hidden = low}.make();
    std::ranges::fill(attention.inputs[new_mask], low);
    const auto result = computed(attention);
    check_values(attention, result);
    BOOST_TEST(std::ranges::none_of(result, [](float x) { return std::isnan(x); }));
  }
  const auto nothing = Cached{.length = 0, .one_part = true}.make();
  BOOST_TEST(std::ranges::all_of(computed(nothing), [](float x) { return std::isnan(x); }));
}

BOOST_AUTO_TEST_CASE(a_row_has_the_equal_bits_alone_and_among_others) {
  for (const std::uint32_t rows : {3U, 9U, 64U}) {
    const auto all = Cached{.groups = 2, .rows = rows, .fresh = 5}.make(rows);
    const auto together = computed(all);
    for (std::uint32_t row = 0; row < rows; row += 2) {
      auto one = all;
      const auto alone = computed(one.only_row(row));
      for (std::size_t group = 0; group < 2; ++group)
        BOOST_TEST(equal_bits(std::span(alone).subspan(group * 64, 64),
                              std::span(together).subspan((group * rows + row) * 64, 64)),
                   "row " << row << " of " << rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  for (const std::uint32_t rows : {3U, 64U}) {
    const auto attention = Cached{.groups = 3, .rows = rows, .cached = 1000, .length = 999}.make();
    BOOST_TEST(tests::own_kernel_of(attention.problem)->parts() > 1);
    BOOST_TEST(equal_bits(computed(attention), computed(attention, true)));
  }
}

BOOST_AUTO_TEST_CASE(what_is_infinite_or_not_a_number) {
  const auto good = Cached{}.make();
  const auto before = computed(good);
  // A query concerns its row, a key or a value of a token all rows.
  for (const float wrong : {nan, infinity}) {
    auto one = good;
    one.inputs[q][64 + 5] = wrong;
    const auto after = computed(one);
    for (std::size_t i = 0; i < after.size(); ++i)
      BOOST_TEST((i / 64 == 1 ? std::isnan(after[i]) : after[i] == before[i]));
  }
  for (const auto operand : {old_keys, new_keys}) {
    auto all = good;
    all.inputs[operand][5] = nan;
    BOOST_TEST(std::ranges::all_of(computed(all), [](float x) { return std::isnan(x); }));
  }
  // A token between others that is masked has no share.
  auto masked = good;
  masked.inputs[old_mask][3] = -infinity;
  check_values(masked, computed(masked));
  // Nothing is left of all.
  for (const auto operand : {old_mask, new_mask})
    std::ranges::fill(masked.inputs[operand], -infinity);
  BOOST_TEST(std::ranges::all_of(computed(masked), [](float x) { return std::isnan(x); }));
  // The largest values, one of which every row is nearly.
  auto largest = good;
  for (const auto operand : {old_values, new_values})
    std::ranges::fill(largest.inputs[operand], 3e38F);
  for (const float x : computed(largest)) BOOST_TEST(std::fabs(x / 3e38F - 1) < 1e-5F);
  // If all scores are very low, none is low beside the others.
  auto low = good;
  for (const auto operand : {old_mask, new_mask})
    for (float& x : low.inputs[operand]) x -= 500;
  check_values(low, computed(low), 1e-3);
}

BOOST_AUTO_TEST_CASE(attentions_of_decoders_are_one_step) {
  const auto joined = [](WrittenAttention written, const std::string& what) {
    BOOST_TEST(has_step(std::move(written), what), what);
  };
  joined({}, "as it is written");
  joined({.rows = 1}, "one row");
  joined({.swapped = true}, "the new values first");
  joined({.mask_first = true}, "masks first");
  joined({.mask = {1, 6, 40}}, "a mask for each row");
  joined({.mask = {2, 1, 40}}, "a mask for each group");
  joined({.mask = {40}}, "a mask of one dimension");
  joined({.many_masks = true}, "new masks for each group");
  // Casts of the cache belong to the step, if both are of float16.
  constexpr auto half = DataType::float16;
  joined({.keys = half, .values = half}, "a cache of float16");
  joined({.keys = half}, "keys of float16");
  joined({.values = half}, "values of float16");
  BOOST_TEST(widens(WrittenAttention{.keys = half, .values = half}) !=
             kernels::has_fused_vectors());
  BOOST_TEST(widens(WrittenAttention{.keys = half}));
  BOOST_TEST(widens(WrittenAttention{.values = half}));
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  const auto stays = [](WrittenAttention written, const std::string& what) {
    BOOST_TEST(!has_step(std::move(written), what), what);
  };
  stays({.mask = {1, 1, 1}}, "a mask for all keys");
  stays({.unmasked = true}, "no masks");
  stays({.rows = 5, .softmax_axis = 1}, "a softmax of columns");
  stays({.rows = 5, .softmax_axis = 0}, "a softmax of groups");
  stays({.new_scale = 0.25F}, "another scale of new keys");
  stays({.computed_scale = true}, "a scale that is no constant");
  stays({.other_query = true}, "other queries of new keys");
  stays({.features = 24}, "features that are not whole vectors");
  // Each inner result, if another reader needs it: all but the transposed keys.
  WrittenAttention all;
  all.make();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.maker.inner.size(); ++i)
    kept += has_step(WrittenAttention{.read_too = static_cast<int>(i)},
                     "inner result " + std::to_string(i))
                ? 1U
                : 0U;
  BOOST_TEST(kept == 2U);
}

BOOST_AUTO_TEST_CASE(a_cache_of_all_keys_is_one_step) {
  const auto joined = [](RepeatedKeys written, const std::string& what) {
    BOOST_TEST(has_step(std::move(written), what), what);
  };
  joined({}, "as it is written");
  joined({.mask = {1, 1, 1, 40}}, "a mask for all heads");
  joined({.rows = 2}, "two rows");
  joined({.batch = 2}, "two sequences");
  joined({.batch = 2, .mask = {2, 1, 1, 40}}, "two sequences, a mask for all heads");
  joined({.batch = 2, .mask = {1, 6, 1, 40}}, "two sequences of the same masks");
  joined({.each = 1}, "a head of keys for each");
  joined({.repeats = false}, "keys of all heads");
  joined({.repeats = false, .mask = {40}}, "a mask of one dimension");
  joined({.mask_first = true}, "the mask first");
  joined({.by_heads = false}, "keys that are repeated one behind the other, which stay so");
}

BOOST_AUTO_TEST_CASE(near_misses_of_a_cache_of_all_keys_stay) {
  const auto stays = [](RepeatedKeys written, const std::string& what) {
    BOOST_TEST(!has_step(std::move(written), what), what);
  };
  stays({.rows = 3}, "more rows of a group than 8");
  stays({.each = 1, .rows = 9}, "more rows than 8");
  stays({.rows = 2, .mask = {1, 1, 2, 40}}, "masks of two rows for all heads");
  stays({.rows = 2, .mask = {1, 6, 1, 40}}, "a mask of each head for two rows");
  stays({.constant_mask = true}, "a mask that is constant");
  stays({.features = 24}, "features that are not whole vectors");
  stays({.repeats_values = false}, "values that are not repeated");
  stays({.groups = 1, .each = 1, .wrong_turn = true}, "a transpose of heads");
  stays({.repeats = false, .softmax_axis = 1}, "a softmax of heads");
  // Each inner result, if another reader needs it: all but repeated keys and values.
  RepeatedKeys all;
  all.make();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.maker.inner.size(); ++i)
    kept +=
        has_step(RepeatedKeys{.read_too = static_cast<int>(i)}, "inner result " + std::to_string(i))
            ? 1U
            : 0U;
  BOOST_TEST(kept == 7U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
