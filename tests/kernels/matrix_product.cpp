// Products of several rows with a constant matrix, in panels of its columns.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/direct/column_panels.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/vectors.hpp"
#include "tests/kernels/fenced.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/kernels/random.hpp"
#include "tests/kernels/special_values.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::Fenced;
using tests::ProblemMaker;
using tests::Random;

using tests::floats::infinity;
using tests::floats::nan;

bool suits_panels(const kernels::Problem& problem) {
  return kernels::way_of(problem) == kernels::by_panels;
}

std::unique_ptr<kernels::Kernel> panels_kernel(const kernels::Problem& problem) {
  for (const auto& way : kernels::implementations(problem.op))
    if (way.cuts_itself)
      if (auto kernel = way.prepare(problem)) return std::move(*kernel);
  BOOST_FAIL("no panels for " << to_string(problem));
  return nullptr;
}

/// A matmul with `rows` rows.
ProblemMaker product(std::uint32_t rows, std::uint32_t elements, std::uint32_t columns,
                     std::uint32_t seed = 1) {
  ProblemMaker maker(op("matmul"), seed);
  maker.input({rows, elements}).constant({elements, columns}).output({rows, columns});
  return maker;
}

/// Either operator, in every form that panels are for.
ProblemMaker random_product(std::uint32_t seed) {
  Random random(seed);
  const std::uint32_t rows = random.pick(2, 40), columns = random.pick(1, 130);
  const std::uint32_t elements =
      random.pick(0, 9) == 0 ? random.pick(1500, 3200) : random.pick(64, 140);
  const bool gemm = random.chance();
  ProblemMaker maker(gemm ? op("gemm") : op("matmul"), seed);
  Shape result{rows, columns};
  bool adds_vector = random.chance();
  bool adds_matrix = random.chance();
  if (gemm) {
    const bool transposed = random.chance();
    maker.attributes(GemmAttributes{1, 1, false, transposed}).input({rows, elements});
    maker.constant(transposed ? Shape{columns, elements} : Shape{elements, columns});
    const std::uint32_t third = random.pick(0, 2);
    if (third == 1) maker.input({columns}), adds_vector = false;
    if (third == 2) maker.input(result), adds_matrix = adds_vector = false;
    maker.output(result);
  } else {
    Shape left{rows, elements}, matrix{elements, columns};
    for (std::uint32_t i = random.pick(0, 2); i > 0; --i) {
      const std::uint32_t batch = random.pick(1, 3);
      left.insert(left.begin(), batch), result.insert(result.begin(), batch);
      if (random.chance()) matrix.insert(matrix.begin(), 1);
    }
    while (matrix.size() > left.size()) matrix.erase(matrix.begin());
    maker.input(left).constant(matrix).output(result);
  }
  if (adds_vector) maker.then_with(op("add"), {columns}, random.chance());
  if (adds_matrix) maker.then_with(op("add"), result);
  const std::uint32_t function = random.pick(0, 4);
  if (function == 1) maker.then(op("relu"));
  if (function == 2) maker.then(op("clamp"), ClampAttributes{Number(-1.5), Number(2.0)});
  if (function == 3) maker.then(op("gelu"));
  return maker;
}

/// The results that panels promise, number by number. Sums begin with the vector and go on in the
/// order of elements. Each product is added without rounding it first.
std::vector<float> expected_by_sums(const ProblemMaker& maker) {
  const auto problem = maker.problem();
  const auto epilogue = *kernels::product_epilogue_of(problem);
  const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
  const bool transposed = gemm != nullptr && gemm->b_transpose;
  const std::size_t columns = problem.outputs[0].descriptor.shape.back();
  const std::size_t elements = problem.inputs[0].descriptor.shape.back();
  const std::size_t rows = *element_count(problem.outputs[0].descriptor.shape) / columns;
  const auto input = [&](std::size_t i) { return maker.values()[i].as<float>(); };
  std::vector<float> result;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      float sum = epilogue.bias == 0 ? 0 : input(epilogue.bias)[c];
      for (std::size_t k = 0; k < elements; ++k)
        sum = std::fma(input(0)[r * elements + k],
                       input(1)[transposed ? c * elements + k : k * columns + c], sum);
      if (epilogue.added != 0) sum += input(epilogue.added)[r * columns + c];
      if (sum < epilogue.lowest) sum = epilogue.lowest;
      if (sum > epilogue.highest) sum = epilogue.highest;
      result.push_back(sum);
    }
  return result;
}

