// Batch, instance and layer normalisation.
#include <algorithm>

#include "kernels/reference/image.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

void batch_normalization(const Call& call) {
  const auto& a = std::get<BatchNormalizationAttributes>(call.problem.attributes);
  const Shape& shape = call.out_shape();
  Strides channel{};
  channel[a.axis] = 1;
  with_float(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(shape, {channel}, [&](const auto& at, const auto&) {
      const std::int64_t c = at[0];
      double value =
          (widen(*in++) - widen(call.in<T>(1)[c])) / std::sqrt(widen(call.in<T>(2)[c]) + a.epsilon);
      if (call.has(3)) value *= widen(call.in<T>(3)[c]);
      if (call.has(4)) value += widen(call.in<T>(4)[c]);
      *out++ = narrow<T>(value);
    });
  });
}

/// Mean and reciprocal deviation of the numbers that `each` passes on.
template <class Each>
std::pair<double, double> moments(std::int64_t count, double epsilon, Each&& each) {
  const auto n = static_cast<double>(count);
  double mean = 0, variance = 0;
  each([&](double x) { mean += x; });
  mean /= n;
  each([&](double x) { variance += (x - mean) * (x - mean); });
  return {mean, 1 / std::sqrt(variance / n + epsilon)};
}

void instance_normalization(const Call& call) {
  const auto& a = std::get<InstanceNormalizationAttributes>(call.problem.attributes);
  const Image x = image_of(call.in_shape(0), a.layout);
  with_float(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for (std::int64_t n = 0; n < x.n; ++n)
      for (std::int64_t c = 0; c < x.c; ++c) {
        const auto [mean, factor] = moments(x.h * x.w, a.epsilon, [&](auto take) {
          for (std::int64_t i = 0; i < x.h; ++i)
            for (std::int64_t j = 0; j < x.w; ++j) take(widen(in[x.at(n, c, i, j)]));
        });
        const double scale = factor * (call.has(1) ? widen(call.in<T>(1)[c]) : 1.0);
        const double bias = call.has(2) ? widen(call.in<T>(2)[c]) : 0.0;
        for (std::int64_t i = 0; i < x.h; ++i)
          for (std::int64_t j = 0; j < x.w; ++j)
            out[x.at(n, c, i, j)] = narrow<T>((widen(in[x.at(n, c, i, j)]) - mean) * scale + bias);
      }
  });
}

void layer_normalization(const Call& call) {
  const auto& a = std::get<LayerNormalizationAttributes>(call.problem.attributes);
  const Shape& shape = call.out_shape();
  const Strides strides = strides_of(shape);
  std::array<std::uint32_t, max_rank> kept{}, gone{};
  Strides kept_strides{}, gone_strides{}, scale_strides{};
  std::size_t kept_rank = 0, gone_rank = 0;
  std::int64_t count = 1;
  // Scale and bias have the axes' dimensions, in the order of the axes.
  const std::size_t first = a.axes ? 0 : 1;
  const std::size_t axes =
      a.axes ? a.axes->size() : shape.size() - std::min<std::size_t>(1, shape.size());
  for (std::size_t k = axes; k-- > 0;) {
    const std::size_t axis = a.axes ? (*a.axes)[k] : k + first;
    scale_strides[axis] = count;
    count *= shape[axis];
  }
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const bool normalized =
        a.axes ? std::find(a.axes->begin(), a.axes->end(), i) != a.axes->end() : i > 0;
    if (normalized) {
      gone_strides[gone_rank] = strides[i];
      scale_strides[gone_rank] = scale_strides[i];
      gone[gone_rank++] = shape[i];
    } else {
      kept_strides[kept_rank] = strides[i];
      kept[kept_rank++] = shape[i];
    }
  }
  const std::span<const std::uint32_t> inner{gone.data(), gone_rank};
  with_float(call.in_type(), [&]<class T>(T) {
    for_each<1>({kept.data(), kept_rank}, {kept_strides}, [&](const auto& base, const auto&) {
      const T* in = call.in<T>(0) + base[0];
      T* out = call.out<T>() + base[0];
      const auto [mean, factor] = moments(count, a.epsilon, [&](auto take) {
        for_each<1>(inner, {gone_strides},
                    [&](const auto& at, const auto&) { take(widen(in[at[0]])); });
      });
      const double middle = mean, scale = factor;
      for_each<2>(inner, {gone_strides, scale_strides}, [&](const auto& at, const auto&) {
        double value = (widen(in[at[0]]) - middle) * scale;
        if (call.has(1)) value *= widen(call.in<T>(1)[at[1]]);
        if (call.has(2)) value += widen(call.in<T>(2)[at[1]]);
        out[at[0]] = narrow<T>(value);
      });
    });
  });
}

}  // namespace

std::span<const Entry> normalization_entries() noexcept {
  static constexpr Entry entries[] = {{op("batchNormalization"), batch_normalization},
                                      {op("instanceNormalization"), instance_normalization},
                                      {op("layerNormalization"), layer_normalization}};
  return entries;
}

}  // namespace polychron::kernels::reference
