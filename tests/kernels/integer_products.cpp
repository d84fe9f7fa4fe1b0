// Products of 8-bit integers: the pass that recognises them, and the loops that compute them.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <memory>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/integer_graphs.hpp"
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
using tests::steps_with;

constexpr std::array eight_bits{DataType::int8, DataType::uint8};

bool is_signed(DataType type) { return type == DataType::int8; }

/// Products of two `small` numbers of a matrix may be added in 16 bits, and of four `smaller` ones.
/// Most `mixed` ones are smaller.
enum class Fill : std::uint8_t { any, lowest, highest, small, smaller, mixed };
constexpr std::array matrix_fills{Fill::any, Fill::small, Fill::smaller, Fill::mixed};

std::vector<std::byte> bytes_of(std::size_t count, DataType type, Fill fill, Random& random) {
  std::vector<std::byte> bytes(count);
  const std::uint32_t least = is_signed(type) ? 128 : 0;
  for (std::byte& x : bytes) {
    const bool smaller = fill == Fill::smaller || (fill == Fill::mixed && random.pick(0, 99) != 0);
    x = static_cast<std::byte>(smaller                 ? random.pick(0, 64) + 96 + least
                               : fill == Fill::small   ? random.pick(0, 128) + 64 + least
                               : fill == Fill::lowest  ? least
                               : fill == Fill::highest ? (least + 255) % 256
                                                       : random.pick(0, 255));
  }
  return bytes;
}

std::int64_t integer(std::byte bits, DataType type) {
  const auto value = std::to_integer<std::uint8_t>(bits);
  return is_signed(type) ? static_cast<std::int8_t>(value) : value;
}

// -- the loops ------------------------------------------------------------------------------------

/// A problem, and the bytes of its operands.
struct Product {
  kernels::Problem problem;
  std::vector<std::vector<std::byte>> inputs;

  std::size_t rows, elements, columns;
  DataType left, right;

  Product(std::size_t m, std::size_t k, std::size_t n, DataType a, DataType b)
      : rows(m), elements(k), columns(n), left(a), right(b) {
    problem.op = kernels::op_integer_product;
    problem.own_inputs = 4;
    problem.inputs = {slot(left, m, k), slot(right, k, n), absent(), absent()};
    problem.outputs = {slot(DataType::int32, m, n)};
    inputs.resize(4);
  }
  static Slot slot(DataType type, std::size_t height, std::size_t width) {
    Slot made;
    made.descriptor = {type,
                       {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)}};
    return made;
  }
  static Slot absent() {
    Slot made;
    made.present = false;
    return made;
  }

  Product& fill(std::uint32_t seed, Fill a = Fill::any, Fill b = Fill::any) {
    Random random(seed);
    inputs[0] = bytes_of(rows * elements, left, a, random);
    inputs[1] = bytes_of(elements * columns, right, b, random);
    set_constant(1);
    return *this;
  }
  Product& zeros(std::uint32_t seed, std::size_t of_rows, std::size_t of_columns,
                 Fill fill = Fill::any) {
    Random random(seed + 1000);
    if (of_rows > 0) {
      problem.inputs[2] = slot(left, of_rows, 1);
      inputs[2] = bytes_of(of_rows, left, fill, random);
    }
    if (of_columns > 0) {
      problem.inputs[3] = slot(right, 1, of_columns);
      inputs[3] = bytes_of(of_columns, right, fill, random);
      set_constant(3);
    }
    return *this;
  }
  /// Sets an element of the matrix, as if it were signed.
  Product& set_element(std::size_t row, std::size_t column, std::int32_t value) {
    inputs[1][row * columns + column] =
        static_cast<std::byte>(value + (is_signed(right) ? 0 : 128));
    set_constant(1);
    return *this;
  }
  std::vector<std::int32_t> expected() const {
    const auto at = [&](std::size_t input, std::size_t i, DataType type) -> std::int64_t {
      const auto& bytes = inputs[input];
      return bytes.empty() ? 0 : integer(bytes[i % bytes.size()], type);
    };
    std::vector<std::int32_t> result;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < elements; ++i)
          sum += (at(0, row * elements + i, left) - at(2, row, left)) *
                 (at(1, i * columns + column, right) - at(3, column, right));
        result.push_back(static_cast<std::int32_t>(sum));
      }
    return result;
  }
  std::string text() const { return to_string(problem); }

 private:
  void set_constant(std::size_t i) {
    problem.inputs[i].constant =
        std::make_shared<const Buffer>(Buffer::copy_of(std::span<const std::byte>(inputs[i])));
  }
};

