// Convolutions of 3x3 by minimal filtering: near the plain ones, also where values are special.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <iostream>
#include <limits>

#include "kernels/cpu/cut_kernel.hpp"
#include "ops/attributes.hpp"
#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using kernels::Layout;
using ops::op;
using tests::ProblemMaker;
using tests::Random;

struct Sizes {
  std::uint32_t batch, in, out, height, width;
};

ProblemMaker convolution(std::uint32_t seed, const Sizes& s, std::uint32_t padding) {
  Conv2dAttributes a;
  a.padding = {padding, padding, padding, padding};
  ProblemMaker maker(op("conv2d"), seed);
  maker.attributes(a).input({s.batch, s.in, s.height, s.width}).constant({s.out, s.in, 3, 3});
  maker.output({s.batch, s.out, s.height + 2 * padding - 2, s.width + 2 * padding - 2});
  return maker;
}

/// The kernel of the first implementation that takes this in blocks of channels.
std::unique_ptr<kernels::Kernel> first_kernel(kernels::Problem problem) {
  problem.inputs[0].layout = problem.outputs[0].layout = Layout::blocked16;
  for (const auto& implementation : kernels::implementations(problem.op))
    if (auto kernel = implementation.prepare(problem)) return std::move(*kernel);
  return nullptr;
}

constexpr Sizes usual{1, 32, 48, 14, 15};

/// Says so where this machine has none.
bool has_minimal() {
  const auto kernel = first_kernel(convolution(1, usual, 1).problem());
  if (kernel != nullptr && kernel->filters_minimally()) return true;
  std::cout << "skipped: the library has no minimal filtering for this processor\n";
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(winograd)

BOOST_AUTO_TEST_CASE(near_the_reference) {
  if (!has_minimal()) return;
  int filtered = 0;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Sizes s{1, 16 * random.pick(1, 4), 16 * random.pick(1, 5), random.pick(10, 16),
                  random.pick(12, 16)};
    auto maker = convolution(seed, s, random.pick(0, 1));
    if (random.chance()) maker.constant({s.out});
    if (random.chance()) maker.then(op("relu"));
    filtered += first_kernel(maker.problem())->filters_minimally() ? 1 : 0;
    tests::check_implementations(maker, "convolution " + std::to_string(seed));
  }
  BOOST_TEST(filtered > 5);  // of others the library thinks that they gain nothing
}

// Sums and differences of such values would be NaN where the plain way has infinity, or nothing.
BOOST_AUTO_TEST_CASE(special_values_stay_where_they_belong) {
  if (!has_minimal()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float special :
       {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 3e38F, -1e20F, 0x1p48F})
    for (const std::size_t place : {0U, 7U, 14U * 15U + 31U, 32U * 14U * 15U - 1U}) {
      auto maker = convolution(3, usual, 1);
      auto input = Buffer::copy_of(std::as_const(maker.values()[0]).bytes());
      input.as<float>()[place] = special;
      auto values = std::vector<Buffer>{};
      values.push_back(std::move(input));
      values.push_back(Buffer::copy_of(std::as_const(maker.values()[1]).bytes()));
      std::vector<std::vector<double>> results;
      const auto all = kernels::implementations(op("conv2d"));
      for (const auto* implementation : {&all.back(), &*std::ranges::find_if(all, [&](auto& i) {
                                           auto problem = maker.problem();
                                           problem.inputs[0].layout = problem.outputs[0].layout =
                                               Layout::blocked16;
                                           return i.prepare(problem).has_value();
                                         })}) {
        const bool reference = implementation == &all.back();
        const auto outcome = tests::run_kernel(*implementation, maker.problem(), values,
                                               reference ? Layout::plain : Layout::blocked16);
        BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
        results.push_back(
            tests::numbers_of(maker.problem().outputs[0].descriptor, outcome.outputs[0]));
      }
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < results[0].size(); ++i) {
        const double expected = results[0][i], got = results[1][i];
        const bool alike = std::isfinite(expected)
                               ? std::abs(got - expected) <= 1e-3 + 1e-5 * std::abs(expected)
                               : !std::isfinite(got);
        wrong += alike ? 0 : 1;
      }
      BOOST_TEST(wrong == 0U, wrong << " results are wrong with " << special << " at " << place);
    }
}

