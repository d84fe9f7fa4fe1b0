// The part of a window that lies within the picture.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace polychron::kernels {

/// Elements of a window along an axis, as [first, last); empty if first is not below last.
struct Taps {
  std::int64_t first, last;
};

/// Those of a window of `size` elements, `dilation` apart from `start` on, that are within
/// [0, extent). Windows and their padding may be of billions of elements where pictures are small:
/// who walks through these alone is done as soon as the picture is.
inline Taps taps_within(std::int64_t start, std::int64_t size, std::int64_t dilation,
                        std::int64_t extent) {
  const std::int64_t first = start >= 0 ? 0 : (dilation - 1 - start) / dilation;
  const std::int64_t last = start >= extent ? 0 : (extent - 1 - start) / dilation + 1;
  return {first, std::min(size, last)};
}

/// The windows of convolution or pooling `a` stay near a picture of this height and width: padding
/// is hardly larger than it, and steps are such as any picture has. Of others a library may walk
/// through all the padding, or calculate in 32 bits.
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
