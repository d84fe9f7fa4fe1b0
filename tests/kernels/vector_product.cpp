// Products of one row with a constant matrix, in loops of our own.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <iostream>
#include <limits>

#include "kernels/vectors.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::ProblemMaker;

/// The way that is for one row.
const kernels::Implementation& one_row(std::string_view name) {
  static const auto gemm = kernels::implementations(op("gemm"));
  static const auto matmul = kernels::implementations(op("matmul"));
  const auto& all = name == "gemm" ? gemm : matmul;
  return *std::ranges::find_if(all, [](const auto& way) { return way.name == "direct"; });
}

bool has_vectors() {
  if (kernels::has_fused_vectors()) return true;
  std::cout << "skipped: this processor has no fused multiply-add\n";
  return false;
}

std::vector<double> result_of(const ProblemMaker& maker) {
  const auto problem = maker.problem();
  const auto outcome =
      tests::run_kernel(one_row(kernels::operator_name(problem.op)), problem, maker.values());
  BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
  BOOST_TEST(!outcome.overran);
  return tests::numbers_of(problem.outputs[0].descriptor, outcome.outputs[0]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vector_product)

BOOST_AUTO_TEST_CASE(columns_of_any_number) {
  if (!has_vectors()) return;
  for (const std::uint32_t columns :
       {1U, 15U, 16U, 17U, 33U, 63U, 64U, 65U, 80U, 96U, 127U, 128U, 131U})
    for (const std::uint32_t rows : {1U, 15U, 16U, 33U, 256U, 257U, 600U}) {
      ProblemMaker maker(op("gemm"), columns * 1000 + rows);
      maker.attributes(GemmAttributes{1, 1, false, true}).input({1, rows});
      maker.constant({columns, rows}).input({columns}).output({1, columns}).then(op("relu"));
      result_of(maker);
      tests::check_implementations(maker, std::to_string(rows) + " by " + std::to_string(columns));
    }
}

// Parts of a product have other panels.
BOOST_AUTO_TEST_CASE(a_column_is_the_same_bits_in_any_panel) {
  if (!has_vectors()) return;
  constexpr std::uint32_t rows = 600, all = 115;
  ProblemMaker maker(op("matmul"), 7);
  maker.input({1, rows}).constant({rows, all}).output({1, all});
  const auto whole = result_of(maker);
  const auto weights = std::as_const(maker.values()[1]).as<float>();
  for (const std::uint32_t columns : {1U, 16U, 17U, 33U, 49U, 64U, 70U, 100U})
    for (const std::uint32_t first : {0U, 15U}) {
      auto some = Buffer(std::size_t{rows} * columns * sizeof(float));
      for (std::uint32_t row = 0; row < rows; ++row)
        std::copy_n(weights.begin() + row * all + first, columns,
                    some.as<float>().begin() + row * columns);
      ProblemMaker part(op("matmul"), 7);
      part.input({1, rows}).constant({rows, columns}).output({1, columns});
      auto problem = part.problem();
      std::vector<Buffer> values;
      values.push_back(Buffer::copy_of(maker.values()[0].bytes()));
      values.push_back(Buffer::copy_of(some.bytes()));
      problem.inputs[1].constant = std::make_shared<const Buffer>(std::move(some));
      const auto outcome = tests::run_kernel(one_row("matmul"), problem, values);
      BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
      const auto result = tests::numbers_of(problem.outputs[0].descriptor, outcome.outputs[0]);
      for (std::uint32_t column = 0; column < columns; ++column)
        BOOST_TEST(result[column] == whole[first + column],
                   columns << " columns from " << first << ": column " << column << " is "
                           << result[column] << ", in the whole " << whole[first + column]);
    }
}

// In a long row each number is small beside the sum.
BOOST_AUTO_TEST_CASE(errors_do_not_grow_with_the_row) {
  if (!has_vectors()) return;
  for (const std::uint32_t rows : {4096U, 65536U, 1U << 20U}) {
    ProblemMaker maker(op("matmul"), rows);
    maker.range(0, 1).input({1, rows}).constant({rows, 3}).output({1, 3});
    const auto result = result_of(maker);
    const auto x = std::as_const(maker.values()[0]).as<float>();
    const auto w = std::as_const(maker.values()[1]).as<float>();
    for (std::size_t column = 0; column < 3; ++column) {
      double expected = 0;
      for (std::size_t row = 0; row < rows; ++row) expected += double{x[row]} * w[row * 3 + column];
      const double off = std::abs(result[column] - expected) / expected;
      BOOST_TEST(off < 1e-5, rows << " rows: off by " << off);
    }
  }
}

BOOST_AUTO_TEST_CASE(special_values_stay_in_their_columns) {
  if (!has_vectors()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  ProblemMaker maker(op("matmul"), 5);
  maker.input({1, 20}).constant({20, 18}).output({1, 18});
  auto problem = maker.problem();
  auto weights = Buffer::copy_of(problem.inputs[1].constant->bytes());
  weights.as<float>()[3 * 18 + 17] = infinity;
  weights.as<float>()[4 * 18 + 2] = std::numeric_limits<float>::quiet_NaN();
  std::vector<Buffer> values;
  values.push_back(Buffer::copy_of(maker.values()[0].bytes()));
  values.push_back(Buffer::copy_of(weights.bytes()));
  problem.inputs[1].constant = std::make_shared<const Buffer>(std::move(weights));
  auto rectified = problem;
  rectified.post_ops.push_back({op("relu"), {}, {}});
  const auto kept = tests::run_kernel(one_row("matmul"), rectified, values);
  BOOST_REQUIRE_MESSAGE(kept.refusal.empty(), kept.refusal);
  BOOST_TEST(std::isnan(
      tests::numbers_of(problem.outputs[0].descriptor, kept.outputs[0])[2]));  // is not negative
  const auto outcome = tests::run_kernel(one_row("matmul"), problem, values);
  BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
  const auto result = tests::numbers_of(problem.outputs[0].descriptor, outcome.outputs[0]);
  for (std::size_t column = 0; column < 18; ++column) {
    if (column == 17)
      BOOST_TEST(std::isinf(result[column]));
    else if (column == 2)
      BOOST_TEST(std::isnan(result[column]));
    else
      BOOST_TEST(std::isfinite(result[column]), "column " << column);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