/// The kernel has constants itself.
std::vector<std::int32_t> computed(const Product& product,
                                   void (*run)(kernels::Bound&) = tests::run_whole,
                                   bool at_end = true) {
  const auto kernel = tests::own_kernel_of(product.problem);
  std::vector<std::span<const std::byte>> inputs;
  for (std::size_t i = 0; i < product.inputs.size(); ++i)
    inputs.push_back(kernel->keeps_constant(i) ? std::span<const std::byte>()
                                               : std::span<const std::byte>(product.inputs[i]));
  return tests::run_fenced<std::int32_t>(*kernel, inputs, product.rows * product.columns,
                                         product.text(), run, at_end);
}

void check(const Product& product, bool at_end = true) {
  const bool exact = computed(product, tests::run_whole, at_end) == product.expected();
  BOOST_TEST(exact, product.text());
}

// -- the pass -------------------------------------------------------------------------------------

/// A product as importers write it. Each field is one thing that may be otherwise.
struct Written {
  Shape rows{5, 40};
  std::uint32_t columns = 9;
  DataType left = DataType::uint8, right = DataType::int8;
  std::optional<Shape> left_zero = Shape{}, right_zero = Shape{};
  DataType left_zero_type = left, right_zero_type = right;
  std::vector<std::array<std::uint32_t, 2>> left_parts = {{0, 16}, {16, 40}},
                                            right_parts = left_parts;
  bool transposed = false, computed_matrix = false, real = false;

  GraphMaker maker = {};
  std::vector<ValueId> products = {}, casts = {};
  ValueId wide_left = 0, wide_right = 0, result = 0;

  void make() {
    const auto x = maker.input(rows, left);
    std::optional<ValueId> x_zero, y_zero;
    if (left_zero) x_zero = maker.input(*left_zero, left_zero_type);
    const std::uint32_t inner = rows.back();
    const Shape matrix = transposed ? Shape{columns, inner} : Shape{inner, columns};
    auto y =
        computed_matrix ? maker.input(matrix, right) : tests::random_bytes(maker, right, matrix, 3);
    if (transposed)
      y = maker.node(op("transpose"), {y}, {inner, columns}, TransposeAttributes{}, right);
    if (right_zero) y_zero = tests::random_bytes(maker, right_zero_type, *right_zero, 4);
    wide_left = tests::difference(maker, x, x_zero),
    wide_right = tests::difference(maker, y, y_zero);
    Shape out = rows;
    out.back() = columns;
    for (std::size_t i = 0; i < left_parts.size(); ++i) {
      const auto [begin, end] = left_parts[i];
      const bool whole = begin == 0 && end == inner;
      const auto a =
          whole ? wide_left : tests::part_of(maker, wide_left, rows.size() - 1, begin, end);
      const auto b =
          whole ? wide_right
                : tests::part_of(maker, wide_right, 0, right_parts[i][0], right_parts[i][1]);
      products.push_back(maker.node(op("matmul"), {a, b}, out));
      casts.push_back(tests::cast_to(maker, products.back(), DataType::int32));
      result = i == 0 ? casts.back()
                      : maker.node(op("add"), {result, casts.back()}, out, {}, DataType::int32);
    }
    if (real) result = tests::cast_to(maker, result, DataType::float32);
  }
};

/// The steps of the plan. Its results have the bits of a plan without passes.
std::vector<std::string> checked_steps(const GraphMaker& maker) {
  Runner with(kernels::make_cpu_backend(), maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), maker.share());
  const auto& graph = *maker.share();
  for (Runner* runner : {&with, &without}) {
    runner->randomize(5);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const auto& of = graph.values[graph.inputs[i].second].descriptor;
      Random random(static_cast<std::uint32_t>(i));
      if (of.data_type != DataType::float32)
        runner->set(i, bytes_of(*byte_length(of), of.data_type, Fill::any, random));
    }
    runner->run();
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto one = with.get<std::uint8_t>(i), other = without.get<std::uint8_t>(i);
    BOOST_TEST(one == other, boost::test_tools::per_element());
  }
  return with.plan().describe();
}

