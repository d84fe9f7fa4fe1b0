// l2Pool2d. Squares are added in double (float16's in float32): no square overflows that fits when
// the root is taken.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/direct/direct.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/half.hpp"
#include "kernels/taps.hpp"
#include "kernels/vectors.hpp"
#include "ops/layouts.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

double summand(float value) { return static_cast<double>(value); }
float summand(float16 value) { return to_float(value); }
void store(double value, float& out) { out = static_cast<float>(value); }
void store(float value, float16& out) { out = float16(value); }

/// One axis of a picture, with the window that moves along it.
struct Axis {
  std::ptrdiff_t in, out, window, stride, dilation, padding;

  /// The places of element `k` of the window, as [first, last), that are within the picture.
  std::array<std::ptrdiff_t, 2> places(std::ptrdiff_t k) const {
    const std::ptrdiff_t shift = k * dilation - padding;  // of the input, for place 0
    const auto from = [&](std::ptrdiff_t x) { return x <= 0 ? 0 : (x + stride - 1) / stride; };
    const std::ptrdiff_t first = std::min(from(-shift), out);
    return {first, std::clamp(from(in - shift), first, out)};
  }
  std::ptrdiff_t input(std::ptrdiff_t place, std::ptrdiff_t k) const {
    return place * stride + k * dilation - padding;
  }
  /// Elements of the window that are within the picture at one of the places, at least.
  Taps taps(std::ptrdiff_t first_place, std::ptrdiff_t last_place) const {
    return {taps_within(input(last_place, 0), window, dilation, in).first,
            taps_within(input(first_place, 0), window, dilation, in).last};
  }
};

struct Pool {
  std::size_t pictures;     ///< planes, or pictures whose channels lie together
  std::ptrdiff_t channels;  ///< that lie together
  Axis height, width;
};

/// Sums of squares side by side.
template <class T>
struct Sums {
  static constexpr std::ptrdiff_t size = 128;
  using W = decltype(summand(T{}));
  std::array<W, size> sums;

  /// Adds the squares of `count` numbers, `step` elements apart, from sum `first` on.
  void add(const T* in, std::ptrdiff_t step, std::ptrdiff_t first, std::ptrdiff_t count) {
    W* to = sums.data() + first;
    const auto square = [](T x) { return summand(x) * summand(x); };
    if (step == 1)
      for (std::ptrdiff_t i = 0; i < count; ++i) to[i] += square(in[i]);
    else
      for (std::ptrdiff_t i = 0; i < count; ++i) to[i] += square(in[i * step]);
  }
  void finish(T* out, std::ptrdiff_t count) const {
    for (std::ptrdiff_t i = 0; i < count; ++i)
      store(std::sqrt(sums[static_cast<std::size_t>(i)]), out[i]);
  }
};

/// A row of the result from a plane: its numbers side by side, or, when there are few, each from
/// the squares of its window's rows.
template <class T>
void pool_row(const Pool& pool, const T* in, T* out, std::ptrdiff_t row) {
  const auto& [height, width] = std::tie(pool.height, pool.width);
  for (std::ptrdiff_t start = 0; start < width.out; start += Sums<T>::size) {
    const std::ptrdiff_t count = std::min(width.out - start, Sums<T>::size);
    Sums<T> sums{};
    const Taps rows = height.taps(row, row), columns = width.taps(start, start + count - 1);
    for (std::ptrdiff_t ky = rows.first; ky < rows.last; ++ky) {
      const std::ptrdiff_t y = height.input(row, ky);
      for (std::ptrdiff_t kx = columns.first; kx < columns.last; ++kx) {
        const auto [first, last] = width.places(kx);
        const std::ptrdiff_t from = std::max(first, start), to = std::min(last, start + count);
        if (from < to)
          sums.add(in + y * width.in + width.input(from, kx), width.stride, from - start,
                   to - from);
      }
    }
    sums.finish(out + row * width.out + start, count);
  }
}

/// One number of a plane: the window's rows are walked through, not its places.
template <class T>
void pool_number(const Pool& pool, const T* in, T* out, std::ptrdiff_t row, std::ptrdiff_t column) {
  constexpr std::ptrdiff_t lanes = 16;
  const Axis& width = pool.width;
  const std::ptrdiff_t left = width.input(column, 0);
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(left, 0);
  const std::ptrdiff_t last = std::min(left + width.window, width.in);
  Sums<T> sums;
  std::fill_n(sums.sums.begin(), lanes, 0);
  const Taps rows = pool.height.taps(row, row);
  for (std::ptrdiff_t ky = rows.first; ky < rows.last; ++ky) {
    const std::ptrdiff_t y = pool.height.input(row, ky);
    std::ptrdiff_t x = first;
    for (; x + lanes <= last; x += lanes) sums.add(in + y * width.in + x, 1, 0, lanes);
    if (x < last) sums.add(in + y * width.in + x, 1, 0, last - x);
  }
  for (std::size_t i = 1; i < lanes; ++i) sums.sums[0] += sums.sums[i];
  sums.finish(out + row * width.out + column, 1);
}