// Both ways, whichever was taken first.
BOOST_AUTO_TEST_CASE(operands_that_moved_are_found) {
  if (!has_minimal()) return;
  const auto maker = convolution(4, usual, 1);
  const auto problem = maker.problem();
  const auto kernel = first_kernel(problem);
  const auto bytes_of = [&](const kernels::Slot& slot) {
    return kernels::storage_bytes(slot.descriptor, Layout::blocked16);
  };
  Buffer ordinary(bytes_of(problem.inputs[0])), special(ordinary.size());
  for (std::size_t i = 0; i < ordinary.size() / sizeof(float); ++i)
    special.as<float>()[i] = ordinary.as<float>()[i] = static_cast<float>(i % 11) - 5;
  special.as<float>()[40] = std::numeric_limits<float>::infinity();
  Buffer scratch(kernel->scratch_bytes());
  for (const auto& [first, second] :
       {std::pair(&ordinary, &special), std::pair(&special, &ordinary)}) {
    std::array<Buffer, 3> results;
    for (auto& result : results) result = Buffer(bytes_of(problem.outputs[0]));
    std::array<const std::byte*, 2> inputs{first->data(), maker.values()[1].bytes().data()};
    std::array<std::byte*, 1> outputs{results[0].data()};
    const kernels::Arguments arguments{inputs, outputs, scratch.data()};
    const auto moved = kernel->bind(arguments);
    moved->run();
    inputs[0] = second->data();
    outputs[0] = results[1].data();
    moved->rebind();
    moved->run();
    outputs[0] = results[2].data();
    kernel->bind(arguments)->run();
    BOOST_TEST(std::ranges::equal(results[1].bytes(), results[2].bytes()));
    BOOST_TEST(!std::ranges::equal(results[0].bytes(), results[1].bytes()));
  }
}

BOOST_AUTO_TEST_CASE(what_gains_nothing_or_is_no_such_convolution_is_computed_plainly) {
  if (!has_minimal()) return;
  const auto plain = [](const ProblemMaker& maker, const std::string& what) {
    const auto kernel = first_kernel(maker.problem());
    BOOST_REQUIRE_MESSAGE(kernel != nullptr, what);
    BOOST_TEST(!kernel->filters_minimally(), what);
  };
  constexpr Sizes small{1, 32, 48, 6, 6};
  plain(convolution(1, small, 1), "few pixels");
  constexpr Sizes batch{2, 32, 48, 14, 15};
  plain(convolution(1, batch, 1), "several pictures");
  auto infinite = convolution(1, usual, 1).problem();
  auto weights = Buffer::copy_of(infinite.inputs[1].constant->bytes());
  weights.as<float>()[100] = std::numeric_limits<float>::infinity();
  infinite.inputs[1].constant = std::make_shared<const Buffer>(std::move(weights));
  BOOST_TEST(!first_kernel(infinite)->filters_minimally());
  auto strided = convolution(1, usual, 1);
  Conv2dAttributes a;
  a.strides = {2, 2};
  strided.attributes(a);
  auto problem = strided.problem();
  problem.outputs[0].descriptor.shape = {1, 48, 6, 7};
  BOOST_TEST(!first_kernel(problem)->filters_minimally());
}

// What the library does not filter must not pay for it in parts.
BOOST_AUTO_TEST_CASE(parts_are_wide_only_where_they_are_filtered) {
  if (!has_minimal()) return;
  const auto text_of = [](kernels::Problem problem) {
    problem.inputs[0].layout = problem.outputs[0].layout = Layout::blocked16;
    std::string text;
    const auto kernel = kernels::prepare_in_parts(problem, text);
    BOOST_REQUIRE(kernel != nullptr);
    return std::pair(kernel->filters_minimally(), text.substr(text.rfind(", ") + 2));
  };
  constexpr Sizes wide{1, 128, 160, 14, 14};
  const auto filtered = text_of(convolution(1, wide, 1).problem());
  BOOST_TEST(filtered.first);
  BOOST_TEST(filtered.second == "2 parts");
  const auto plain = text_of(convolution(1, wide, 1).then(op("hardSwish")).problem());
  BOOST_TEST(!plain.first);
  BOOST_TEST(plain.second == "4 parts");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