void is_one_step(Written written, const std::string& what) {
  written.make();
  written.maker.output(written.result);
  const auto steps = checked_steps(written.maker);
  BOOST_TEST(steps_with(steps, "] integerProduct") == 1, what);
  BOOST_TEST(steps_with(steps, "matmul") == 0, what);
  BOOST_TEST(steps_with(steps, "cast") == 0, what);
}
void stays(Written written, const std::string& what) {
  written.make();
  written.maker.output(written.result);
  BOOST_TEST(steps_with(checked_steps(written.maker), "integerProduct") == 0, what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_products)

BOOST_AUTO_TEST_CASE(sums_are_exact_for_any_types_and_shapes) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const auto left = eight_bits[random.pick(0, 1)], right = eight_bits[random.pick(0, 1)];
    const std::uint32_t rows = random.pick(1, 20), columns = random.pick(1, 70);
    const std::array<std::size_t, 3> row_zeros{0, 1, rows}, column_zeros{0, 1, columns};
    Product product(rows, random.pick(1, 100), columns, left, right);
    product.fill(seed, Fill::any, matrix_fills[seed % matrix_fills.size()])
        .zeros(seed, row_zeros[seed % 3], column_zeros[seed / 3 % 3]);
    BOOST_TEST_CONTEXT("seed " << seed) { check(product, seed / 2 % 2 == 0); }
  }
}

