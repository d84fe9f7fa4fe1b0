// resample2d: places in whole numbers, weights in full precision, and blocks of channels.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/kernels/special_values.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::GraphMaker;
using tests::op_named;
using tests::Runner;
using tests::floats::infinity;

/// A row of `in` resampled to `to` elements, by every implementation.
template <class Check>
void each_row(const std::vector<float>& in, std::uint32_t to, InterpolationMode mode,
              const Check& check) {
  Resample2dAttributes a;
  a.mode = mode;
  a.sizes = {{1, to}};
  tests::ProblemMaker maker(op("resample2d"), 1);
  const auto problem = maker.attributes(a)
                           .input({1, 1, 1, static_cast<std::uint32_t>(in.size())})
                           .output({1, 1, 1, to})
                           .problem();
  std::vector<Buffer> values;
  values.push_back(Buffer::copy_of(std::span<const float>(in)));
  for (const auto& implementation : kernels::implementations(op("resample2d"))) {
    const auto outcome = tests::run_kernel(implementation, problem, values);
    BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), implementation.name << outcome.refusal);
    check(implementation.name, outcome.outputs.at(0).as<float>());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resampling)

// The lower of two equally near elements: element `at` lies at (2 at + 1) in / (2 out).
BOOST_AUTO_TEST_CASE(nearest_takes_the_lower_of_two) {
  for (std::uint32_t from = 1; from <= 24; ++from)
    for (std::uint32_t to = 1; to <= 40; ++to) {
      std::vector<float> in(from);
      for (std::uint32_t i = 0; i < from; ++i) in[i] = static_cast<float>(i);
      each_row(in, to, InterpolationMode::nearest_neighbor, [&](auto name, const auto& out) {
        for (std::uint32_t at = 0; at < to; ++at) {
          std::uint32_t best = 0;  // the first with the least distance, times 2 out
          const auto distance = [&](std::uint32_t i) {
            return std::abs(std::int64_t{2 * at + 1} * from - std::int64_t{2 * i + 1} * to);
          };
          for (std::uint32_t i = 1; i < from; ++i)
            if (distance(i) < distance(best)) best = i;
          BOOST_REQUIRE_MESSAGE(out[at] == static_cast<float>(best),
                                name << ": element " << at << " of " << to << " from " << from
                                     << " is " << out[at] << ", expected " << best);
        }
      });
    }
}

BOOST_AUTO_TEST_CASE(infinities_stay_and_spread_no_further) {
  const std::vector<float> in{infinity, 1, -infinity};
  each_row(in, 5, InterpolationMode::nearest_neighbor, [&](auto name, const auto& out) {
    const std::vector<float> expected{infinity, infinity, 1, -infinity, -infinity};
    BOOST_TEST(std::vector<float>(out.begin(), out.end()) == expected, name);
  });
  each_row(in, 3, InterpolationMode::linear, [&](auto name, const auto& out) {
    BOOST_TEST(std::vector<float>(out.begin(), out.end()) == in, name);
  });
}

BOOST_AUTO_TEST_CASE(wide_pictures_have_exact_weights) {
  for (const auto& sizes : {std::pair{640U, 853U}, {1000U, 333U}, {4096U, 5000U}}) {
    const std::uint32_t from = sizes.first, to = sizes.second;
    std::vector<float> in(from);
    for (std::uint32_t i = 0; i < from; ++i) in[i] = i % 2 == 0 ? 1.0F : 255.0F;
    each_row(in, to, InterpolationMode::linear, [&](auto name, const auto& out) {
      for (std::uint32_t at = 0; at < to; ++at) {
        // The numerator of its place, over 2 to.
        const std::int64_t place =
            std::max<std::int64_t>(0, std::int64_t{2 * at + 1} * from - std::int64_t{to});
        const auto low =
            std::min<std::size_t>(static_cast<std::size_t>(place / (2 * to)), from - 1);
        const auto high = std::min<std::size_t>(low + 1, from - 1);
        const double t = static_cast<double>(place % (2 * to)) / (2.0 * to);
        const double expected = in[low] * (1 - t) + in[high] * t;
        BOOST_REQUIRE_MESSAGE(std::fabs(out[at] - expected) <= expected * 0x1p-21,
                              name << ": element " << at << " of " << to << " is " << out[at]
                                   << ", expected " << expected);
      }
    });
  }
}

