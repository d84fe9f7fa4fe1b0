// For every row: random calls that the specification allows are accepted. Their results have the
// shapes that simple, separate arithmetic gives, such as counting windows one by one.
#include <cstdlib>
#include <random>

#include "tests/ops/random_calls.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(random_shapes)

BOOST_AUTO_TEST_CASE(every_row) {
  const char* given = std::getenv("POLYCHRON_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  Random random(seed);
  for (const auto& row : ops::rows()) {
    for (int i = 0; i < 200; ++i) {
      const auto call = random_call(row, random);
      const auto operands = typed(row, call, random);
      BOOST_TEST_CONTEXT(row.name << "(" << show(operands) << "), POLYCHRON_SEED=" << seed) {
        try {
          std::vector<Shape> shapes;
          for (auto& result : infer(row.name, operands, call.attributes))
            shapes.push_back(std::move(result.shape));
          BOOST_TEST((shapes == call.results), to_string(shapes.at(0))
                                                   << " is not " << to_string(call.results.at(0)));
        } catch (const Error& error) {
          BOOST_ERROR(error.what());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
