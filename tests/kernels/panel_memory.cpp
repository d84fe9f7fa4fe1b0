// Convolutions as products with panels of the filter: the memory they touch, and their parts.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <thread>

#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/fusion.hpp"
#include "ops/table.hpp"
#include "tests/kernels/convolutions.hpp"
#include "tests/kernels/fences.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::Convolution;
using tests::Prepared;
using tests::run_between_fences;
using tests::same;
using tests::takes_panels;

std::size_t block_channels() { return kernels::channel_block(kernels::picture_layout()); }

/// Convolutions whose parts are groups of pixels, or channels; 1x1 and others.
struct PanelCut {
  Convolution convolution;
  std::size_t parts;
  bool by_pixels;
};
std::vector<PanelCut> panel_cuts() {
  const auto strided = [](Convolution c) {
    c.window_height = c.window_width = 3;
    c.a.strides.assign(2, tests::panel_stride());
    c.a.padding.assign(4, 3 - tests::panel_stride());  // minimal filtering takes no 2
    return c;
  };
  return {{Convolution{1, 256, 256, 28, 28}, 4, true},
          {Convolution{1, 64, 72, 56, 56}, 2, true},
          {Convolution{2, 512, 1000, 7, 7}, 4, false},
          {Convolution{1, 512, 96, 7, 7}, 2, false},
          {strided({1, 64, 128, 56, 56}), 4, true},
          {strided({1, 512, 160, 14, 14}), block_channels() == 16 ? 5U : 4U, false},
          {Convolution{1, 64, 16, 8, 8}, 1, true}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(panel_memory)

// Parts are groups where there are many, since every part reads the filter. They are channels where
// the filter is larger than the picture. Small ones stay whole. No element is computed twice.
BOOST_AUTO_TEST_CASE(parts_by_shape) {
  if (!tests::has_fused_loops()) return;
  for (const auto& [convolution, parts, by_pixels] : panel_cuts()) {
    const Prepared prepared(convolution.maker(1));
    BOOST_TEST_REQUIRE(takes_panels(prepared.problem));
    std::string text;
    const auto kernel = kernels::prepare_in_parts(prepared.problem, text);
    BOOST_REQUIRE(kernel != nullptr);
    BOOST_TEST(kernel->parts() == parts, text);
    BOOST_TEST(text.starts_with("direct: "), text);
    BOOST_TEST(text.ends_with(", " + std::to_string(parts) + " parts") == (parts > 1), text);
    // The share that each part writes alone. The first one leaves the last pixel, or the last
    // channel, to others.
    const Shape out = convolution.result();
    const std::size_t plane = std::size_t{out[2]} * out[3] * block_channels();
    std::size_t written = 0, all = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto result = prepared.result([&](kernels::Bound& bound) { bound.run_part(part); });
      const auto numbers = result.as<float>();
      all = numbers.size();
      const auto is_written = [&](std::size_t at) { return !std::isnan(numbers[at]); };
      for (std::size_t i = 0; i < all; ++i) written += is_written(i) ? 1U : 0U;
      if (part > 0 || parts == 1) continue;
      BOOST_TEST(is_written(0), text);
      BOOST_TEST(is_written(plane - 1) == !by_pixels, text);
      BOOST_TEST(is_written(all - plane) == by_pixels, text);
    }
    BOOST_TEST(written == all, text << " write " << written << " of " << all << " numbers");
  }
}

// In any order, on any threads.
BOOST_AUTO_TEST_CASE(parts_in_any_order_make_the_whole) {
  if (!tests::has_fused_loops()) return;
  for (const auto& cut : panel_cuts()) {
    auto maker = cut.convolution.maker(2, true);
    maker.then_with(op("add"), cut.convolution.result()).then(op("relu"));
    const Prepared prepared(maker);
    const auto whole = prepared.result();
    const auto as_whole = [&](const char* how, const std::function<void(kernels::Bound&)>& run) {
      BOOST_TEST(same(whole.bytes(), prepared.result(run)), how << to_string(prepared.problem));
    };
    as_whole("backwards, ", [&](kernels::Bound& bound) {
      BOOST_TEST(bound.parts() == cut.parts);
      for (std::size_t i = bound.parts(); i-- > 0;) bound.run_part(i);
    });
    as_whole("again, ", [](kernels::Bound& bound) {
      for (const std::size_t step : {2U, 1U})
        for (std::size_t i = 0; i < bound.parts(); i += step) bound.run_part(i);
    });
    as_whole("by threads, ", [](kernels::Bound& bound) {
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < bound.parts(); ++i)
        threads.emplace_back([&bound, i] { bound.run_part(i); });
      for (auto& thread : threads) thread.join();
    });
  }
}