// The largest products of all, with each kind of instruction a place where they could saturate.
BOOST_AUTO_TEST_CASE(ends_of_the_types_do_not_saturate) {
  constexpr std::array fills{Fill::lowest, Fill::highest};
  for (const auto left : eight_bits)
    for (const auto right : eight_bits)
      for (const auto a : fills)
        for (const auto b : fills)
          for (const auto zero : fills)
            for (const std::size_t elements :
                 {std::size_t{1}, std::size_t{333}, std::size_t{33'000}}) {
              Product product(elements < 1000 ? 7 : 1, elements, 5, left, right);
              check(product.fill(0, a, b));
              check(product.zeros(0, 1, 5, zero));
            }
}

// Two products fit 16 bits if the magnitudes of neighbours in a column add up to 128.
BOOST_AUTO_TEST_CASE(neighbours_at_the_end_of_16_bits_do_not_saturate) {
  constexpr std::int32_t pairs[][2] = {{64, 64},   {127, 1},   {-128, 0},  {-64, -64},
                                       {0, -128},  {65, 64},   {127, 2},   {-128, -1},
                                       {-65, -64}, {-1, -128}, {127, 127}, {-128, -128}};
  for (const auto right : eight_bits)
    for (const auto& pair : pairs)
      for (const std::size_t columns : {std::size_t{1}, std::size_t{70}})
        for (const Fill fill : {Fill::highest, Fill::any}) {
          Product product(5, 22, columns, DataType::uint8, right);
          product.fill(1, fill, Fill::small);
          // A pair in one column: the other panels stay narrow.
          const std::size_t row = 2 * (columns % 11), column = columns - 1;
          product.set_element(row, column, pair[0]).set_element(row + 1, column, pair[1]);
          BOOST_TEST_CONTEXT(pair[0] << " and " << pair[1]) { check(product); }
        }
}

// Four products fit 16 bits if the magnitudes of four neighbours add up to 128.
BOOST_AUTO_TEST_CASE(steps_at_the_end_of_16_bits_do_not_saturate) {
  constexpr std::int32_t neighbours[][4] = {
      {64, 0, 64, 0},    {64, 1, 64, 0},       {127, 0, 1, 0},       {127, 0, 2, 0},
      {-128, 0, 0, 0},   {-128, 0, 0, -1},     {32, 32, 32, 32},     {32, 32, 32, 33},
      {-33, 32, 32, 32}, {-32, -32, -32, -33}, {127, 127, 127, 127}, {-128, -128, -128, -128}};
  for (const auto right : eight_bits)
    for (const auto& four : neighbours)
      for (const std::size_t elements : {std::size_t{8}, std::size_t{80}}) {
        Product product(5, elements, 20, DataType::uint8, right);
        product.fill(1, Fill::highest, Fill::smaller);
        // Other steps may be doubled with each other only.
        for (std::size_t row = 0; row < elements; ++row)
          for (std::size_t column = 0; column < 20; ++column)
            product.set_element(row, column, row < 8 ? 0 : 32);
        for (std::size_t i = 0; i < 4; ++i) product.set_element(i / 2 * 4 + i % 2, 7, four[i]);
        BOOST_TEST_CONTEXT(four[0] << ", " << four[1] << ", " << four[2] << " and " << four[3]) {
          check(product);
        }
      }
}

BOOST_AUTO_TEST_CASE(every_number_of_rows_and_columns) {
  for (std::size_t rows = 1; rows <= 13; ++rows)
    for (std::size_t columns = 1; columns <= 66; ++columns)
      for (const Fill fill : matrix_fills) {
        Product product(rows, 6 + rows % 3, columns, DataType::uint8, DataType::int8);
        check(product.fill(7, Fill::any, fill).zeros(7, 1, columns));
      }
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  struct Cut {
    std::size_t rows, elements, columns, parts;
  };
  for (const Cut& cut : {Cut{1, 64, 64, 1}, Cut{3, 2000, 800, 2}, Cut{700, 300, 100, 4},
                         Cut{100, 100, 100, 2}, Cut{60, 1000, 400, 4}}) {
    Product product(cut.rows, cut.elements, cut.columns, DataType::uint8, DataType::uint8);
    product.fill(2, Fill::any, cut.rows % 3 == 0 ? Fill::any : Fill::mixed)
        .zeros(2, cut.rows, cut.columns);
    BOOST_TEST(tests::own_kernel_of(product.problem)->parts() == cut.parts, product.text());
    const auto whole = computed(product);
    const bool same = whole == computed(product, tests::run_parts);
    BOOST_TEST(same, product.text());
    const bool exact = whole == product.expected();
    BOOST_TEST(exact, product.text());
  }
}

BOOST_AUTO_TEST_CASE(products_of_importers_are_one_step) {
  for (const auto left : eight_bits)
    for (const auto right : eight_bits)
      is_one_step({.left = left, .right = right}, to_string(OperandDescriptor{left, {}}));
  is_one_step({.left_zero = std::nullopt, .right_zero = std::nullopt}, "no zero points");
  is_one_step({.left_zero = Shape{5, 1}, .right_zero = Shape{9}},
              "zero points of rows and columns");
  is_one_step({.rows = {2, 3, 5, 40}, .left_zero = Shape{5, 1}}, "zero points of some rows");
  is_one_step({.rows = {2, 3, 5, 40}, .left_zero = Shape{3, 5, 1}}, "zero points of more rows");
  is_one_step({.right_zero = Shape{1, 9}}, "a row of zero points");
  is_one_step({.left_parts = {{0, 40}}}, "one part");
  is_one_step({.left_parts = {{0, 1}, {1, 39}, {39, 40}}}, "three parts");
  is_one_step({.transposed = true}, "a transposed matrix");
  is_one_step({.rows = {5, 9}, .left_parts = {{0, 9}}, .transposed = true}, "a square matrix");
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  stays({.left_parts = {{0, 16}}}, "the end is missing");
  stays({.left_parts = {{16, 40}}}, "the beginning is missing");
  stays({.left_parts = {{0, 16}, {17, 40}}}, "one element is missing");
  stays({.left_parts = {{0, 16}, {15, 40}}}, "parts overlap");
  stays({.left_parts = {{0, 16}, {0, 16}, {16, 40}}}, "one part is there twice");
  stays({.left_parts = {{0, 16}, {16, 40}}, .right_parts = {{1, 17}, {16, 40}}}, "unlike parts");
  stays({.left_zero_type = DataType::int8}, "a zero point of another type");
  stays({.right_zero_type = DataType::uint8}, "a zero point of another type");
  stays({.left_zero = Shape{1, 40}}, "zero points of elements");
  stays({.rows = {2, 5, 40}, .left_zero = Shape{2, 1, 1}}, "zero points of matrices");
  stays({.right_zero = Shape{40, 1}}, "zero points of the matrix's rows");
  stays({.columns = 40, .right_zero = Shape{40, 1}}, "the same, of a square matrix");
  stays({.computed_matrix = true}, "a matrix that is not constant");
}

BOOST_AUTO_TEST_CASE(parts_that_others_read_stay) {
  for (const bool product : {true, false}) {
    Written written;
    written.make();
    written.maker.output(written.result);
    written.maker.output(product ? written.products[0] : written.casts[1]);
    BOOST_TEST(steps_with(checked_steps(written.maker), "integerProduct") == 0);
  }
}

// A value that others read is computed, too.
BOOST_AUTO_TEST_CASE(operands_may_have_other_readers) {
  Written written{.real = true};
  written.make();
  written.maker.output(written.result);
  written.maker.output(written.wide_left);
  written.maker.output(written.wide_right);
  BOOST_TEST(steps_with(checked_steps(written.maker), "] integerProduct") == 1);
}

BOOST_AUTO_TEST_CASE(factors_and_summands_end_a_product) {
  const auto ends = [](const Shape& factor, const Shape& summand, bool known, std::ptrdiff_t left) {
    Written written{.rows = {2, 5, 40}, .columns = 37, .left_zero = Shape{5, 1}, .real = true};
    written.make();
    auto& maker = written.maker;
    const Shape shape = tests::shape_of(written.maker, written.result);
    const auto operand = [&](const Shape& of) {
      return known ? maker.random(of) : maker.input(of);
    };
    auto result = written.result;
    if (!factor.empty() || !known) result = maker.node(op("mul"), {operand(factor), result}, shape);
    result = maker.node(op("add"), {result, operand(summand)}, shape);
    maker.output(result);
    const auto steps = checked_steps(maker);
    BOOST_TEST(steps_with(steps, "] integerProduct") == 1);
    BOOST_TEST(std::ssize(steps) == left, to_string(factor) << " and " << to_string(summand));
  };
  for (const bool known : {true, false}) {
    ends({1}, {37}, known, 1);
    ends({37}, {1, 37}, known, 1);
    ends({5, 1}, {37}, known, 3);
    ends({37}, {5, 37}, known, 2);
  }
  // A known number to add becomes a linear function, which the step does not take.
  ends({}, {}, false, 1);
  ends({1, 1, 37}, {1, 1}, false, 1);
}

BOOST_AUTO_TEST_CASE(a_quantization_ends_a_product) {
  const auto ends = [](DataType type, const Shape& scale, bool summand, std::ptrdiff_t left) {
    Written written{.rows = {2, 5, 40}, .columns = 36, .left_zero = Shape{5, 1}, .real = true};
    written.make();
    auto& maker = written.maker;
    const Shape shape = tests::shape_of(maker, written.result);
    auto result = maker.node(op("mul"), {written.result, maker.random({36}, 0.01F, 0.02F)}, shape);
    if (summand) result = maker.node(op("add"), {result, maker.random({36})}, shape);
    const auto steps = maker.random(scale, 2, 4);
    const auto points = type == DataType::int32 ? maker.constant<std::int32_t>(scale, {0})
                                                : tests::random_bytes(maker, type, scale, 8);
    maker.output(maker.node(op("quantizeLinear"), {result, steps, points}, shape, {}, type));
    const auto plan = checked_steps(maker);
    BOOST_TEST(steps_with(plan, "] integerProduct") == 1);
    BOOST_TEST(std::ssize(plan) == left, to_string(scale));
  };
  for (const auto type : eight_bits)
    for (const bool summand : {true, false}) {
      ends(type, {1, 1, 1}, summand, 1);
      ends(type, {1, 1, 36}, summand, 1);
      ends(type, {1, 5, 1}, summand, 2);
      ends(type, {1, 1, 12}, summand, 2);  // each number is for three columns
      ends(type, {2, 5, 36}, summand, 2);
    }
  ends(DataType::int32, {1, 1, 1}, false, 2);
}

BOOST_AUTO_TEST_CASE(quantizations_that_others_read_stay) {
  Written written{.real = true};
  written.make();
  auto& maker = written.maker;
  const Shape shape = tests::shape_of(maker, written.result);
  maker.output(maker.node(op("quantizeLinear"),
                          {written.result, maker.random({1, 1}, 200, 400),
                           tests::random_bytes(maker, DataType::uint8, {1, 1}, 8)},
                          shape, {}, DataType::uint8));
  maker.output(written.result);
  BOOST_TEST(steps_with(checked_steps(maker), "] quantizeLinear") == 1);
}

BOOST_AUTO_TEST_CASE(an_integer_that_others_read_stays_one) {
  Written written{.real = true};
  written.make();
  written.maker.output(written.result);
  written.maker.output(written.maker.graph().nodes.back().inputs[0]);
  const auto steps = checked_steps(written.maker);
  BOOST_TEST(steps_with(steps, "] integerProduct") == 1);
  BOOST_TEST(steps_with(steps, "cast") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// ONNX's DynamicQuantizeLinear, as importers write it. Each field is one thing that may be
/// otherwise.
struct Dynamic {
  Shape shape{3, 50};
  float most = 255, none = 1, lowest = 0;
  bool all = true, other_zero = false, known = false;

  GraphMaker maker = {};
  std::array<ValueId, 3> results = {};  // values, scale and zero point

  void make() {
    const ValueId x = known ? maker.random(shape) : maker.input(shape);
    const auto number = [&](float value) { return maker.constant<float>({}, {value}); };
    const auto one = [&](ops::OpId id, std::vector<ValueId> inputs,
                         DataType type = DataType::float32) {
      return maker.node(id, std::move(inputs), {}, {}, type);
    };
    const auto extreme = [&](ops::OpId id) {
      return maker.node(id, {x}, {}, ReduceAttributes{std::vector<std::uint32_t>{0, 1}});
    };
    const auto high = one(op("max"), {extreme(op("reduceMax")), number(0)});
    const auto low =
        one(op("min"), {extreme(all ? op("reduceMin") : op("reduceMean")), number(lowest)});
    const auto range = one(op("sub"), {high, low});
    const auto equal = one(op("equal"), {range, number(0)}, DataType::uint8);
    const auto steps = one(op("where"), {equal, number(most), number(most)});
    const auto scale = one(op("where"), {equal, number(none), one(op("div"), {range, steps})});
    const auto shift = one(op("div"), {one(op("neg"), {other_zero ? high : low}), scale});
    const auto rounded = one(op("roundEven"), {shift});
    const auto kept = one(op("min"), {one(op("max"), {rounded, number(0)}), number(255)});
    const auto zero =
        maker.node(op("cast"), {kept}, {}, CastAttributes{DataType::uint8}, DataType::uint8);
    const Shape ones(shape.size(), 1);
    const auto wide = [&](ValueId value, DataType type) {
      return maker.node(op("reshape"), {value}, ones, ReshapeAttributes{ones}, type);
    };
    const auto values = maker.node(op("quantizeLinear"),
                                   {x, wide(scale, DataType::float32), wide(zero, DataType::uint8)},
                                   shape, {}, DataType::uint8);
    results = {values, scale, zero};
    for (const ValueId result : results) maker.output(result);
  }
};

/// The steps of the plan for these elements. Its results have the bits of a plan without passes.
std::vector<std::string> checked_dynamic(Dynamic written, const std::vector<float>& x,
                                         const std::string& what) {
  written.make();
  Runner with(kernels::make_cpu_backend(), written.maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), written.maker.share());
  for (Runner* runner : {&with, &without}) {
    if (!written.known) runner->set(0, x);
    runner->run();
  }
  BOOST_TEST_CONTEXT(what) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto one = with.get<std::uint8_t>(i), other = without.get<std::uint8_t>(i);
      BOOST_TEST(one == other, boost::test_tools::per_element());
    }
  }
  return with.plan().describe();
}

std::vector<float> numbers_between(float low, float high, std::size_t count) {
  std::vector<float> numbers(count);
  Random random(3);
  for (float& x : numbers)
    x = low + (high - low) * static_cast<float>(random.pick(0, 1'000'000)) * 1e-6F;
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dynamic_quantization)

BOOST_AUTO_TEST_CASE(it_is_one_step_with_the_same_bits) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto is_one = [](const Dynamic& written, const std::vector<float>& x,
                         const std::string& what) {
    BOOST_TEST(checked_dynamic(written, x, what).size() == 1, what);
  };
  for (const auto& [low, high] : {std::pair{-3.0F, 5.0F},
                                  {2.0F, 7.0F},
                                  {-9.0F, -4.0F},
                                  {0.0F, 0.0F},
                                  {-0.0F, -0.0F},
                                  {-1e-40F, 1e-40F},
                                  {-3e38F, 3e38F},
                                  {0.0F, 1e30F}})
    for (const std::uint32_t columns : {1U, 50U, 301U, 3001U}) {
      auto x = numbers_between(low, high, std::size_t{3} * columns);
      const std::string what = std::to_string(low) + " to " + std::to_string(high);
      is_one({.shape = {3, columns}}, x, what);
      x[1] = infinity;
      is_one({.shape = {3, columns}}, x, what + " and infinity");
      x[1] = -infinity;
      is_one({.shape = {3, columns}}, x, what + " and -infinity");
      x.back() = infinity;
      is_one({.shape = {3, columns}}, x, what + " and both infinities");
    }
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  const auto stays = [](const Dynamic& written, const std::string& what) {
    const auto steps = checked_dynamic(written, numbers_between(-3, 5, 150), what);
    BOOST_TEST(steps_with(steps, "dynamicQuantization") == 0, what);
  };
  stays({.most = 127}, "seven bits");
  stays({.none = 2}, "another scale for zeros");
  stays({.lowest = -1}, "another number in the range");
  stays({.all = false}, "another extreme");
  stays({.other_zero = true}, "another zero point");
  stays({.known = true}, "constants");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
