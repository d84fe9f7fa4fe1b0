// gather and scatter of elements and slices, and scatterReduce.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

void gather(const Call& call) {
  const std::uint32_t axis = std::get<GatherAttributes>(call.problem.attributes).axis;
  const Shape& shape = call.in_shape(0);
  const auto inner = static_cast<std::size_t>(strides_of(shape)[axis]) * byte_size(call.in_type());
  const std::int64_t outer = count_of({shape.data(), axis});
  const std::int64_t extent = shape[axis], count = count_of(call.in_shape(1));
  with_index(call.in_type(1), [&]<class I>(I) {
    const I* indices = call.in<I>(1);
    std::byte* out = call.outputs[0];
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t k = 0; k < count; ++k, out += inner) {
        const auto row = static_cast<std::size_t>(i * extent + bounded(indices[k], extent));
        std::memcpy(out, call.inputs[0] + row * inner, inner);
      }
  });
}

/// Calls `f(number, place)` for each index of operand 1, in order: its number, and the place of its
/// element in the input.
template <class F>
void for_each_element(const Call& call, std::uint32_t axis, F&& f) {
  const Shape& shape = call.in_shape(0);
  Strides strides = strides_of(shape);
  const std::int64_t step = std::exchange(strides[axis], 0), extent = shape[axis];
  with_index(call.in_type(1), [&]<class I>(I) {
    const I* indices = call.in<I>(1);
    std::int64_t number = 0;
    for_each<1>(call.in_shape(1), {strides}, [&](const auto& at, const auto&) {
      f(number, at[0] + bounded(indices[number], extent) * step);
      ++number;
    });
  });
}

/// The same for slices. The last dimension of operand 1 holds coordinates.
template <class F>
void for_each_slice(const Call& call, F&& f) {
  const Shape& shape = call.in_shape(0);
  const Shape& indices_shape = call.in_shape(1);
  const Strides strides = strides_of(shape);
  const std::size_t coordinates = indices_shape.back();
  const std::int64_t count = count_of({indices_shape.data(), indices_shape.size() - 1});
  with_index(call.in_type(1), [&]<class I>(I) {
    const I* indices = call.in<I>(1);
    for (std::int64_t number = 0; number < count; ++number) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < coordinates; ++i)
        place += bounded(*indices++, shape[i]) * strides[i];
      f(number, place);
    }
  });
}

/// The number of elements in a slice.
std::int64_t slice_size(const Call& call) {
  return strides_of(call.in_shape(0))[call.in_shape(1).back() - 1];
}

void gather_elements(const Call& call) {
  const std::uint32_t axis = std::get<GatherAttributes>(call.problem.attributes).axis;
  with_size(call.in_type(), [&]<class T>(T) {
    for_each_element(call, axis,
                     [in = call.in<T>(0), out = call.out<T>()](auto number, auto place) {
                       out[number] = in[place];
                     });
  });
}

void scatter_elements(const Call& call) {
  const std::uint32_t axis = std::get<ScatterAttributes>(call.problem.attributes).axis;
  copy(call);
  with_size(call.in_type(), [&]<class T>(T) {
    for_each_element(call, axis,
                     [updates = call.in<T>(2), out = call.out<T>()](auto number, auto place) {
                       out[place] = updates[number];
                     });
  });
}

void gather_nd(const Call& call) {
  const std::int64_t size = slice_size(call);
  with_size(call.in_type(), [&]<class T>(T) {
    for_each_slice(call, [&](std::int64_t number, std::int64_t place) {
      std::copy_n(call.in<T>(0) + place, size, call.out<T>() + number * size);
    });
  });
}

void scatter_nd(const Call& call) {
  const std::int64_t size = slice_size(call);
  copy(call);
  with_size(call.in_type(), [&]<class T>(T) {
    for_each_slice(call, [&](std::int64_t number, std::int64_t place) {
      std::copy_n(call.in<T>(2) + number * size, size, call.out<T>() + place);
    });
  });
}

/// Unsigned arithmetic, so that integers wrap around.
template <class W>
W combined(ScatterReduction reduction, W a, W b) {
  if constexpr (std::is_same_v<W, double>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (reduction == ScatterReduction::add) return a + b;
    if (reduction == ScatterReduction::multiply) return a * b;
  } else {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    if (reduction == ScatterReduction::add) return static_cast<W>(x + y);
    if (reduction == ScatterReduction::multiply) return static_cast<W>(x * y);
  }
  return reduction == ScatterReduction::max ? std::max(a, b) : std::min(a, b);
}

void scatter_reduce(const Call& call) {
  const auto reduction = std::get<ScatterReduceAttributes>(call.problem.attributes).reduction;
  const std::int64_t size = slice_size(call);
  with_element(call.in_type(), [&]<class T>(T) {
    const std::int64_t count = count_of(call.in_shape(0));
    std::vector<Wide<T>> wide(static_cast<std::size_t>(count));
    std::transform(call.in<T>(0), call.in<T>(0) + count, wide.begin(),
                   [](T x) { return widen(x); });
    for_each_slice(call, [&](std::int64_t number, std::int64_t place) {
      for (std::int64_t i = 0; i < size; ++i) {
        auto& element = wide[static_cast<std::size_t>(place + i)];
        element = combined(reduction, element, widen(call.in<T>(2)[number * size + i]));
        // Each step is a float32's, which may overflow. float16 is not rounded until the end.
        if constexpr (std::is_same_v<T, float>) element = static_cast<float>(element);
      }
    });
    std::transform(wide.begin(), wide.end(), call.out<T>(), [](auto x) { return narrow<T>(x); });
  });
}

}  // namespace

std::span<const Entry> indexing_entries() noexcept {
  static constexpr Entry entries[] = {
      {op("gather"), gather},        {op("gatherElements"), gather_elements},
      {op("gatherND"), gather_nd},   {op("scatterElements"), scatter_elements},
      {op("scatterND"), scatter_nd}, {op("scatterReduce"), scatter_reduce}};
  return entries;
}

}  // namespace polychron::kernels::reference
