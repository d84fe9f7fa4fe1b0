// resample2d.
#include <algorithm>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

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

}  // namespace

std::span<const Entry> resampling_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("resample2d"), resample2d}};
  return entries;
}

}  // namespace polychron::kernels::reference
