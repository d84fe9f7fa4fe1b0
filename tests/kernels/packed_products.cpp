// Products with packed weights: the loops that compute them, and the pass that recognises them.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/packed_int4.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/own_loops.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using kernels::Slot;
using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Random;
using tests::Runner;

constexpr std::array weight_types{DataType::int4, DataType::uint4, DataType::int8, DataType::uint8};

float between(Random& random, int low, int high) {
  return static_cast<float>(low) +
         static_cast<float>(random.pick(0, 1000)) * static_cast<float>(high - low) / 1000;
}

/// Any integers of a type, and their bytes.
struct Integers {
  std::vector<int> values;
  Buffer bytes;

  Integers(DataType type, std::size_t count, Random& random)
      : bytes(*byte_length({type, {static_cast<std::uint32_t>(count)}})) {
    const auto to = bytes.as<std::uint8_t>();
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = random.pick(0, is_packed(type) ? 15 : 255);
      if (is_packed(type))
        to[i / 2] = static_cast<std::uint8_t>(to[i / 2] | bits << i % 2 * 4);
      else
        to[i] = static_cast<std::uint8_t>(bits);
      const int range = is_packed(type) ? 16 : 256;
      const bool has_sign = type == DataType::int4 || type == DataType::int8;
      const auto value = static_cast<int>(bits);
      values.push_back(has_sign && value >= range / 2 ? value - range : value);
    }
  }
};

// -- the loops ------------------------------------------------------------------------------------

struct PackedCase {
  std::uint32_t rows = 1, elements = 64, columns = 40, block = 32;
  DataType type = DataType::uint4;
  bool zeros = false, minima = false, by_columns = true;
};

/// A problem, its rows, and what its products are in double precision.
struct Packed {
  PackedCase is;
  kernels::Problem problem;
  std::vector<float> x;
  std::vector<int> integers;    ///< [elements, columns]
  std::vector<double> weights;  ///< of the integers

  explicit Packed(const PackedCase& of, std::uint32_t seed = 1) : is(of) {
    Random random(seed);
    const std::uint32_t blocks = is.elements / is.block;
    const Integers q(is.type, std::size_t{is.elements} * is.columns, random);
    problem.op = kernels::op_packed_product;
    problem.own_inputs = 5;
    problem.inputs.resize(5);
    problem.outputs.resize(1);
    problem.inputs[0].descriptor = {DataType::float32, {is.rows, is.elements}};
    problem.outputs[0].descriptor = {DataType::float32, {is.rows, is.columns}};
    problem.inputs[1].descriptor = {is.type, {is.elements, is.columns}};
    if (is.by_columns) problem.inputs[1].order = {1, 0};
    problem.inputs[1].constant = std::make_shared<const Buffer>(Buffer::copy_of(q.bytes.bytes()));
    std::array<std::vector<float>, 3> numbers;
    for (std::size_t i = 0; i < 3; ++i) {
      Slot& slot = problem.inputs[2 + i];
      slot.present = i == 0 || (i == 1 ? is.zeros : is.minima);
      for (std::uint32_t j = 0; j < blocks * is.columns; ++j)
        numbers[i].push_back(!slot.present ? 0
                             : i == 1      ? between(random, 0, 15)
                                           : between(random, -1, 1));
      if (!slot.present) continue;
      slot.descriptor = {DataType::float32, {blocks, is.columns}};
      slot.constant =
          std::make_shared<const Buffer>(Buffer::copy_of(std::span<const float>(numbers[i])));
    }
    for (std::uint32_t i = 0; i < is.rows * is.elements; ++i) x.push_back(between(random, -1, 1));
    for (std::uint32_t k = 0; k < is.elements; ++k)
      for (std::uint32_t c = 0; c < is.columns; ++c) {
        const auto at = is.by_columns ? c * is.elements + k : k * is.columns + c;
        const auto n = k / is.block * is.columns + c;
        integers.push_back(q.values[at]);
        weights.push_back((q.values[at] - double{numbers[1][n]}) * double{numbers[0][n]} +
                          double{numbers[2][n]});
      }
  }
  std::string text() const { return to_string(problem); }
};

/// The kernel has all constants.
std::vector<float> computed(const Packed& product, bool in_parts = false, bool at_end = true) {
  const auto kernel = tests::own_kernel_of(product.problem);
  for (std::size_t i = 1; i < 5; ++i) BOOST_TEST(kernel->keeps_constant(i));
  return tests::run_fenced<float>(*kernel, {std::as_bytes(std::span(product.x)), {}, {}, {}, {}},
                                  std::size_t{product.is.rows} * product.is.columns, product.text(),
                                  in_parts ? tests::run_parts : tests::run_whole, at_end);
}

