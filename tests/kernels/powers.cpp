// pow of integers, also with exponents below zero, by hand: the reference is the only kernel.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <vector>

#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {
namespace {

template <class T>
T power(T base, T exponent) {
  tests::ProblemMaker maker(ops::op("pow"), 1);
  const auto one = [](const T& value) { return Buffer::copy_of(std::span<const T>(&value, 1)); };
  maker.given({data_type_v<T>, {}}, one(base)).given({data_type_v<T>, {}}, one(exponent));
  const auto problem = maker.output({}, data_type_v<T>).problem();
  const auto list = kernels::implementations(problem.op);
  return tests::run_kernel(list.back(), problem, maker.values()).outputs.at(0).template as<T>()[0];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(powers)

BOOST_AUTO_TEST_CASE(of_integers) {
  BOOST_TEST(power<std::int32_t>(3, 4) == 81);
  BOOST_TEST(power<std::int32_t>(-2, 5) == -32);
  BOOST_TEST(power<std::uint8_t>(2, 8) == 0);  // wraps around
  BOOST_TEST(power<std::int64_t>(0, 0) == 1);
}

// Fractions are cut off. The lowest exponent has no negative.
BOOST_AUTO_TEST_CASE(of_integers_with_exponents_below_zero) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t exponent : {std::int64_t{-1}, std::int64_t{-64}, lowest + 1, lowest}) {
    BOOST_TEST(power<std::int64_t>(1, exponent) == 1);
    BOOST_TEST(power<std::int64_t>(-1, exponent) == (exponent % 2 == 0 ? 1 : -1));
    for (const std::int64_t base : {0, 2, -2, 3, -7})
      BOOST_TEST(power(base, exponent) == 0, base << " to the power of " << exponent);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