/// Its result in memory with protected pages around it.
std::vector<float> between_fences(const ProblemMaker& maker, bool at_end) {
  auto problem = maker.problem();
  const Fenced matrix(maker.values()[1].bytes(), at_end);
  problem.inputs[1].constant = std::make_shared<const Buffer>(
      Buffer::adopt(matrix.data(), matrix.bytes().size(), [](std::byte*, std::size_t) {}));
  const auto kernel = panels_kernel(problem);
  std::vector<std::unique_ptr<Fenced>> inputs;
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    inputs.push_back(std::make_unique<Fenced>(maker.values()[i].bytes(), at_end));
    addresses.push_back(kernel->keeps_constant(i) ? nullptr : inputs.back()->data());
  }
  std::vector<float> all_nan(*element_count(problem.outputs[0].descriptor.shape), nan);
  const Fenced output(std::as_bytes(std::span(all_nan)), at_end);
  const std::array<std::byte*, 1> outputs{output.data()};
  const kernels::Arguments arguments{addresses, outputs, nullptr};
  kernel->bind(arguments)->run();
  BOOST_TEST(output.rest_is_untouched(), to_string(problem));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    BOOST_TEST(std::ranges::equal(inputs[i]->bytes(), maker.values()[i].bytes()));
  std::memcpy(all_nan.data(), output.data(), output.bytes().size());
  return all_nan;
}

/// The result of `run`, in memory that is all NaN before.
template <class Run>
std::vector<float> computed(const ProblemMaker& maker, const kernels::Kernel& kernel,
                            const Run& run) {
  const auto problem = maker.problem();
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    addresses.push_back(kernel.keeps_constant(i) ? nullptr : maker.values()[i].data());
  std::vector<float> result(*element_count(problem.outputs[0].descriptor.shape), nan);
  const std::array<std::byte*, 1> outputs{reinterpret_cast<std::byte*>(result.data())};
  const kernels::Arguments arguments{addresses, outputs, nullptr};
  run(*kernel.bind(arguments));
  return result;
}

/// gelu as a product stores it, of each number.
std::vector<float> gelu_of(const std::vector<float>& numbers) {
  const auto rows = static_cast<std::uint32_t>(numbers.size());
  constexpr std::uint32_t elements = 64;
  Buffer left(numbers.size() * elements * sizeof(float));  // each, and zeros
  for (std::size_t i = 0; i < numbers.size(); ++i) left.as<float>()[i * elements] = numbers[i];
  ProblemMaker maker(op("matmul"), 1);
  maker.given({DataType::float32, {rows, elements}}, std::move(left));
  maker.range(1, 1).constant({elements, 1}).output({rows, 1}).then(op("gelu"));
  return computed(maker, *panels_kernel(maker.problem()), [](auto& bound) { bound.run(); });
}

/// Products in as many parts, by rows or by columns.
struct Cut {
  std::uint32_t rows, elements, columns;
  std::size_t parts;
  bool by_rows;
};
std::vector<Cut> cuts() {
  const auto tile = kernels::direct::RowTile::get();
  const auto panel = static_cast<std::uint32_t>(tile.vectors * tile.lanes);
  return {{128, 384, 384, 4, false},
          {128, 1536, 384, 4, false},
          {1000, 96, 100, 2, true},
          {4000, 300, 60, 4, true},
          {3, 3000, 130, 2, false},
          {16, 70, 30, 1, false},
          {4 * panel, 6000, 5 * panel + 10, 6, false}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_product)

// Also by every other way, in parts and with guards behind what is written.
BOOST_AUTO_TEST_CASE(near_the_reference) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto maker = random_product(seed);
    BOOST_TEST(suits_panels(maker.problem()), tests::name_of("product", seed));
    tests::check_implementations(maker, tests::name_of("product", seed));
  }
}