/// Results are as near as sums of products in float32 are: each term may be off by a few roundings.
void check_values(const Packed& product, bool at_end = true) {
  const auto result = computed(product, false, at_end);
  const auto& is = product.is;
  for (std::uint32_t r = 0; r < is.rows; ++r)
    for (std::uint32_t c = 0; c < is.columns; ++c) {
      double sum = 0, size = 0;
      for (std::uint32_t k = 0; k < is.elements; ++k) {
        const double term = double{product.x[r * is.elements + k]} *
                            product.weights[std::size_t{k} * is.columns + c];
        sum += term;
        size += std::abs(term);
      }
      const double error = std::abs(sum - double{result[r * is.columns + c]});
      if (!(error <= size * 4e-6 + 1e-6))
        BOOST_ERROR(product.text() << ", row " << r << ", column " << c << ": off by " << error);
    }
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// -- the pass -------------------------------------------------------------------------------------

/// A product as graphs write it. Each field is one thing that may be otherwise.
struct WrittenPacked {
  DataType type = DataType::uint4;
  Shape x{3, 64};
  Shape matrix{10, 64}, scale{10, 2};
  /// Numbers to add; float zero points to subtract, and scales after them.
  std::optional<Shape> minimum = std::nullopt, reals = std::nullopt;
  bool gemm = true, turned = true;  ///< turned: the matrix is [columns, elements]
  bool minimum_first = false, zero_first = false, integer_zeros = true, ones = false;
  bool computed_matrix = false, computed_scale = false, infinite = false, reversed = false;
  float alpha = 1, beta = 1;
  bool has_c = false, one_zero = false;

  GraphMaker maker = {};
  ValueId product = 0, matrix_values = 0;

  ValueId integers(const Shape& shape, bool zero) {
    Random random(3);
    Integers q(type, *element_count(shape), random);
    if (zero) std::ranges::fill(q.bytes.bytes(), std::byte{0});
    const auto id = maker.constant(shape, std::move(q.bytes));
    maker.graph().values[id].descriptor.data_type = type;
    return id;
  }
  void make() {
    const auto rows = maker.input(x);
    const auto q = computed_matrix ? maker.input(matrix, type) : integers(matrix, false);
    std::vector<float> scales(*element_count(scale));
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] = ones ? 1 : 0.01F * static_cast<float>(i % 7 + 1);
    if (infinite) scales[1] = std::numeric_limits<float>::infinity();
    const auto s = computed_scale ? maker.input(scale) : maker.constant<float>(scale, scales);
    auto zero = integers(one_zero ? Shape{} : scale, !integer_zeros);
    if (one_zero) zero = maker.node(op("expand"), {zero}, scale, ExpandAttributes{scale}, type);
    auto value = maker.node(op("dequantizeLinear"), {q, s, zero}, matrix);
    if (minimum) {
      const auto least = maker.random(*minimum);
      value = maker.node(
          op("add"), minimum_first ? std::vector{least, value} : std::vector{value, least}, matrix);
    }
    if (reals) {
      const auto real = maker.random(*reals), factor = maker.random(*reals);
      value = maker.node(op("sub"),
                         zero_first ? std::vector{real, value} : std::vector{value, real}, matrix);
      value = maker.node(op("mul"), {value, factor}, matrix);
    }
    const std::uint32_t inner = x.back(),
                        columns = static_cast<std::uint32_t>(*element_count(matrix)) / inner;
    if (matrix.size() != 2) {
      const Shape two = turned ? Shape{columns, inner} : Shape{inner, columns};
      value = maker.node(op("reshape"), {value}, two, ReshapeAttributes{two});
    }
    matrix_values = value;
    if (turned && !gemm)
      value = maker.node(op("transpose"), {value}, {inner, columns},
                         reversed ? TransposeAttributes{} : TransposeAttributes{{{1, 0}}});
    Shape result = x;
    result.back() = columns;
    if (!gemm) {
      product = maker.node(op("matmul"), {rows, value}, result);
    } else {
      GemmAttributes a;
      a.alpha = alpha;
      a.beta = beta;
      a.b_transpose = turned;
      std::vector<ValueId> operands{rows, value};
      if (has_c) operands.push_back(maker.input({columns}));
      product = maker.node(op("gemm"), operands, result, a);
    }
    maker.output(product);
  }
};

