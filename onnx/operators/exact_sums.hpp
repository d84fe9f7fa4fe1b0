// Sums of products of 8-bit integers that are exact in float32: those of at most 2^24. With small
// known weights a sum is one part; otherwise it is cut every 256 products, as 256 * 255 * 255 is
// below 2^24.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/node.hpp"

namespace polychron::onnx::detail {

inline constexpr std::uint32_t exact_terms = 256;
inline constexpr std::int64_t exact_sum = std::int64_t{1} << 24;
// Between an 8-bit number and its zero point.
inline constexpr std::int64_t largest_difference = 255;

/// The ends of the parts of a sum of `length` terms, each of which is exact in float32. Term i adds
/// at most `largest_difference` times `weight(i, k)` to result k.
template <class F>
std::vector<std::uint32_t> exact_parts(std::uint32_t length, std::size_t results, const F& weight) {
  std::vector<std::uint32_t> ends;
  std::vector<std::int64_t> sums(results, 0);
  for (std::uint32_t i = 0; i < length; ++i) {
    bool fits = true;
    for (std::size_t k = 0; k < results; ++k) {
      sums[k] += largest_difference * weight(i, k);
      fits = fits && sums[k] <= exact_sum;
    }
    if (fits || i == 0) continue;
    ends.push_back(i);
    for (std::size_t k = 0; k < results; ++k) sums[k] = largest_difference * weight(i, k);
  }
  ends.push_back(length);
  return ends;
}

/// The ends of parts of `step` terms each.
std::vector<std::uint32_t> equal_parts(std::uint32_t length, std::uint32_t step = exact_terms);

/// |weight - zero point| of input `weights` if both are known, else empty. There may be one zero
/// point for each index of the first or last dimension.
std::vector<std::int64_t> known_sizes(Node& node, std::size_t weights, std::size_t zero,
                                      bool zero_per_row);

}  // namespace polychron::onnx::detail