// The order of a sum is promised: it is the same in every group of rows, panel and part.
BOOST_AUTO_TEST_CASE(sums_are_in_the_order_of_elements) {
  if (!tests::has_fused_loops()) return;
  std::size_t added = 0, biased = 0, bounded = 0, transposed = 0, in_stretches = 0;
  for (std::uint32_t seed = 1000; seed < 1300; ++seed) {
    const auto maker = random_product(seed);
    const auto problem = maker.problem();
    const auto epilogue = *kernels::product_epilogue_of(problem);
    if (epilogue.gelu) continue;
    const std::size_t wrong =
        tests::unlike(between_fences(maker, seed % 2 == 0), expected_by_sums(maker));
    BOOST_TEST(wrong == 0U,
               wrong << " numbers are wrong with seed " << seed << ": " << to_string(problem));
    added += epilogue.added > 0 ? 1U : 0U;
    biased += epilogue.bias > 0 ? 1U : 0U;
    bounded += epilogue.highest < infinity ? 1U : 0U;
    in_stretches += problem.inputs[0].descriptor.shape.back() > 1536 ? 1U : 0U;
    const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
    transposed += gemm != nullptr && gemm->b_transpose ? 1U : 0U;
  }
  // The seeds must have made enough of each.
  for (const std::size_t count : {added, biased, bounded, transposed}) BOOST_TEST(count > 30U);
  BOOST_TEST(in_stretches > 10U);
}

BOOST_AUTO_TEST_CASE(rows_and_columns_of_any_number) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t rows = 2; rows <= 26; ++rows)
    for (std::uint32_t columns = 1; columns <= 100; columns += columns % 16 == 1 ? 14U : 1U) {
      const auto maker = product(rows, 64 + (rows + columns) % 9, columns);
      BOOST_TEST(tests::unlike(between_fences(maker, true), expected_by_sums(maker)) == 0U,
                 rows << " by " << columns);
    }
}

// More rows than a core's own cache holds: then in rounds, with all panels in each.
BOOST_AUTO_TEST_CASE(many_rows) {
  if (!tests::has_fused_loops()) return;
  for (const auto& maker :
       {product(1000, 3100, 20), product(2111, 520, 20), product(10, 70000, 3)}) {
    const auto kernel = panels_kernel(maker.problem());
    const auto result = computed(maker, *kernel, [](auto& bound) { bound.run(); });
    BOOST_TEST(tests::unlike(result, expected_by_sums(maker)) == 0U, to_string(maker.problem()));
  }
}

// Parts are of rows where there are more of them than columns. Small products stay whole. No
// element is computed twice, in any order and on any thread.
BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  if (!tests::has_fused_loops()) return;
  for (const Cut& cut : cuts()) {
    auto maker = product(cut.rows, cut.elements, cut.columns);
    maker.then_with(op("add"), {cut.rows, cut.columns}).then(op("gelu"));
    std::string text;
    const auto kernel = kernels::prepare_in_parts(maker.problem(), text);
    BOOST_TEST(text.starts_with("direct: "), text);
    BOOST_TEST(text.ends_with(", " + std::to_string(cut.parts) + " parts") == (cut.parts > 1),
               text);
    BOOST_TEST_REQUIRE(kernel->parts() == cut.parts, text);
    const auto whole = computed(maker, *kernel, [](auto& bound) { bound.run(); });
    BOOST_TEST(std::ranges::none_of(whole, [](float x) { return std::isnan(x); }));
    std::size_t written = 0;
    for (std::size_t part = 0; part < cut.parts; ++part) {
      const auto own = computed(maker, *kernel, [&](auto& bound) { bound.run_part(part); });
      const auto is_written = [&](std::size_t at) { return !std::isnan(own[at]); };
      for (std::size_t i = 0; i < own.size(); ++i) written += is_written(i) ? 1U : 0U;
      if (part > 0 || cut.parts == 1) continue;
      BOOST_TEST(is_written(0), text);
      BOOST_TEST(is_written(cut.columns - 1) == cut.by_rows, text);
      BOOST_TEST(is_written(own.size() - cut.columns) != cut.by_rows, text);
    }
    BOOST_TEST(written == whole.size(), text << " write " << written << " numbers");
    const auto by_threads = computed(maker, *kernel, [](auto& bound) {
      std::vector<std::thread> threads;
      for (std::size_t i = bound.parts(); i-- > 0;)
        threads.emplace_back([&bound, i] { bound.run_part(i); });
      for (auto& thread : threads) thread.join();
    });
    BOOST_TEST(tests::unlike(whole, by_threads) == 0U, text);
  }
}

