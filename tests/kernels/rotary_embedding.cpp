// Pairs turned by angles: the pass that joins the pieces, and the step.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/special_values.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

/// Where the numbers of a pair come from, and go to.
enum class PairsFrom { values, halves, neighbours };

/// A rotary embedding as decoders and the importer write it. Each field is one thing that may be
/// otherwise.
struct WrittenRotation {
  Shape rows{2, 3};
  std::uint32_t pairs = 24;
  Shape angles{2, 1, 24};
  PairsFrom from = PairsFrom::values;
  bool interleaved = false;
  bool unsqueezed = false;  ///< halves are joined along a dimension of their own, as the importer's
  bool swapped_products = false, swapped_sum = false, swapped_difference = false;
  bool other_sine = false, subtracts = false, other_parts = false;
  std::uint32_t more = 0;  ///< features behind those that are turned
  int read_too = -1;       ///< the number of an inner result that is an output

  GraphMaker maker = {};

  Shape with(std::uint32_t last) const {
    Shape shape = rows;
    shape.push_back(last);
    return shape;
  }
  ValueId part(ValueId x, std::uint32_t start, std::uint32_t stride) {
    SliceAttributes attributes;
    attributes.starts.assign(rows.size() + 1, 0);
    attributes.starts.back() = start;
    attributes.sizes = with(stride == 1 ? pairs : 2 * pairs - start);
    attributes.strides = std::vector<std::uint32_t>(rows.size() + 1, 1);
    attributes.strides->back() = stride;
    return maker.node(op("slice"), {x}, with(pairs), attributes);
  }
  void make() {
    const Shape half = with(pairs);
    ValueId a = 0, b = 0;
    if (from == PairsFrom::values) {
      a = maker.input(half), b = maker.input(half);
    } else {
      const auto x = maker.input(with(2 * pairs + more));
      const bool halves = from == PairsFrom::halves;
      a = part(x, 0, halves ? 1 : 2);
      b = part(x, halves ? pairs : 1, halves ? 1 : 2);
      if (other_parts) std::swap(a, b);
    }
    const auto cosines = maker.input(angles), sines = maker.input(angles),
               other = other_sine ? maker.input(angles) : sines;
    const auto product = [&](ValueId x, ValueId y) {
      return maker.add("mul", swapped_products ? std::vector{y, x} : std::vector{x, y}, half);
    };
    const auto ac = product(a, cosines), bs = product(b, sines);
    const auto first =
        maker.add("sub", swapped_difference ? std::vector{bs, ac} : std::vector{ac, bs}, half);
    const auto as = product(a, other), bc = product(b, cosines);
    const auto second = maker.add(subtracts ? "sub" : "add",
                                  swapped_sum ? std::vector{bc, as} : std::vector{as, bc}, half);
    const auto rank = static_cast<std::uint32_t>(rows.size());
    const Shape whole = with(2 * pairs);
    if (!interleaved && !unsqueezed) {
      maker.output(maker.node(op("concat"), {first, second}, whole, ConcatAttributes{rank}));
    } else {
      Shape one = half, two = half;
      one.insert(interleaved ? one.end() : one.end() - 1, 1);
      two.insert(interleaved ? two.end() : two.end() - 1, 2);
      const auto apart = [&](ValueId x) {
        return maker.add("reshape", {x}, one, ReshapeAttributes{one});
      };
      const ConcatAttributes along{interleaved ? rank + 1 : rank};
      const auto x = apart(first), y = apart(second);
      const auto both = maker.node(op("concat"), {x, y}, two, along);
      maker.output(maker.node(op("reshape"), {both}, whole, ReshapeAttributes{whole}));
    }
    if (read_too >= 0) maker.output(maker.inner[static_cast<std::size_t>(read_too)]);
  }
};

bool equal_floats(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// The plan's steps if one is the rotation, else none. Its result has the bits of single steps.
std::vector<std::string> rotation_steps(WrittenRotation written, const std::string& what) {
  written.make();
  Runner with(kernels::make_cpu_backend(), written.maker.share());
  Runner without(kernels::make_cpu_backend({.optimize = false}), written.maker.share());
  for (Runner* runner : {&with, &without}) {
    runner->randomize(5);
    runner->run();
  }
  BOOST_TEST(equal_floats(with.get<float>(0), without.get<float>(0)), what);
  auto steps = with.plan().describe();
  return tests::steps_with(steps, "rotaryEmbedding") > 0 ? steps : std::vector<std::string>{};
}

/// The rotation of halves in plain loops. Angles are of the first dimension of rows.
std::vector<double> rotated_in_loops(const std::vector<float>& x, const std::vector<float>& cosines,
                                     const std::vector<float>& sines, std::size_t pairs,
                                     std::size_t each_angle, bool interleaved) {
  std::vector<double> result(x.size());
  for (std::size_t row = 0; row * 2 * pairs < x.size(); ++row)
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t at = row * 2 * pairs, first = at + (interleaved ? 2 * i : i),
                        second = at + (interleaved ? 2 * i + 1 : pairs + i),
                        angle = row / each_angle * pairs + i;
      result[first] = double{x[first]} * cosines[angle] - double{x[second]} * sines[angle];
      result[second] = double{x[first]} * sines[angle] + double{x[second]} * cosines[angle];
    }
  return result;
}