/// All channels of a place, which lie together.
template <class T>
void pool_channels(const Pool& pool, const T* in, T* out, std::ptrdiff_t row,
                   std::ptrdiff_t column) {
  const auto& [height, width] = std::tie(pool.height, pool.width);
  const Taps rows = height.taps(row, row), columns = width.taps(column, column);
  for (std::ptrdiff_t start = 0; start < pool.channels; start += Sums<T>::size) {
    const std::ptrdiff_t count = std::min(pool.channels - start, Sums<T>::size);
    Sums<T> sums;
    std::fill_n(sums.sums.begin(), count, 0);
    for (std::ptrdiff_t ky = rows.first; ky < rows.last; ++ky)
      for (std::ptrdiff_t kx = columns.first; kx < columns.last; ++kx) {
        const std::ptrdiff_t y = height.input(row, ky), x = width.input(column, kx);
        sums.add(in + (y * width.in + x) * pool.channels + start, 1, 0, count);
      }
    sums.finish(out + (row * width.out + column) * pool.channels + start, count);
  }
}

template <class T>
void compute(const Pool& pool, const T* in, T* out) {
  const auto& [height, width] = std::tie(pool.height, pool.width);
  const bool few = width.dilation == 1 && width.out < width.window;
  for (std::size_t i = 0; i < pool.pictures; ++i) {
    for (std::ptrdiff_t row = 0; row < height.out; ++row) {
      if (pool.channels == 1 && !few) {
        pool_row(pool, in, out, row);
        continue;
      }
      for (std::ptrdiff_t column = 0; column < width.out; ++column)
        if (pool.channels == 1)
          pool_number(pool, in, out, row, column);
        else
          pool_channels(pool, in, out, row, column);
    }
    in += height.in * width.in * pool.channels;
    out += height.out * width.out * pool.channels;
  }
}

/// What the problem asks for. Pictures in blocks are such whose channels lie together.
Pool pool_of(const Problem& problem) {
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  const auto [n, c, h, w] = ops::picture_axes(a.layout);
  const Shape& from = problem.inputs[0].descriptor.shape;
  const Shape& to = problem.outputs[0].descriptor.shape;
  const auto axis = [&](std::size_t place, std::size_t at) {
    const std::uint32_t window = a.window_dimensions ? (*a.window_dimensions)[at] : from[place];
    return Axis{from[place], to[place], window, a.strides[at], a.dilations[at], a.padding[2 * at]};
  };
  const std::size_t block = channel_block(problem.inputs[0].layout), channels = from[c];
  const bool together = a.layout == InputOperandLayout::nhwc;
  const std::size_t blocks = together ? 1 : (channels + block - 1) / block;
  return {from[n] * blocks, static_cast<std::ptrdiff_t>(together ? channels : block), axis(h, 0),
          axis(w, 1)};
}

/// Rows walk through what lies between the windows of neighbouring places, too.
constexpr std::uint32_t largest_stride = 1U << 16;

KernelResult prepare_l2_pool(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (in.layout != problem.outputs[0].layout) return refuse("input and result in one layout only");
  const bool nhwc =
      std::get<Pool2dAttributes>(problem.attributes).layout == InputOperandLayout::nhwc;
  if (in.layout != Layout::plain && nhwc) return refuse("blocks of nchw pictures only");
  const auto& strides = std::get<Pool2dAttributes>(problem.attributes).strides;
  if (std::ranges::max(strides) > largest_stride) return refuse("strides beyond any picture's");
  return make_kernel([pool = pool_of(problem), half = in.descriptor.data_type == DataType::float16](
                         const Arguments& arguments) {
    const auto run = [&]<class T>(T) {
      with_vectors([&] {
        compute(pool, reinterpret_cast<const T*>(arguments.inputs[0]),
                reinterpret_cast<T*>(arguments.outputs[0]));
      });
    };
    half ? run(float16{}) : run(float{});
  });
}

}  // namespace

std::span<const Entry> pooling_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("l2Pool2d"), prepare_l2_pool}};
  return entries;
}

}  // namespace polychron::kernels::direct
