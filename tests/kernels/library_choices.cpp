// Plans choose layouts that a library has real implementations for, not only its reference.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"
#include "tests/kernels/convolutions.hpp"
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
      for (const auto& [window, stride] :
           {std::pair{2U, 2U}, {3U, 1U}, {3U, 2U}, {3U, 3U}, {4U, 2U}, {5U, 3U}})
        check({in, out, window, stride}, true);
}

// On each kind of processor; a library takes the others.
BOOST_AUTO_TEST_CASE(loops_of_our_own_by_processor) {
  const bool fused = kernels::has_fused_vectors();
  const bool avx2 = kernels::vectors() == kernels::Vectors::avx2;
  const auto check_way = [](const tests::Convolution& c, bool own, std::string_view expected) {
    const auto problem = c.maker(1).problem();
    BOOST_TEST((tests::first_way(problem) == expected) == own, to_string(problem));
  };
  check_way(tests::depthwise(32, 14, 14), fused, "depthwise");
  check_way(tests::depthwise(32, 14, 14, 5, 2), fused, "depthwise");
  check_way({1, 64, 64, 14, 14}, fused, kernels::by_panels);
  check_way({1, 63, 64, 14, 14}, fused && !avx2, kernels::by_panels);
  tests::Convolution square{1, 64, 64, 14, 14, 3, 3};
  check_way(square, fused, kernels::by_minimal_filtering);
  square.a.strides = {2, 2};
  check_way(square, fused && !avx2, kernels::by_panels);
}

// Each of these ran in a reference implementation, 10 to 1,200 times slower than elsewhere.
BOOST_AUTO_TEST_CASE(operators_beside_convolutions) {
  const auto one_step = [](const char* what, const auto& make) {
    GraphMaker maker;
    maker.output(make(maker));
    Runner runner(kernels::make_cpu_backend(), maker.share());
    const auto text = text_of(runner.plan().describe());
    BOOST_TEST(text.find("reference:") == std::string::npos, what << text);
  };
  one_step("the first operand broadcasts", [](GraphMaker& m) {
    return m.node(op("add"), {m.input({2, 64, 1, 40}), m.input({2, 64, 20, 40})}, {2, 64, 20, 40});
  });
  one_step("the second operand broadcasts along the last axis", [](GraphMaker& m) {
    return m.node(op("sub"), {m.input({6, 64, 64}), m.input({6, 64, 1})}, {6, 64, 64});
  });
  one_step("a gemm of a transposed operand", [](GraphMaker& m) {
    return m.node(op("gemm"), {m.input({512, 32}), m.random({512, 64}), m.random({64})}, {32, 64},
                  GemmAttributes{0.5, 1, true, false});
  });
  one_step("a gemm with a column", [](GraphMaker& m) {
    return m.node(op("gemm"), {m.input({100, 32}), m.random({32, 64}), m.random({100, 1})},
                  {100, 64}, GemmAttributes{});
  });
  one_step("a gemm with a factor of what is added", [](GraphMaker& m) {
    return m.node(op("gemm"), {m.input({100, 32}), m.random({32, 64}), m.input({64})}, {100, 64},
                  GemmAttributes{1, 0.5, false, false});
  });
  one_step("a gemm with a factor and a row to add, in parts", [](GraphMaker& m) {
    return m.node(op("gemm"), {m.input({512, 192}), m.random({384, 192}), m.random({384})},
                  {512, 384}, GemmAttributes{0.5, 1, false, true});
  });
  one_step("the same of two inputs", [](GraphMaker& m) {
    return m.node(op("gemm"), {m.input({512, 192}), m.input({384, 192}), m.random({384})},
                  {512, 384}, GemmAttributes{0.5, 1, false, true});
  });
  one_step("a product with a function before a row to add, in parts", [](GraphMaker& m) {
    const auto y = m.node(op("matmul"), {m.input({512, 192}), m.random({192, 384})}, {512, 384});
    const auto z = m.node(op("tanh"), {y}, {512, 384});
    return m.node(op("add"), {z, m.random({384})}, {512, 384});
  });
  one_step("a mean over a middle axis", [](GraphMaker& m) {
    return m.node(op("reduceMean"), {m.input({8, 128, 96})}, {8, 96},
                  ReduceAttributes{{{1}}, false});
  });
  one_step("softmax over a middle axis", [](GraphMaker& m) {
    return m.node(op("softmax"), {m.input({8, 128, 96})}, {8, 128, 96}, SoftmaxAttributes{1});
  });
  one_step("batch normalization alone", [](GraphMaker& m) {
    return m.node(op("batchNormalization"), {m.input({1, 8, 28, 28}), m.random({8}), m.random({8})},
                  {1, 8, 28, 28}, BatchNormalizationAttributes{});
  });
  one_step("instance normalization", [](GraphMaker& m) {
    return m.node(op("instanceNormalization"), {m.input({1, 8, 28, 28})}, {1, 8, 28, 28},
                  InstanceNormalizationAttributes{});
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