// The next step's first reads are fetched. Those of this step are fetched within its panels.
BOOST_AUTO_TEST_CASE(parts_tell_what_they_read_first) {
  if (!tests::has_fused_loops()) return;
  for (const Cut& cut : cuts()) {
    const auto maker = product(cut.rows, cut.elements, cut.columns);
    const auto kernel = panels_kernel(maker.problem());
    const auto usual = computed(maker, *kernel, [](auto& bound) { bound.run(); });
    const auto ahead = computed(maker, *kernel, [&](auto& bound) {
      const std::byte* const begin = bound.reads_first(0).data();
      const std::byte* last = nullptr;
      for (std::size_t i = 0; i < bound.parts(); ++i) {
        const auto panel = bound.reads_first(i);
        BOOST_TEST(!panel.empty());
        BOOST_TEST((panel.data() + panel.size() <= begin + kernel->constant_bytes()));
        BOOST_TEST((last == nullptr || (cut.by_rows ? panel.data() == last : panel.data() > last)));
        last = panel.data();
      }
      bound.precedes(bound);
      bound.run();
    });
    BOOST_TEST(tests::unlike(usual, ahead) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(special_values_stay_in_their_rows_and_columns) {
  if (!tests::has_fused_loops()) return;
  for (const float special : {nan, infinity, -infinity}) {
    ProblemMaker maker(op("matmul"), 5);
    maker.input({21, 67}).constant({67, 50}).output({21, 50}).then(op("relu"));
    auto problem = maker.problem();
    std::vector<Buffer> values;
    for (const Buffer& value : maker.values()) values.push_back(Buffer::copy_of(value.bytes()));
    values[0].as<float>()[9 * 67 + 66] = special;
    values[1].as<float>()[3 * 50 + 49] = special;
    problem.inputs[1].constant = std::make_shared<const Buffer>(Buffer::copy_of(values[1].bytes()));
    const auto all = kernels::implementations(op("matmul"));
    const auto panels = std::ranges::find_if(
        all, [&](const auto& way) { return way.prepare(problem).has_value(); });
    const auto got = tests::run_kernel(*panels, problem, values);
    const auto expected = tests::run_kernel(all.back(), problem, values);
    const auto a = got.outputs[0].as<float>(), e = expected.outputs[0].as<float>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < e.size(); ++i)
      wrong += std::isfinite(e[i]) ? !(std::abs(a[i] - e[i]) < 1e-4)
                                   : !(a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])));
    BOOST_TEST(wrong == 0U, wrong << " are wrong with " << special);
  }
}

