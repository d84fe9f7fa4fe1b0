// Plans choose layouts that a library has real implementations for, not only its reference.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::GraphMaker;
using tests::Runner;

struct Shapes {
  std::uint32_t in, out, window, stride;
};

/// A convolution between activations, as networks have it; a transposed one if asked.
GraphMaker network(const Shapes& s, bool transposed) {
  GraphMaker maker;
  const std::uint32_t size = s.window + 2 * s.stride;  // of the picture: three windows
  const std::uint32_t result =
      transposed ? (size - 1) * s.stride + s.window : (size - s.window) / s.stride + 1;
  const auto x =
      maker.node(op("relu"), {maker.input({1, s.in, size, size})}, {1, s.in, size, size});
  ops::ValueId y = 0;
  if (transposed) {
    ConvTranspose2dAttributes a;
    a.strides = {s.stride, s.stride};
    y = maker.node(op("convTranspose2d"), {x, maker.random({s.in, s.out, s.window, s.window})},
                   {1, s.out, result, result}, a);
  } else {
    Conv2dAttributes a;
    a.strides = {s.stride, s.stride};
    y = maker.node(op("conv2d"), {x, maker.random({s.out, s.in, s.window, s.window})},
                   {1, s.out, result, result}, a);
  }
  maker.output(maker.node(op("relu"), {y}, {1, s.out, result, result}));
  return maker;
}

std::string text_of(const std::vector<std::string>& steps) {
  std::string text;
  for (const auto& step : steps) text += "\n  " + step;
  return text;
}

void check(const Shapes& s, bool transposed) {
  const auto maker = network(s, transposed);
  Runner runner(kernels::make_cpu_backend(), maker.share());
  const auto text = text_of(runner.plan().describe());
  BOOST_TEST(text.find("reference:") == std::string::npos,
             (transposed ? "transposed, " : "") << s.in << " to " << s.out << " channels, window "
                                                << s.window << ", stride " << s.stride << text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(library_choices)

BOOST_AUTO_TEST_CASE(convolutions_of_any_number_of_channels) {
  for (const std::uint32_t in : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 12U, 15U, 16U, 17U, 24U, 33U})
    for (const std::uint32_t out : {1U, 3U, 4U, 7U, 8U, 12U, 15U, 16U, 20U, 32U, 33U})
      for (const auto& [window, stride] : {std::pair{1U, 1U},
                                           {1U, 2U},
                                           {3U, 1U},
                                           {3U, 2U},
                                           {4U, 4U},
                                           {5U, 1U},
                                           {7U, 2U},
                                           {16U, 16U}})
        check({in, out, window, stride}, false);
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_of_any_number_of_channels) {
  for (const std::uint32_t in : {1U, 3U, 4U, 8U, 12U, 16U, 24U, 33U})
    for (const std::uint32_t out : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 24U, 33U})
      for (const auto& [window, stride] : {std::pair{2U, 2U}, {3U, 1U}, {3U, 2U}, {4U, 2U}})
        check({in, out, window, stride}, true);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