/// The step behind it with its parts. Notes which of them were asked for their first reads.
class NextStep final : public kernels::Bound {
 public:
  explicit NextStep(std::size_t parts) : parts_(parts) {}
  void run() override {}
  std::size_t parts() const noexcept override { return parts_; }
  std::span<const std::byte> reads_first(std::size_t part) const noexcept override {
    asked.push_back(part);
    return std::as_bytes(std::span(panel));
  }
  mutable std::vector<std::size_t> asked;

 private:
  std::size_t parts_;
  std::vector<float> panel = std::vector<float>(5000);
};

// Each part fetches what its share of the next step's parts begins with; results stay what they
// are.
BOOST_AUTO_TEST_CASE(the_next_step_is_foreseen) {
  if (!tests::has_fused_loops()) return;
  for (const auto& cut : panel_cuts()) {
    const Prepared prepared(cut.convolution.maker(3, true));
    const auto whole = prepared.result();
    for (const std::size_t next_parts : {1U, 2U, 3U, 5U}) {
      NextStep next(next_parts);
      const auto result = prepared.result([&](kernels::Bound& bound) {
        bound.precedes(next);
        for (std::size_t i = 0; i < bound.parts(); ++i) bound.run_part(i);
        bound.run();
      });
      BOOST_TEST(same(whole.bytes(), result), to_string(prepared.problem));
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < cut.parts; ++i) expected.push_back(i * next_parts / cut.parts);
      expected.push_back(0);
      BOOST_TEST(next.asked == expected, boost::test_tools::per_element());
    }
  }
}

// By channels each part begins with panels of its own, by pixels all with the same.
BOOST_AUTO_TEST_CASE(parts_tell_what_they_read_first) {
  if (!tests::has_fused_loops()) return;
  for (const auto& cut : panel_cuts()) {
    const Prepared prepared(cut.convolution.maker(4));
    static_cast<void>(prepared.result([&](kernels::Bound& bound) {
      const std::byte* const begin = bound.reads_first(0).data();
      const std::byte* last = nullptr;
      for (std::size_t i = 0; i < bound.parts(); ++i) {
        const auto panel = bound.reads_first(i);
        BOOST_TEST(!panel.empty());
        BOOST_TEST((panel.data() + panel.size() <= begin + prepared.kernel->constant_bytes()));
        BOOST_TEST(
            (last == nullptr || (cut.by_pixels ? panel.data() == last : panel.data() > last)));
        last = panel.data();
      }
      bound.run();
    }));
  }
}

// Loops fetch ahead beyond their operands, but read and write nothing there: also at the last
// pixel's last channels, and where windows begin before the picture.
BOOST_AUTO_TEST_CASE(nothing_beside_the_operands_is_touched) {
  if (!tests::has_fused_loops()) return;
  for (const bool at_end : {true, false}) {
    for (std::uint32_t seed = 2000; seed < 2060; ++seed)
      run_between_fences(tests::random_convolution(seed), at_end);
    for (const auto& cut : panel_cuts()) run_between_fences(cut.convolution.maker(2, true), at_end);
  }
}

// A result may lie where a caller has memory, an operand where a slice begins.
BOOST_AUTO_TEST_CASE(operands_may_lie_anywhere) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 3000; seed < 3060; ++seed) {
    const auto maker = tests::random_convolution(seed);
    if (!takes_panels(maker.problem())) continue;  // filtered: of more than one pixel
    tests::run_misaligned(maker);
  }
}

// A plan's memory is another for each call.
BOOST_AUTO_TEST_CASE(operands_that_moved_are_found) {
  if (!tests::has_fused_loops()) return;
  tests::run_elsewhere({1, 72, 40, 6, 17});
}

// The original filter is needed no more, and its panels are counted once.
BOOST_AUTO_TEST_CASE(the_filter_is_kept_in_panels_alone) {
  if (!tests::has_fused_loops()) return;
  Convolution c{1, 18, 41, 6, 17, 2, 3};  // of whole blocks of 8 or 16: 48 channels
  const Prepared prepared(c.maker(5, true));
  BOOST_TEST(prepared.kernel->keeps_constant(1));
  BOOST_TEST(!prepared.kernel->keeps_constant(0));
  BOOST_TEST(!prepared.kernel->keeps_constant(2));
  BOOST_TEST(prepared.kernel->constant_bytes() == 6U * 20 * 48 * sizeof(float));
  BOOST_TEST(prepared.kernel->scratch_bytes() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