// As exact as a float, except for negative numbers: there the error is below 2e-8.
BOOST_AUTO_TEST_CASE(gelu_is_near_its_formula) {
  if (!tests::has_fused_loops()) return;
  std::vector<float> numbers;
  for (int i = -80000; i <= 80000; ++i) numbers.push_back(static_cast<float>(i) * 1e-4F);
  for (const float x : {1e-30F, 1e-40F, 5.9999995F, 6.0F, 1e4F, 3e38F})
    numbers.insert(numbers.end(), {x, -x});
  const auto result = gelu_of(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i], exact = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    const double off = std::abs(result[i] - exact);
    BOOST_TEST(off <= 2e-7 * std::abs(exact) + 2e-8,
               "gelu(" << x << ") is " << result[i] << ", not " << exact);
  }
  const auto special = gelu_of({infinity, -infinity, nan, 0.0F, -0.0F});
  BOOST_TEST(special[0] == infinity);
  BOOST_TEST(std::isnan(special[1]));  // -infinity times 0, as in the formula
  BOOST_TEST(std::isnan(special[2]));
  BOOST_TEST(special[3] == 0.0F);
  BOOST_TEST(special[4] == 0.0F);
}

// gelu is taken of the whole sum, not of the share that a stretch of elements adds to it.
BOOST_AUTO_TEST_CASE(gelu_follows_the_whole_sum) {
  if (!tests::has_fused_loops()) return;
  auto maker = product(11, 3100, 50);
  const auto sums = expected_by_sums(maker);
  maker.then(op("gelu"));
  BOOST_TEST(tests::unlike(between_fences(maker, true), gelu_of(sums)) == 0U);
}

// Also what fills the last one up, in memory that was something else before.
BOOST_AUTO_TEST_CASE(panels_are_written_whole) {
  for (const bool transposed : {false, true})
    for (std::uint32_t rows : {1U, 15U, 16U, 37U}) {
      const std::uint32_t columns = 23;
      ProblemMaker maker(op("gemm"), rows);
      maker.attributes(GemmAttributes{1, 1, false, transposed}).input({2, rows});
      maker.constant(transposed ? Shape{columns, rows} : Shape{rows, columns});
      maker.output({2, columns});
      const auto matrix = kernels::direct::RightMatrix::of(maker.problem());
      BOOST_TEST_REQUIRE((matrix.rows == rows && matrix.columns == columns));
      constexpr std::size_t first = 4, count = 19, width = 32;
      std::vector<float> panel(rows * width + 1, nan), expected;
      kernels::direct::fill_panel(matrix, first, count, width, panel.data());
      const auto from = maker.values()[1].as<float>();
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < width; ++i)
          expected.push_back(i >= count   ? 0
                             : transposed ? from[(first + i) * rows + row]
                                          : from[row * columns + first + i]);
      expected.push_back(nan);  // and nothing behind it
      BOOST_TEST(tests::unlike(panel, expected) == 0U,
                 rows << " rows" << (transposed ? ", transposed" : ""));
    }
}

BOOST_AUTO_TEST_CASE(what_they_are_not_for) {
  if (!tests::has_fused_loops()) return;
  const auto suits = [](const ProblemMaker& maker) { return suits_panels(maker.problem()); };
  BOOST_TEST(suits(product(2, 64, 7)));
  BOOST_TEST(!suits(product(1, 64, 7)));  // a vector
  BOOST_TEST(!suits(product(2, 63, 7)));
  ProblemMaker variable(op("matmul"), 1);
  variable.input({4, 64}).input({64, 7}).output({4, 7});
  BOOST_TEST(!suits(variable));
  ProblemMaker batch(op("matmul"), 1);
  batch.input({2, 4, 64}).constant({2, 64, 7}).output({2, 4, 7});
  BOOST_TEST(!suits(batch));
  ProblemMaker half(op("matmul"), 1);
  half.input({4, 64}, DataType::float16).constant({64, 7}, DataType::float16);
  half.output({4, 7}, DataType::float16);
  BOOST_TEST(!suits(half));
  const auto gemm = [&](const GemmAttributes& a, const Shape& third) {
    ProblemMaker maker(op("gemm"), 1);
    maker.attributes(a).input({64, 64}).constant({64, 64}).input(third).output({64, 64});
    return suits(maker);
  };
  BOOST_TEST(!gemm({2, 1, false, false}, {64}));
  BOOST_TEST(!gemm({1, 2, false, false}, {64}));
  BOOST_TEST(!gemm({1, 1, true, false}, {64}));
  for (const Shape& third : {Shape{64}, Shape{1, 64}, Shape{64, 64}})
    BOOST_TEST(gemm({1, 1, false, false}, third));
  for (const Shape& third : {Shape{}, Shape{1}, Shape{1, 1}, Shape{64, 1}})
    BOOST_TEST(!gemm({1, 1, false, false}, third));
}

