// resample2d.
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "kernels/samples.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

/// Blends two neighbours. An element of weight 0 is not read into the sum.
double blend(double low, double high, double fraction) {
  return fraction == 0 ? low : low * (1 - fraction) + high * fraction;
}

void resample2d(const Call& call) {
  const auto& a = std::get<Resample2dAttributes>(call.problem.attributes);
  const Shape& in_shape = call.in_shape(0);
  const Shape& shape = call.out_shape();
  const Strides steps = strides_of(in_shape);
  Strides others = steps;
  for (const auto axis : a.axes) others[axis] = 0;
  const bool nearest = a.mode == InterpolationMode::nearest_neighbor;
  const auto sample = [&](std::size_t i, std::int64_t place) -> Sample {
    const std::int64_t from = in_shape[a.axes[i]], to = shape[a.axes[i]];
    if (!nearest) return linear_sample(place, from, to);
    const std::uint32_t pick = nearest_sample(place, from, to);
    return {pick, pick, 0};
  };
  with_element(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(shape, {others}, [&](const auto& base, const auto& at) {
      const Sample across = sample(1, at[a.axes[1]]), down = sample(0, at[a.axes[0]]);
      const auto value = [&](std::int64_t y, std::int64_t x) {
        return static_cast<double>(
            widen(in[base[0] + y * steps[a.axes[0]] + x * steps[a.axes[1]]]));
      };
      const auto row = [&](std::int64_t y) {
        return blend(value(y, across.low), value(y, across.high), across.fraction);
      };
      *out++ = narrow<T>(blend(row(down.low), row(down.high), down.fraction));
    });
  });
}

}  // namespace

std::span<const Entry> resampling_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("resample2d"), resample2d}};
  return entries;
}

}  // namespace polychron::kernels::reference