std::vector<float> wave(std::size_t count, float phase) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(phase + static_cast<float>(i) * 0.7F);
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rotary_embedding)

BOOST_AUTO_TEST_CASE(near_double_precision) {
  for (const bool interleaved : {false, true})
    for (const std::uint32_t pairs : {1U, 2U, 7U, 8U, 31U, 32U, 64U}) {
      WrittenRotation written{.rows = {3, 5},
                              .pairs = pairs,
                              .angles = {3, 1, pairs},
                              .from = interleaved ? PairsFrom::neighbours : PairsFrom::halves,
                              .interleaved = interleaved};
      written.make();
      Runner runner(kernels::make_cpu_backend(), written.maker.share());
      BOOST_TEST(tests::steps_with(runner.plan().describe(), "rotaryEmbedding") == 1);
      const auto x = wave(std::size_t{30} * pairs, 1), cosines = wave(3UL * pairs, 2),
                 sines = wave(3UL * pairs, 3);
      runner.set(0, x);
      runner.set(1, cosines);
      runner.set(2, sines);
      runner.run();
      const auto actual = runner.get<float>(0);
      const auto right = rotated_in_loops(x, cosines, sines, pairs, 5, interleaved);
      for (std::size_t i = 0; i < right.size(); ++i)
        BOOST_TEST(std::fabs(actual[i] - right[i]) < 1e-6,
                   i << " of " << pairs << " pairs, interleaved: " << interleaved);
    }
}

BOOST_AUTO_TEST_CASE(pieces_are_one_step) {
  const auto one = [](WrittenRotation written, const std::string& what, std::size_t steps = 1) {
    BOOST_TEST(rotation_steps(std::move(written), what).size() == steps, what);
  };
  one({}, "as decoders write it");
  one({.angles = {24}}, "one row of angles");
  one({.angles = {2, 3, 24}}, "angles of each row");
  one({.swapped_products = true}, "angles first");
  one({.swapped_sum = true}, "the other summand first");
  one({.swapped_difference = true}, "a reflection, which is a rotation of exchanged numbers");
  one({.rows = {}, .angles = {24}}, "a single row");
  for (const bool unsqueezed : {false, true})
    one({.from = PairsFrom::halves, .unsqueezed = unsqueezed}, "halves of one value");
  one({.from = PairsFrom::neighbours, .interleaved = true}, "neighbours");
  one({.interleaved = true}, "values that are interleaved");
  one({.rows = {1, 4, 2}, .angles = {1, 1, 2, 24}, .from = PairsFrom::halves, .unsqueezed = true},
      "heads, as the importer writes them");
  // The parts are values of their own.
  one({.from = PairsFrom::neighbours}, "neighbours that become halves", 3);
  one({.from = PairsFrom::halves, .interleaved = true}, "halves that become neighbours", 3);
  one({.from = PairsFrom::halves, .more = 8}, "some of the features", 3);
  one({.from = PairsFrom::halves, .other_parts = true}, "the second half first", 3);
}

BOOST_AUTO_TEST_CASE(near_misses_stay) {
  const auto stays = [](WrittenRotation written, const std::string& what) {
    BOOST_TEST(rotation_steps(std::move(written), what).empty(), what);
  };
  stays({.angles = {2, 1, 1}}, "an angle for all pairs");
  stays({.subtracts = true}, "a second difference");
  stays({.other_sine = true}, "other sines");
  // Each inner result, if another reader needs it.
  for (const bool unsqueezed : {false, true}) {
    WrittenRotation all{.unsqueezed = unsqueezed};
    all.make();
    for (std::size_t i = 0; i < all.maker.inner.size(); ++i)
      stays({.unsqueezed = unsqueezed, .read_too = static_cast<int>(i)},
            "inner result " + std::to_string(i));
  }
}

BOOST_AUTO_TEST_CASE(a_row_has_the_same_bits_alone_and_among_others) {
  const std::uint32_t rows = 64, heads = 12, pairs = 32;
  const auto run = [&](std::uint32_t count, const std::vector<float>& a,
                       const std::vector<float>& b, const std::vector<float>& angles) {
    WrittenRotation written{.rows = {count, heads}, .pairs = pairs, .angles = {count, 1, pairs}};
    written.make();
    Runner runner(kernels::make_cpu_backend(), written.maker.share());
    BOOST_TEST((runner.plan().describe()[0].find(" parts") != std::string::npos) == (count > 1));
    runner.set(0, a);
    runner.set(1, b);
    runner.set(2, angles);
    runner.set(3, angles);
    runner.run();
    return runner.get<float>(0);
  };
  const std::size_t row = std::size_t{heads} * pairs;
  const auto a = wave(rows * row, 1), b = wave(rows * row, 2),
             angles = wave(std::size_t{rows} * pairs, 3);
  const auto together = run(rows, a, b, angles);
  const auto part = [](const std::vector<float>& of, std::size_t i, std::size_t size) {
    return std::vector<float>(of.data() + i * size, of.data() + (i + 1) * size);
  };
  for (std::size_t i = 0; i < rows; i += 7)
    BOOST_TEST(equal_floats(run(1, part(a, i, row), part(b, i, row), part(angles, i, pairs)),
                            part(together, i, 2 * row)),
               "row " << i);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
