// Reductions: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(reduction_rules)

namespace {

ReduceAttributes over(std::vector<std::uint32_t> axes, bool keep = false) { return {axes, keep}; }

}  // namespace

BOOST_AUTO_TEST_CASE(every_reduction) {
  int rows = 0;
  for (const auto& row : ops::rows()) {
    if (row.shape != ops::reduce_shape) continue;
    ++rows;
    accept(row.name, {f32({1, 3, 4, 4})}, ReduceAttributes{std::nullopt, true}, f32({1, 1, 1, 1}));
    accept(row.name, {f32({1, 3, 5, 5})}, over({0, 1}), f32({5, 5}));
    accept(row.name, {f32({1, 3, 5, 5})}, over({3, 1}, true), f32({1, 1, 5, 1}));
    accept(row.name, {f32({2, 3})}, over({}), f32({2, 3}));
    accept(row.name, {f32({})}, ReduceAttributes{std::nullopt, false}, f32({}));
    refuse(row.name, {f32({1, 2, 3, 4})}, over({4}), "axes");
    refuse(row.name, {f32({1, 2, 3, 4})}, over({0, 1, 1}), "axes");
    for (const auto type : all_data_types) {
      const Descriptors operand{{type, {2, 3, 4}}};
      if (row.operands()[0].types.has(type))
        accept(row.name, operand, ReduceAttributes{std::nullopt, false}, {type, {}});
      else
        refuse(row.name, operand, ReduceAttributes{std::nullopt, false}, "operand 'input'");
    }
  }
  BOOST_TEST(rows == 10);
}

BOOST_AUTO_TEST_SUITE_END()
