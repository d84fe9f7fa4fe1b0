// Where a resampled element comes from along an axis. The arithmetic uses integers, because a
// double would round some of the halves to the wrong side.
#pragma once

#include <cstdint>

namespace polychron::kernels {

/// A point at `fraction` of the way from element `low` to element `high`; 0 if they are the same.
struct Sample {
  std::uint32_t low = 0, high = 0;
  double fraction = 0;
};

/// The centre of element `at` of `out` lies at ((2 * at + 1) * in - out) / (2 * out) among the `in`
/// elements. This is the numerator. The extents of tensors are small enough that it cannot
/// overflow.
constexpr std::int64_t centre(std::int64_t at, std::int64_t in, std::int64_t out) {
  return (2 * at + 1) * in - out;
}

/// The element nearest to the centre. Of two equally near ones it is the lower.
constexpr std::uint32_t nearest_sample(std::int64_t at, std::int64_t in, std::int64_t out) {
  const std::int64_t beyond_half = centre(at, in, out) - out;
  if (beyond_half <= 0) return 0;
  const std::int64_t place = (beyond_half + 2 * out - 1) / (2 * out);
  return static_cast<std::uint32_t>(place < in ? place : in - 1);
}

constexpr Sample linear_sample(std::int64_t at, std::int64_t in, std::int64_t out) {
  const std::int64_t position = centre(at, in, out);
  if (position <= 0) return {};
  const std::int64_t low = position / (2 * out), rest = position % (2 * out);
  const auto last = static_cast<std::uint32_t>(in - 1);
  if (low >= in - 1) return {last, last, 0};
  const auto place = static_cast<std::uint32_t>(low);
  if (rest == 0) return {place, place, 0};
  return {place, place + 1, static_cast<double>(rest) / static_cast<double>(2 * out)};
}

}  // namespace polychron::kernels