/// True if the plan has the step. Its results are near those of a plan without passes.
bool has_step(WrittenPacked& written, const std::string& what) {
  const GraphMaker& maker = written.maker;
  Runner with(kernels::make_cpu_backend(), maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), maker.share());
  for (Runner* runner : {&with, &without}) {
    runner->randomize(5);
    if (written.computed_matrix) {
      Random random(9);
      const Integers matrix(written.type, *element_count(written.matrix), random);
      runner->set(1, matrix.bytes.bytes());
    }
    runner->run();
  }
  if (!written.infinite) {
    const auto one = with.get<float>(0), other = without.get<float>(0);
    for (std::size_t i = 0; i < one.size(); ++i)
      if (!(std::abs(one[i] - other[i]) <= 1e-4F))
        BOOST_ERROR(what << ": element " << i << " is " << one[i] << ", expected " << other[i]);
  }
  std::size_t steps = 0;
  for (const auto& step : with.plan().describe())
    if (step.find("packedProduct") != std::string::npos) ++steps;
  return steps == 1;
}
void is_packed_step(WrittenPacked written, const std::string& what) {
  written.make();
  BOOST_TEST(has_step(written, what), what);
}
void stays_expanded(WrittenPacked written, const std::string& what) {
  written.make();
  BOOST_TEST(!has_step(written, what), what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed_products)

BOOST_AUTO_TEST_CASE(values_are_those_of_double_precision) {
  std::uint32_t seed = 0;
  for (const auto type : weight_types)
    for (const std::uint32_t rows : {1U, 2U, 3U, 7U, 66U})
      for (const bool zeros : {false, true})
        for (const bool minima : {false, true}) {
          ++seed;
          const std::uint32_t block = std::array{32U, 20U, 8U, 150U}[seed % 4];
          BOOST_TEST_CONTEXT("seed " << seed)
          check_values(Packed({rows, block * (seed % 3 + 1), seed % 2 == 0 ? 33U : 70U, block, type,
                               zeros, minima, seed % 5 != 0},
                              seed),
                       seed % 2 == 0);
        }
}

BOOST_AUTO_TEST_CASE(every_number_of_columns) {
  for (std::uint32_t columns = 1; columns <= 66; ++columns)
    check_values(
        Packed({.rows = columns % 4 + 1, .columns = columns, .type = weight_types[columns % 4]}));
}

// A server may add and remove rows: sequences that others ask for.
BOOST_AUTO_TEST_CASE(a_row_has_the_same_bits_alone_and_among_others) {
  for (const auto type : weight_types)
    for (const std::uint32_t rows : {2U, 5U, 64U, 131U}) {
      const PackedCase is{
          .rows = rows, .elements = 96, .type = type, .zeros = rows % 2 == 0, .minima = rows == 5};
      const Packed all(is);
      const auto together = computed(all);
      for (const std::uint32_t row : {0U, rows / 2, rows - 1}) {
        Packed one = all;
        one.is.rows = one.problem.inputs[0].descriptor.shape[0] =
            one.problem.outputs[0].descriptor.shape[0] = 1;
        one.x.assign(all.x.begin() + row * is.elements, all.x.begin() + (row + 1) * is.elements);
        const auto expected = std::span(together).subspan(row * is.columns, is.columns);
        BOOST_TEST(same_bits(computed(one), expected), all.text() << ", row " << row);
      }
    }
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  for (const std::uint32_t rows : {1U, 40U}) {
    const Packed product({.rows = rows, .elements = 512, .columns = 2000, .minima = true});
    BOOST_TEST(tests::own_kernel_of(product.problem)->parts() > 1);
    BOOST_TEST(same_bits(computed(product), computed(product, true)), product.text());
  }
}

// Integers times 2^122 may leave the range of float32, with their scales they do not.
BOOST_AUTO_TEST_CASE(sums_beyond_float32_get_their_scales_first) {
  for (const auto type : weight_types)
    for (const std::uint32_t rows : {1U, 3U}) {
      Packed product({.rows = rows, .elements = 32, .type = type});
      const std::vector<float> scales(40, 0.001F);
      product.problem.inputs[2].constant =
          std::make_shared<const Buffer>(Buffer::copy_of(std::span(scales)));
      product.x.assign(product.x.size(), 0);
      for (std::uint32_t r = 0; r < rows; ++r) product.x[r * 32 + 5] = 0x1p125F;
      const auto result = computed(product);
      for (std::size_t i = 0; i < result.size(); ++i) {
        const double expected = product.integers[5 * 40 + i % 40] * double{0.001F} * 0x1p125;
        BOOST_TEST(std::abs(double{result[i]} - expected) <= std::abs(expected) * 1e-6);
      }
      product.x[5] = std::numeric_limits<float>::quiet_NaN();
      const auto unknown = computed(product);
      for (std::size_t i = 0; i < unknown.size(); ++i)
        BOOST_TEST((i < 40 ? std::isnan(unknown[i]) : std::isfinite(unknown[i])));
    }
}

BOOST_AUTO_TEST_CASE(products_of_graphs_are_one_step) {
  for (const auto type : weight_types)
    for (const bool zeros : {false, true})
      is_packed_step({.type = type, .integer_zeros = zeros},
                     to_string(OperandDescriptor{type, {}}));
  is_packed_step({.gemm = false}, "a transpose and matmul");
  is_packed_step({.gemm = false, .reversed = true}, "a transpose without a permutation");
  is_packed_step({.x = {2, 3, 64}, .gemm = false}, "matrices of rows");
  is_packed_step({.matrix = {64, 10}, .scale = {2, 10}, .gemm = false, .turned = false},
                 "blocks along the first dimension");
  is_packed_step({.matrix = {64, 10}, .scale = {2, 10}, .turned = false}, "the same with gemm");
  is_packed_step({.has_c = true}, "a product and a sum");
  is_packed_step({.type = DataType::int8, .one_zero = true}, "a zero point for all, expanded");
  is_packed_step({.scale = {10, 1}}, "a scale for each column");
  is_packed_step({.scale = {1, 1}}, "a scale for all");
  is_packed_step({.scale = {5, 2}}, "a scale for two columns");
  is_packed_step({.matrix = {64, 64}, .scale = {64, 2}}, "a square matrix");
  const Shape blocks{10, 2, 32}, numbers{10, 2, 1};
  is_packed_step({.matrix = blocks, .scale = numbers, .minimum = numbers}, "minima");
  is_packed_step({.matrix = blocks, .scale = numbers, .minimum = numbers, .minimum_first = true},
                 "minima, added to");
  is_packed_step({.matrix = blocks, .scale = numbers, .minimum = Shape{1}}, "one minimum");
  is_packed_step({.matrix = blocks, .scale = {10, 1, 1}, .minimum = numbers},
                 "more minima than scales");
  is_packed_step(
      {.matrix = {2, 32, 10}, .scale = {2, 1, 10}, .minimum = Shape{2, 1, 10}, .turned = false},
      "blocks of rows");
  is_packed_step({.matrix = blocks,
                  .scale = {1, 1, 1},
                  .reals = numbers,
                  .integer_zeros = false,
                  .ones = true},
                 "zero points that are floats");
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  const Shape blocks{10, 2, 32}, numbers{10, 2, 1};
  stays_expanded({.scale = {10, 16}}, "blocks of four elements");
  stays_expanded({.scale = {10, 64}}, "a scale for each element");
  stays_expanded({.matrix = blocks, .scale = numbers, .minimum = blocks},
                 "a minimum for each element");
  stays_expanded({.matrix = blocks, .scale = numbers, .minimum = Shape{2, 32}},
                 "the same for all columns");
  stays_expanded({.matrix = {10, 4, 16}, .scale = {10, 1, 2}},
                 "scales that repeat within a column");
  stays_expanded({.matrix = {5, 2, 64}, .scale = {5, 2, 1}}, "columns in two dimensions");
  stays_expanded({.computed_matrix = true}, "a matrix that is not constant");
  stays_expanded({.computed_scale = true}, "scales that are not constant");
  stays_expanded({.infinite = true}, "a scale that is not finite");
  stays_expanded({.alpha = 2}, "a product times two");
  stays_expanded({.beta = 2, .has_c = true}, "a product and a sum times two");
  stays_expanded({.matrix = blocks, .scale = {1, 1, 1}, .reals = numbers, .integer_zeros = false},
                 "two scales");
  stays_expanded({.matrix = blocks, .scale = {1, 1, 1}, .reals = numbers, .ones = true},
                 "two zero points");
  stays_expanded({.matrix = blocks,
                  .scale = {1, 1, 1},
                  .reals = numbers,
                  .zero_first = true,
                  .integer_zeros = false,
                  .ones = true},
                 "a zero point minus elements");
  stays_expanded({.matrix = blocks,
                  .scale = numbers,
                  .minimum = numbers,
                  .reals = numbers,
                  .integer_zeros = false,
                  .ones = true},
                 "minima and zero points");
}

BOOST_AUTO_TEST_CASE(other_readers_get_the_matrix_too) {
  WrittenPacked written;
  written.make();
  written.maker.output(written.matrix_values);
  BOOST_TEST(has_step(written, "a matrix that is an output"));
}

BOOST_AUTO_TEST_CASE(weights_stay_packed_in_memory) {
  WrittenPacked written{.x = {1, 512}, .matrix = {640, 512}, .scale = {640, 16}};
  written.make();
  const Runner runner(kernels::make_cpu_backend(), written.maker.share());
  std::size_t bytes = 0;
  for (const auto& constant : runner.plan().constants()) bytes += constant->size();
  const std::size_t weights = 640 * 512;
  BOOST_TEST(bytes >= weights / 2);
  BOOST_TEST(bytes <= weights / 2 + 2 * weights / 32 * sizeof(float));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