// A vector, then a matrix, then a function: what would be in another order is not taken.
BOOST_AUTO_TEST_CASE(what_may_follow) {
  if (!tests::has_fused_loops()) return;
  const auto with = [](const auto& add) {
    auto maker = product(4, 64, 7);
    add(maker);
    return suits_panels(maker.problem());
  };
  const Shape vector{7}, matrix{4, 7};
  BOOST_TEST(with([&](auto& m) { m.then_with(op("add"), vector).then_with(op("add"), matrix); }));
  BOOST_TEST(!with([&](auto& m) { m.then_with(op("add"), matrix).then_with(op("add"), vector); }));
  BOOST_TEST(!with([&](auto& m) { m.then_with(op("add"), vector).then_with(op("add"), vector); }));
  BOOST_TEST(!with([&](auto& m) { m.then_with(op("add"), matrix).then_with(op("add"), matrix); }));
  BOOST_TEST(!with([](auto& m) { m.then_with(op("add"), {4, 1}); }));
  BOOST_TEST(!with([](auto& m) { m.then_with(op("add"), {}); }));
  BOOST_TEST(!with([&](auto& m) { m.then_with(op("sub"), vector); }));
  BOOST_TEST(!with([](auto& m) { m.then(op("gelu")).then(op("relu")); }));
  BOOST_TEST(!with([](auto& m) { m.then(op("tanh")); }));
}

// Views and slices are oneDNN's, but of the matrix, which is read once.
BOOST_AUTO_TEST_CASE(how_operands_lie) {
  if (!tests::has_fused_loops()) return;
  const auto maker = product(64, 64, 64);
  for (const std::size_t i : {0U, 1U, 2U}) {
    auto ordered = maker.problem(), sliced = maker.problem();
    auto& in_order = i == 2 ? ordered.outputs[0] : ordered.inputs[i];
    auto& in_steps = i == 2 ? sliced.outputs[0] : sliced.inputs[i];
    in_order.order = {1, 0};
    in_steps.strides = {1, 64};
    BOOST_TEST(suits_panels(ordered) == (i == 1));
    BOOST_TEST(suits_panels(sliced) == (i == 1));
    if (i != 1) continue;
    const auto usual = computed(maker, *panels_kernel(ordered), [](auto& bound) { bound.run(); });
    const auto steps = computed(maker, *panels_kernel(sliced), [](auto& bound) { bound.run(); });
    std::vector<float> expected;
    const auto left = maker.values()[0].as<float>(), right = maker.values()[1].as<float>();
    for (std::size_t r = 0; r < 64; ++r)
      for (std::size_t c = 0; c < 64; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < 64; ++k)
          sum = std::fma(left[r * 64 + k], right[c * 64 + k], sum);
        expected.push_back(sum);
      }
    BOOST_TEST(tests::unlike(usual, expected) == 0U);
    BOOST_TEST(tests::unlike(steps, expected) == 0U);
  }
}

// The matrix as it came is needed no more, and its panels are counted for.
BOOST_AUTO_TEST_CASE(the_matrix_is_kept_in_panels_alone) {
  if (!tests::has_fused_loops()) return;
  const auto kernel = panels_kernel(product(9, 70, 50).problem());
  BOOST_TEST(kernel->keeps_constant(1));
  BOOST_TEST(!kernel->keeps_constant(0));
  BOOST_TEST(kernel->constant_bytes() ==
             kernels::direct::ColumnPanels{50}.floats(70) * sizeof(float));
  BOOST_TEST(kernel->scratch_bytes() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
