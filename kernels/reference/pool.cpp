// Pooling and resample2d.
#include <algorithm>

#include "kernels/reference/image.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// Padding takes no part: the average is over the elements of the input that the window covers.
struct Average {
  double sum = 0;
  std::int64_t count = 0;
  void take(double value) {
    sum += value;
    ++count;
  }
  double result() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};
struct Euclidean {
  double sum = 0;
  void take(double value) { sum += value * value; }
  double result() const { return std::sqrt(sum); }
};
template <class W>
struct Largest {
  W value = std::is_same_v<W, double> ? static_cast<W>(-std::numeric_limits<double>::infinity())
                                      : std::numeric_limits<W>::min();
  void take(W next) {
    if (value < next || next != next) value = next;
  }
  W result() const { return value; }
};

template <class P, class T>
void pool_with(const Call& call) {
  const auto& a = std::get<Pool2dAttributes>(call.problem.attributes);
  const Image x = image_of(call.in_shape(0), a.layout);
  const Image y = image_of(call.out_shape(), a.layout);
  const std::int64_t window_h = a.window_dimensions ? (*a.window_dimensions)[0] : x.h;
  const std::int64_t window_w = a.window_dimensions ? (*a.window_dimensions)[1] : x.w;
  const T* in = call.in<T>(0);
  T* out = call.out<T>();
  const auto pooled = [&](std::int64_t n, std::int64_t c, std::int64_t top, std::int64_t left) {
    P pool{};
    for (std::int64_t ky = 0; ky < window_h; ++ky) {
      const std::int64_t row = top + ky * a.dilations[0];
      if (row < 0 || row >= x.h) continue;
      for (std::int64_t kx = 0; kx < window_w; ++kx) {
        const std::int64_t column = left + kx * a.dilations[1];
        if (column >= 0 && column < x.w) pool.take(widen(in[x.at(n, c, row, column)]));
      }
    }
    return narrow<T>(pool.result());
  };
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t c = 0; c < y.c; ++c)
      for (std::int64_t oy = 0; oy < y.h; ++oy)
        for (std::int64_t ox = 0; ox < y.w; ++ox)
          out[y.at(n, c, oy, ox)] =
              pooled(n, c, oy * a.strides[0] - a.padding[0], ox * a.strides[1] - a.padding[2]);
}

template <class P>
void pool_floats(const Call& call) {
  with_float(call.in_type(), [&]<class T>(T) { pool_with<P, T>(call); });
}

void max_pool(const Call& call) {
  with_element(call.in_type(), [&]<class T>(T) { pool_with<Largest<Wide<T>>, T>(call); });
}

/// Where an output coordinate falls in the input: between two neighbours, `t` of the way.
struct Sample {
  std::int64_t low, high;
  double t;
};

Sample sample(std::int64_t at, std::int64_t in, double scale, bool nearest) {
  const double unclamped = (static_cast<double>(at) + 0.5) / scale - 0.5;
  const double x = std::clamp(unclamped, 0.0, static_cast<double>(in - 1));
  if (nearest) {
    const auto pick = static_cast<std::int64_t>(std::ceil(x - 0.5));
    return {pick, pick, 0};
  }
  return {static_cast<std::int64_t>(std::floor(x)), static_cast<std::int64_t>(std::ceil(x)),
          x - std::floor(x)};
}

void resample2d(const Call& call) {
  const auto& a = std::get<Resample2dAttributes>(call.problem.attributes);
  const Shape& in_shape = call.in_shape(0);
  const Shape& shape = call.out_shape();
  const Strides steps = strides_of(in_shape);
  Strides others = steps;
  for (const auto axis : a.axes) others[axis] = 0;
  const bool nearest = a.mode == InterpolationMode::nearest_neighbor;
  std::array<double, 2> scales{};
  for (std::size_t i = 0; i < 2; ++i)
    scales[i] = static_cast<double>(shape[a.axes[i]]) / in_shape[a.axes[i]];
  with_element(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(shape, {others}, [&](const auto& base, const auto& at) {
      std::array<Sample, 2> s{};
      for (std::size_t i = 0; i < 2; ++i)
        s[i] = sample(at[a.axes[i]], in_shape[a.axes[i]], scales[i], nearest);
      const auto value = [&](std::int64_t y, std::int64_t x) {
        return static_cast<double>(
            widen(in[base[0] + y * steps[a.axes[0]] + x * steps[a.axes[1]]]));
      };
      const auto row = [&](std::int64_t y) {
        return value(y, s[1].low) * (1 - s[1].t) + value(y, s[1].high) * s[1].t;
      };
      *out++ = narrow<T>(row(s[0].low) * (1 - s[0].t) + row(s[0].high) * s[0].t);
    });
  });
}

constexpr Entry entries[] = {{op("averagePool2d"), pool_floats<Average>},
                             {op("maxPool2d"), max_pool},
                             {op("resample2d"), resample2d}};

}  // namespace

std::span<const Entry> pool_entries() noexcept { return entries; }

}  // namespace polychron::kernels::reference
