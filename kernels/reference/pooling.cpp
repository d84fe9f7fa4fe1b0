// Pooling: the average, the norm or the largest number of each window.
#include <algorithm>

#include "kernels/reference/image.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/window_range.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// Ignores padding: averages the elements of the input that the window covers.
struct Average {
  double sum = 0;
  std::int64_t count = 0;
  void take(double value) {
    sum += value;
    ++count;
  }
  double result() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};
struct Norm {
  double squares = 0;
  void take(double value) { squares += value * value; }
  double result() const { return std::sqrt(squares); }
};
/// A window without any element gives the lowest value of T.
template <class T>
struct Largest {
  using W = Wide<T>;
  W value = std::is_same_v<W, double> ? static_cast<W>(-std::numeric_limits<double>::infinity())
                                      : static_cast<W>(std::numeric_limits<T>::min());
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
    const WindowRange rows = window_range(top, window_h, a.dilations[0], x.h);
    const WindowRange columns = window_range(left, window_w, a.dilations[1], x.w);
    for (std::int64_t ky = rows.first; ky < rows.last; ++ky)
      for (std::int64_t kx = columns.first; kx < columns.last; ++kx)
        pool.take(widen(in[x.at(n, c, top + ky * a.dilations[0], left + kx * a.dilations[1])]));
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
  with_element(call.in_type(), [&]<class T>(T) { pool_with<Largest<T>, T>(call); });
}

}  // namespace

std::span<const Entry> pooling_entries() noexcept {
  static constexpr Entry entries[] = {{op("averagePool2d"), pool_floats<Average>},
                                      {op("l2Pool2d"), pool_floats<Norm>},
                                      {op("maxPool2d"), max_pool}};
  return entries;
}

}  // namespace polychron::kernels::reference
