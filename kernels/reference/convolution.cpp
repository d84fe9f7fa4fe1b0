// conv2d and convTranspose2d.
#include "kernels/reference/image.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// One output element of conv2d.
template <class T>
double convolve(const T* in, const T* filter, const Image& x, const Image& f,
                const Conv2dAttributes& a, const std::array<std::int64_t, 4>& at,
                std::int64_t first_channel) {
  const auto [n, o, oy, ox] = at;
  double sum = 0;
  for (std::int64_t ky = 0; ky < f.h; ++ky) {
    const std::int64_t y = oy * a.strides[0] + ky * a.dilations[0] - a.padding[0];
    if (y < 0 || y >= x.h) continue;
    for (std::int64_t kx = 0; kx < f.w; ++kx) {
      const std::int64_t column = ox * a.strides[1] + kx * a.dilations[1] - a.padding[2];
      if (column < 0 || column >= x.w) continue;
      for (std::int64_t i = 0; i < f.c; ++i)
        sum += widen(in[x.at(n, first_channel + i, y, column)]) * widen(filter[f.at(o, i, ky, kx)]);
    }
  }
  return sum;
}

void conv2d(const Call& call) {
  const auto& a = std::get<Conv2dAttributes>(call.problem.attributes);
  const Image x = image_of(call.in_shape(0), a.input_layout);
  const Image y = image_of(call.out_shape(), a.input_layout);
  const Image f = image_of(call.in_shape(1), a.filter_layout);
  const std::int64_t outputs_per_group = y.c / a.groups;
  with_float(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    const T* filter = call.in<T>(1);
    const T* bias = call.has(2) ? call.in<T>(2) : nullptr;
    T* out = call.out<T>();
    for (std::int64_t n = 0; n < y.n; ++n)
      for (std::int64_t o = 0; o < y.c; ++o)
        for (std::int64_t oy = 0; oy < y.h; ++oy)
          for (std::int64_t ox = 0; ox < y.w; ++ox) {
            const double sum =
                convolve(in, filter, x, f, a, {n, o, oy, ox}, o / outputs_per_group * f.c);
            out[y.at(n, o, oy, ox)] = narrow<T>(sum + (bias ? widen(bias[o]) : 0));
          }
  });
}

/// One output element of convTranspose2d: the input elements that the filter spreads to it.
template <class T>
double gather_spread(const T* in, const T* filter, const Image& x, const Image& f,
                     const ConvTranspose2dAttributes& a, const std::array<std::int64_t, 4>& at) {
  const auto [n, o, oy, ox] = at;
  const std::int64_t group = o / f.c, inputs = x.c / a.groups;
  double sum = 0;
  for (std::int64_t ky = 0; ky < f.h; ++ky) {
    const std::int64_t y = oy + a.padding[0] - ky * a.dilations[0];
    if (y < 0 || y % a.strides[0] != 0 || y / a.strides[0] >= x.h) continue;
    for (std::int64_t kx = 0; kx < f.w; ++kx) {
      const std::int64_t column = ox + a.padding[2] - kx * a.dilations[1];
      if (column < 0 || column % a.strides[1] != 0 || column / a.strides[1] >= x.w) continue;
      for (std::int64_t i = group * inputs; i < (group + 1) * inputs; ++i)
        sum += widen(in[x.at(n, i, y / a.strides[0], column / a.strides[1])]) *
               widen(filter[f.at(i, o % f.c, ky, kx)]);
    }
  }
  return sum;
}

void conv_transpose2d(const Call& call) {
  const auto& a = std::get<ConvTranspose2dAttributes>(call.problem.attributes);
  const Image x = image_of(call.in_shape(0), a.input_layout);
  const Image y = image_of(call.out_shape(), a.input_layout);
  const Image f = image_of(call.in_shape(1), a.filter_layout);
  with_float(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    const T* filter = call.in<T>(1);
    const T* bias = call.has(2) ? call.in<T>(2) : nullptr;
    T* out = call.out<T>();
    for (std::int64_t n = 0; n < y.n; ++n)
      for (std::int64_t o = 0; o < y.c; ++o)
        for (std::int64_t oy = 0; oy < y.h; ++oy)
          for (std::int64_t ox = 0; ox < y.w; ++ox) {
            const double sum = gather_spread(in, filter, x, f, a, {n, o, oy, ox});
            out[y.at(n, o, oy, ox)] = narrow<T>(sum + (bias ? widen(bias[o]) : 0));
          }
  });
}

}  // namespace

std::span<const Entry> convolution_entries() noexcept {
  static constexpr Entry entries[] = {{op("conv2d"), conv2d},
                                      {op("convTranspose2d"), conv_transpose2d}};
  return entries;
}

}  // namespace polychron::kernels::reference
