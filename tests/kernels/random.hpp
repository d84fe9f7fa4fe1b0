// Random shapes for problems, and a problem for each of many seeds.
#pragma once

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron::tests {

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(generator_);
  }
  bool chance() { return pick(0, 1) == 1; }
  /// A shape of `low` to `high` dimensions with at most `most` elements. One dimension may be long.
  Shape shape(std::uint32_t low, std::uint32_t high, std::uint32_t most = 20000) {
    const std::uint32_t rank = pick(low, high);
    Shape shape;
    for (std::uint32_t i = 0; i < rank; ++i) shape.push_back(pick(1, rank > 4 ? 3 : 9));
    if (rank > 0 && pick(0, 3) == 0) shape[pick(0, rank - 1)] = rank > 4 ? 70 : pick(100, 2500);
    while (*element_count(shape) > most) {
      std::uint32_t& extent = shape[pick(0, rank - 1)];
      extent = (extent + 1) / 2;
    }
    return shape;
  }
  Shape shape(std::uint32_t rank) {
    Shape shape;
    for (std::uint32_t i = 0; i < rank; ++i) shape.push_back(pick(1, 9));
    return shape;
  }
  Shape picture() { return {pick(1, 2), pick(1, 40), pick(1, 9), pick(1, 9)}; }
  std::uint32_t axis(const Shape& shape) {
    return pick(0, static_cast<std::uint32_t>(shape.size()) - 1);
  }
  DataType type(ops::TypeSet types) {
    const auto members = types.members();
    return members[pick(0, static_cast<std::uint32_t>(members.size()) - 1)];
  }

 private:
  std::mt19937 generator_;
};

inline std::string name_of(std::string_view what, std::uint32_t seed) {
  std::string name(what);
  return name.append(", seed ").append(std::to_string(seed));
}

/// Runs `make(random, maker)` for each seed; every problem is one that a direct kernel takes.
template <class F>
void every_seed(ops::OpId id, F&& make) {
  constexpr std::uint32_t seeds = 150;
  const auto name = kernels::operator_name(id);
  std::uint32_t ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    ProblemMaker maker(id, seed);
    make(random, maker);
    for (const kernels::Implementation& implementation : kernels::implementations(id))
      if (implementation.name == "direct" && implementation.prepare(maker.problem())) {
        ++ran;
        break;
      }
    check_implementations(maker, name_of(name, seed));
  }
  BOOST_TEST(ran == seeds, name << " ran " << ran << " times");
}

}  // namespace polychron::tests
