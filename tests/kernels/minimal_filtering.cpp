// Convolutions of 3x3 by minimal filtering: near the plain ones, also where values are special.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/fusion.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"
#include "tests/kernels/convolutions.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::copies_of;
using tests::first_kernel;
using tests::first_way;
using tests::ProblemMaker;
using tests::Random;
using tests::results_of;

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

constexpr Sizes usual{1, 64, 48, 14, 15};  // in tiles of 4x4
constexpr Sizes few{1, 32, 48, 10, 9};     // in tiles of 2x2

}  // namespace

BOOST_AUTO_TEST_SUITE(minimal_filtering)

// Channels that fill no block, one block of a pair, tiles beyond an edge, paddings unlike each
// other.
BOOST_AUTO_TEST_CASE(near_the_reference) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Sizes s{random.chance() ? 1U : random.pick(2, 3), random.pick(16, 112),
                  random.pick(16, 90), random.pick(9, 22), random.pick(9, 22)};
    Conv2dAttributes a;
    for (auto& padding : a.padding) padding = random.pick(0, 1);
    const Shape out{s.batch, s.out, s.height + a.padding[0] + a.padding[1] - 2,
                    s.width + a.padding[2] + a.padding[3] - 2};
    ProblemMaker maker(op("conv2d"), seed);
    maker.attributes(a).input({s.batch, s.in, s.height, s.width}).constant({s.out, s.in, 3, 3});
    if (random.chance()) maker.input({s.out});
    maker.output(out);
    if (random.chance()) maker.then_with(op("add"), out);
    if (random.chance()) tests::add_bounds(maker, random);
    const std::string what = "convolution " + std::to_string(seed);
    BOOST_TEST(first_way(maker.problem()) == kernels::by_minimal_filtering, what);
    tests::check_implementations(maker, what);
  }
}

// Measured: 1.6e-6 of the largest result in tiles of 4x4, 8e-7 in those of 2x2, 3e-7 the plain way.
BOOST_AUTO_TEST_CASE(errors_are_small) {
  if (!tests::has_fused_loops()) return;
  for (const auto& [sizes, allowed] :
       {std::pair(Sizes{1, 128, 32, 28, 28}, 3e-6), std::pair(Sizes{1, 512, 32, 7, 7}, 2e-6)}) {
    const auto maker = convolution(5, sizes, 1);
    const auto got = results_of(maker, maker.values());
    const auto expected = results_of(maker, maker.values(), true);
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(got[i] - expected[i]));
    }
    BOOST_TEST(error <= allowed * largest, error / largest << " of the largest");
  }
}

// Sums and differences of these values would be NaN where the plain way has infinity, or no such
// value.
BOOST_AUTO_TEST_CASE(special_values_stay_where_they_belong) {
  if (!tests::has_fused_loops()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Sizes& sizes : {usual, few, Sizes{1, 67, 50, 14, 15}})
    for (const float special :
         {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 3e38F, -1e20F, 0x1p48F}) {
      const std::size_t plane = sizes.height * sizes.width;
      for (const std::size_t place :
           {std::size_t{0}, std::size_t{7}, plane + plane / 2, sizes.in * plane - 1}) {
        auto maker = convolution(3, sizes, 1);
        maker.input({sizes.out}).then(op("relu"));
        auto values = copies_of(maker);
        values[0].as<float>()[place] = special;
        const auto expected = results_of(maker, values, true), got = results_of(maker, values);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const bool alike =
              std::isfinite(expected[i])
                  ? std::abs(got[i] - expected[i]) <= 1e-3 + 1e-5 * std::abs(expected[i])
                  : std::isnan(expected[i]) == std::isnan(got[i]) && !std::isfinite(got[i]);
          wrong += alike ? 0 : 1;
        }
        BOOST_TEST(wrong == 0U, wrong << " results are wrong with " << special << " at " << place);
      }
    }
}