namespace {

struct Follower {
  ops::OpId op;
  Attributes attributes;
  Shape shape;
};

/// Operators that may follow a convolution whose result is [1, 20, 7, 9], and read it in its
/// blocks.
std::vector<Follower> followers() {
  std::vector<Follower> list;
  for (const auto mode : {InterpolationMode::nearest_neighbor, InterpolationMode::linear})
    for (const auto& [height, width] : {std::pair{1U, 1U}, {14U, 18U}, {11U, 5U}, {3U, 13U}}) {
      Resample2dAttributes a;
      a.mode = mode;
      a.sizes = {{height, width}};
      list.push_back({op("resample2d"), a, {1, 20, height, width}});
      a.sizes = {{width, height}};
      a.axes = {3, 2};
      list.push_back({op("resample2d"), a, {1, 20, height, width}});
    }
  for (const auto* name : {"averagePool2d", "maxPool2d", "l2Pool2d"}) {
    Pool2dAttributes a;  // the last windows lie in the padding alone
    a.window_dimensions = {{2, 2}};
    a.padding = {0, 4, 0, 4};
    a.strides = {2, 3};
    list.push_back({op_named(name), a, {1, 20, 5, 4}});
    a.padding = {200, 200, 200, 200};
    a.window_dimensions = {{201, 201}};
    a.strides = {200, 200};
    list.push_back({op_named(name), a, {1, 20, 2, 2}});
  }
  for (const auto* name : {"relu", "exp", "sigmoid", "softplus", "tanh", "erf", "sign"})
    list.push_back({op_named(name), {}, {1, 20, 7, 9}});
  list.push_back({op("clamp"), ClampAttributes{0.25, 0.5}, {1, 20, 7, 9}});
  list.push_back({op("softmax"), SoftmaxAttributes{1}, {1, 20, 7, 9}});
  return list;
}

}  // namespace

// Whatever reads a picture in blocks has an implementation for them, or gets it as it is.
BOOST_AUTO_TEST_CASE(every_follower_of_a_convolution_builds) {
  for (const bool transposed : {false, true})
    for (const Follower& follower : followers()) {
      GraphMaker maker;
      const auto x = maker.input({1, 5, 7, 9});
      const auto y = transposed
                         ? maker.node(op("convTranspose2d"), {x, maker.random({5, 20, 1, 1})},
                                      {1, 20, 7, 9}, ConvTranspose2dAttributes{})
                         : maker.node(op("conv2d"), {x, maker.random({20, 5, 1, 1})}, {1, 20, 7, 9},
                                      Conv2dAttributes{});
      const auto z = maker.node(follower.op, {y}, follower.shape, follower.attributes);
      // Something that would see what padding is not 0.
      Shape shape = follower.shape;
      shape[1] = 8;
      maker.output(
          maker.node(op("conv2d"), {z, maker.random({8, 20, 1, 1})}, shape, Conv2dAttributes{}));
      Runner actual(kernels::make_cpu_backend(), maker.share());
      Runner expected(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
                      maker.share());
      for (Runner* runner : {&actual, &expected}) {
        runner->randomize(3);
        runner->run();
      }
      const auto a = actual.get<float>(0), e = expected.get<float>(0);
      double worst = 0;
      for (std::size_t i = 0; i < e.size(); ++i)
        if (std::isfinite(e[i]) || std::isfinite(a[i]))
          worst = std::fmax(worst, std::fabs(a[i] - e[i]) / std::fmax(1, std::fabs(e[i])));
      BOOST_TEST(worst < 1e-4,
                 kernels::operator_name(follower.op)
                     << to_string(OperandDescriptor{DataType::float32, follower.shape})
                     << " is off by " << worst);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
