// The negative of a zero is the other zero, in every implementation and layout: 1 / neg(0) tells.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {

BOOST_AUTO_TEST_SUITE(zeros)

BOOST_AUTO_TEST_CASE(neg_turns_their_sign) {
  const Shape shape{1, 16, 9, 9};
  for (const float zero : {0.0F, -0.0F})
    for (const auto layout :
         {kernels::Layout::plain, kernels::Layout::blocked8, kernels::Layout::blocked16})
      for (const auto& implementation : kernels::implementations(ops::op("neg"))) {
        const std::vector<float> zeros(*element_count(shape), zero);
        std::vector<Buffer> values;
        values.push_back(Buffer::copy_of(std::span<const float>(zeros)));
        tests::ProblemMaker maker(ops::op("neg"), 1);
        const auto problem = maker.input(shape).output(shape).problem();
        const auto outcome = tests::run_kernel(implementation, problem, values, layout);
        if (!outcome.refusal.empty()) continue;
        const auto results = outcome.outputs.at(0).as<float>();
        const auto wrong = std::ranges::count_if(
            results, [&](float result) { return std::signbit(result) == std::signbit(zero); });
        BOOST_TEST(wrong == 0, implementation.name << " " << to_string(layout) << ": " << wrong
                                                   << " results have the sign of " << zero);
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