// F(4x4, 3x3) takes a tile's numbers for each of its results: a large one's rounding errors would
// be in all of them. (Of 1e9 they were 20 and more.)
BOOST_AUTO_TEST_CASE(a_large_number_is_not_seen_beyond_its_window) {
  if (!tests::has_fused_loops()) return;
  constexpr std::size_t row = 7, column = 6;
  for (const Sizes& sizes : {usual, few})
    for (const float large : {1e4F, -1e6F, 1e9F, 1e13F}) {
      const auto maker = convolution(5, sizes, 1);
      auto values = copies_of(maker);
      values[0].as<float>()[row * sizes.width + column] = large;
      const auto expected = results_of(maker, values, true), got = results_of(maker, values);
      double error = 0, largest = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t y = i / sizes.width % sizes.height, x = i % sizes.width;
        if (y + 1 >= row && y <= row + 1 && x + 1 >= column && x <= column + 1) continue;
        error = std::max(error, std::abs(got[i] - expected[i]));
        largest = std::max(largest, std::abs(expected[i]));
      }
      BOOST_TEST(error <= 3e-6 * largest,
                 error / largest << " beside " << large << ", " << sizes.in << " channels");
    }
}

// The next layer reads what fills the last block of channels.
BOOST_AUTO_TEST_CASE(what_fills_a_block_stays_zero) {
  if (!tests::has_fused_loops()) return;
  constexpr std::uint32_t channels = 44;
  const std::size_t block = kernels::channel_block(kernels::picture_layout());
  for (const float special : {1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    auto maker = convolution(6, {1, 64, channels, 14, 15}, 1);
    maker.then(op("clamp"), ClampAttributes{0.5, {}});
    auto problem = maker.problem();
    const auto kernel = first_kernel(problem);
    problem.inputs[0].layout = problem.outputs[0].layout = kernels::picture_layout();
    Buffer input(kernels::storage_bytes(problem.inputs[0].descriptor, kernels::picture_layout()));
    for (float& x : input.as<float>()) x = special;
    Buffer output(kernels::storage_bytes(problem.outputs[0].descriptor, kernels::picture_layout()));
    for (float& x : output.as<float>()) x = 7;
    Buffer scratch(kernel->scratch_bytes());
    const std::array<const std::byte*, 2> inputs{input.data(), maker.values()[1].bytes().data()};
    const std::array<std::byte*, 1> outputs{output.data()};
    kernel->bind({inputs, outputs, scratch.data()})->run();
    const auto last = output.as<float>().subspan(channels / block * block * 14 * 15);
    for (std::size_t i = 0; i < last.size(); ++i)
      if (i % block >= channels % block) BOOST_REQUIRE_EQUAL(last[i], 0.0F);
  }
}

// Both ways, whichever was taken first.
BOOST_AUTO_TEST_CASE(operands_that_moved_are_found) {
  if (!tests::has_fused_loops()) return;
  const auto maker = convolution(4, usual, 1);
  const auto problem = maker.problem();
  const auto kernel = first_kernel(problem);
  const auto bytes_of = [&](const kernels::Slot& slot) {
    return kernels::storage_bytes(slot.descriptor, kernels::picture_layout());
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
  if (!tests::has_fused_loops()) return;
  const auto plain = [](const ProblemMaker& maker, const std::string& what) {
    BOOST_REQUIRE_MESSAGE(first_kernel(maker.problem()) != nullptr, what);
    BOOST_TEST(first_way(maker.problem()) != kernels::by_minimal_filtering, what);
  };
  plain(convolution(1, {1, 32, 48, 6, 6}, 1), "few pixels");
  plain(convolution(1, {1, 32, 48, 1, 80}, 1), "one row");
  plain(convolution(1, {1, 32, 48, 80, 1}, 1), "one column");
  plain(convolution(1, usual, 1).then(op("hardSwish")), "another function");
  auto added = convolution(1, usual, 1).then_with(op("add"), {1, 48, 14, 15}).problem();
  added.inputs[0].layout = added.outputs[0].layout = kernels::picture_layout();
  BOOST_TEST(!kernels::implementations(op("conv2d")).front().prepare(added).has_value(),
             "a picture to add that lies otherwise");
  auto infinite = convolution(1, usual, 1).problem();
  auto weights = Buffer::copy_of(infinite.inputs[1].constant->bytes());
  weights.as<float>()[100] = std::numeric_limits<float>::infinity();
  infinite.inputs[1].constant = std::make_shared<const Buffer>(std::move(weights));
  BOOST_TEST(first_way(infinite) != kernels::by_minimal_filtering);
  auto strided = convolution(1, usual, 1);
  Conv2dAttributes a;
  a.strides = {2, 2};
  strided.attributes(a);
  auto problem = strided.problem();
  problem.outputs[0].descriptor.shape = {1, 48, 6, 7};
  BOOST_TEST(first_way(problem) != kernels::by_minimal_filtering);
}

// Along tiles where there are many, along channels where the filter is most of what is read.
BOOST_AUTO_TEST_CASE(parts_by_shape) {
  if (!tests::has_fused_loops()) return;
  const auto text_of = [](kernels::Problem problem) {
    problem.inputs[0].layout = problem.outputs[0].layout = kernels::picture_layout();
    std::string text;
    const auto kernel = kernels::prepare_in_parts(problem, text);
    BOOST_REQUIRE(kernel != nullptr);
    BOOST_TEST((first_way(problem) == kernels::by_minimal_filtering) == text.starts_with("direct"));
    return text.substr(text.rfind(", ") + 2);
  };
  BOOST_TEST(text_of(convolution(1, {1, 128, 160, 28, 28}, 1).problem()) == "4 parts");
  BOOST_TEST(text_of(convolution(1, {1, 256, 256, 7, 7}, 1).problem()) == "2 parts");
  BOOST_TEST(text_of(convolution(1, {1, 64, 64, 14, 14}, 1).problem()) == "2 parts");
#if defined(__x86_64__)  // on Arm nothing takes this one in blocks of channels
  BOOST_TEST(text_of(convolution(1, {1, 128, 160, 14, 14}, 1).then(op("hardSwish")).problem()) ==
             "4 parts");
#endif
  BOOST_TEST(!text_of(convolution(1, {1, 16, 16, 8, 8}, 1).problem()).ends_with("parts"));
}

// Whatever their order, and whatever was in their memory.
BOOST_AUTO_TEST_CASE(parts_do_not_touch_each_other) {
  if (!tests::has_fused_loops()) return;
  for (const Sizes& sizes : {Sizes{2, 128, 144, 20, 21}, Sizes{1, 256, 272, 7, 7}}) {
    const auto maker = convolution(8, sizes, 1);
    const auto problem = maker.problem();
    const auto kernel = first_kernel(problem);
    const auto bytes_of = [&](const kernels::Slot& slot) {
      return kernels::storage_bytes(slot.descriptor, kernels::picture_layout());
    };
    Buffer input(bytes_of(problem.inputs[0]));
    for (std::size_t i = 0; i < input.as<float>().size(); ++i)
      input.as<float>()[i] = static_cast<float>(i % 13) - 6;
    std::vector<Buffer> results;
    for (const bool backwards : {false, true}) {
      Buffer scratch(kernel->scratch_bytes());
      for (float& x : scratch.as<float>())
        x = backwards ? std::numeric_limits<float>::quiet_NaN() : 1;
      results.emplace_back(bytes_of(problem.outputs[0]));
      const std::array<const std::byte*, 2> inputs{input.data(), maker.values()[1].bytes().data()};
      const std::array<std::byte*, 1> outputs{results.back().data()};
      const kernels::Arguments arguments{inputs, outputs, scratch.data()};
      const auto bound = kernel->bind(arguments);
      BOOST_TEST(bound->parts() >= 2U);
      BOOST_TEST(bound->parts() == kernel->parts());
      for (std::size_t i = 0; i < bound->parts(); ++i)
        bound->run_part(backwards ? bound->parts() - 1 - i : i);
    }
    BOOST_TEST(std::ranges::equal(results[0].bytes(), results[1].bytes()));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
