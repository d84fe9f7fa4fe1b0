// Random calls for tests of operators, and the arithmetic of their expected shapes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "ops/row.hpp"
#include "ops/type_set.hpp"

namespace polychron::test {

using Size = std::uint32_t;
using Sizes = std::vector<Size>;

/// A call that is right: its operands' shapes, and those of its results.
struct Case {
  std::vector<Shape> operands;
  Attributes attributes;
  std::vector<Shape> results;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Between `low` and `high`, both included.
  Size number(Size low, Size high) {
    return std::uniform_int_distribution<Size>(low, high)(engine_);
  }
  bool coin() { return number(0, 1) == 1; }
  /// Between `low`, which is negative, and -`low`.
  std::int32_t whole(std::int32_t low) {
    return static_cast<std::int32_t>(number(0, static_cast<Size>(-2 * low))) + low;
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  /// Between -2 and 2, and exact in every type of float.
  double quarter() { return whole(-8) / 4.0; }
  Sizes list(std::size_t length, Size low, Size high) {
    Sizes sizes(length);
    for (auto& size : sizes) size = number(low, high);
    return sizes;
  }
  /// Dimensions up to 7, and few elements: mostly less than 300.
  Shape shape(Size least_rank, Size most_rank) {
    Shape shape = list(number(least_rank, most_rank), 1, 7);
    const std::uint64_t most = number(0, 15) == 0 ? 3000 : 300;
    while (*element_count(shape) > most) {
      Size& longest = *std::ranges::max_element(shape);
      longest = (longest + 1) / 2;
    }
    return shape;
  }
  /// Some of the numbers below `count`, in any order.
  Sizes some(Size count) {
    Sizes all(count);
    std::iota(all.begin(), all.end(), 0U);
    std::shuffle(all.begin(), all.end(), engine_);
    all.resize(number(0, count));
    return all;
  }
  /// `target` with some leading dimensions left out and some set to 1.
  Shape narrower(const Shape& target) {
    Shape result(target.begin() + number(0, static_cast<Size>(target.size())), target.end());
    for (auto& size : result)
      if (coin()) size = 1;
    return result;
  }
  DataType type(ops::TypeSet types) {
    const auto members = types.members();
    return members[number(0, static_cast<Size>(members.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

/// The larger dimension at each place, counted from the end.
inline Shape largest(const std::vector<Shape>& shapes) {
  Shape result;
  for (const auto& shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i)
      result[result.size() - i] = std::max(result[result.size() - i], shape[shape.size() - i]);
  }
  return result;
}

/// `shape` with its dimensions reordered: from the order of the letters of `from` to that of `to`.
inline Shape ordered(const Shape& shape, std::string_view from, std::string_view to) {
  Shape result;
  for (const char letter : to) result.push_back(shape[from.find(letter)]);
  return result;
}

inline std::string_view text(InputOperandLayout layout) {
  return layout == InputOperandLayout::nchw ? "nchw" : "nhwc";
}

/// The number of positions of a window that reaches over `reach`, moved along by `stride`.
inline Size windows(Size size, Size padding, Size reach, Size stride) {
  Size count = 0;
  for (Size start = 0; start + reach <= size + padding; start += stride) ++count;
  return count;
}

}  // namespace polychron::test
