// The part of a window that lies within the picture.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace polychron::kernels {

/// Elements of a window along an axis, as [first, last). Empty unless first is below last.
struct WindowRange {
  std::int64_t first, last;
};

/// The elements within [0, extent) of a window with `size` elements, `dilation` apart, from `start`
/// on. A window and its padding may have billions of elements around a small picture. A loop over
/// these elements alone takes time in proportion to the picture.
inline WindowRange window_range(std::int64_t start, std::int64_t size, std::int64_t dilation,
                                std::int64_t extent) {
  const std::int64_t first = start >= 0 ? 0 : (dilation - 1 - start) / dilation;
  const std::int64_t last = start >= extent ? 0 : (extent - 1 - start) / dilation + 1;
  return {first, std::min(size, last)};
}

/// True if the windows of the convolution or pooling `a` stay near a picture of this height and
/// width. Their padding is little larger than the picture, and strides and dilations are of usual
/// sizes. With other windows a library may walk through all the padding, or overflow 32 bits.
template <class A>
bool windows_stay_near(const A& a, std::uint32_t height, std::uint32_t width) {
  constexpr std::uint32_t margin = 64, largest_step = 1U << 16;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t most = std::uint64_t{i == 0 ? height : width} + margin;
    if (a.padding[2 * i] > most || a.padding[2 * i + 1] > most) return false;
    if (a.strides[i] > largest_step || a.dilations[i] > largest_step) return false;
  }
  return true;
}

}  // namespace polychron::kernels
