// Reductions. A reducer starts with an element, joins further ones, and makes the result. Also
// other operators that work along an axis: argMin, argMax, topK and cumulativeSum.
#include <algorithm>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// The two halves of a reduction's index space: the kept dimensions and the reduced ones.
struct Split {
  std::array<std::uint32_t, max_rank> kept{}, gone{};
  std::size_t kept_rank = 0, gone_rank = 0;
  Strides kept_strides{}, gone_strides{};
  std::int64_t gone_count = 1;
};

Split split_axes(const Shape& shape, const std::optional<std::vector<std::uint32_t>>& axes) {
  Split split;
  const Strides strides = strides_of(shape);
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    if (!axes || std::find(axes->begin(), axes->end(), i) != axes->end()) {
      split.gone_strides[split.gone_rank] = strides[i];
      split.gone[split.gone_rank++] = shape[i];
      split.gone_count *= shape[i];
    } else {
      split.kept_strides[split.kept_rank] = strides[i];
      split.kept[split.kept_rank++] = shape[i];
    }
  }
  return split;
}

/// Calls R{}.start(first element), join(accumulator, element), finish(accumulator, count).
template <class R>
void reduce(const Call& call) {
  const auto& attributes = std::get<ReduceAttributes>(call.problem.attributes);
  const Split split = split_axes(call.in_shape(0), attributes.axes);
  const auto run = [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>({split.kept.data(), split.kept_rank}, {split.kept_strides},
                [&](const auto& base, const auto&) {
                  R reducer{};
                  const T* from = in + base[0];
                  auto value = reducer.start(widen(*from));
                  bool first = true;
                  for_each<1>({split.gone.data(), split.gone_rank}, {split.gone_strides},
                              [&](const auto& at, const auto&) {
                                if (!first || R::counts_first)
                                  value = reducer.join(value, widen(from[at[0]]));
                                first = false;
                              });
                  *out++ = narrow<T>(reducer.finish(value, split.gone_count));
                });
  };
  if constexpr (R::floats_only)
    with_float(call.in_type(), run);
  else
    with_element(call.in_type(), run);
}

/// Unsigned arithmetic, so that integers wrap around.
template <class W>
W sum(W a, W b) {
  if constexpr (std::is_same_v<W, double>) return a + b;
  return static_cast<W>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class W>
W product(W a, W b) {
  if constexpr (std::is_same_v<W, double>) return a * b;
  return static_cast<W>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Sums `f(element)` and applies `g(sum, count)`.
template <auto f, auto g>
struct Summing {
  static constexpr bool counts_first = true;
  static constexpr bool floats_only = false;
  template <class W>
  W start(W) const {
    return W{};
  }
  template <class W>
  W join(W value, W element) const {
    return sum(value, static_cast<W>(f(element)));
  }
  template <class W>
  W finish(W value, std::int64_t count) const {
    return static_cast<W>(g(value, count));
  }
};

template <auto f>
struct Folding {
  static constexpr bool counts_first = false;
  static constexpr bool floats_only = false;
  template <class W>
  W start(W first) const {
    return first;
  }
  template <class W>
  W join(W value, W element) const {
    return f(value, element);
  }
  template <class W>
  W finish(W value, std::int64_t) const {
    return value;
  }
};

/// log(sum(exp(x))) without overflow: tracks the largest element so far (Milakov and Gimelshein,
/// "Online normalizer calculation for softmax", 2018).
struct LogSumExp {
  static constexpr bool counts_first = true;
  static constexpr bool floats_only = true;
  double scaled_sum = 0;
  double start(double first) const { return first; }
  double join(double largest, double x) {
    if (x > largest) {
      scaled_sum = scaled_sum * std::exp(largest - x) + 1;
      return x;
    }
    scaled_sum += x == largest ? 1 : std::exp(x - largest);
    return largest;
  }
  double finish(double largest, std::int64_t) const { return largest + std::log(scaled_sum); }
};

/// True if `a` comes before `b` as the extreme number. NaN comes first, as in reduceMin and
/// reduceMax.
template <bool largest, class W>
bool beyond(W a, W b) {
  if (b != b) return false;
  return a != a || (largest ? b < a : a < b);
}

/// The first of the extreme numbers along the axis.
template <bool largest>
void arg(const Call& call) {
  const auto& a = std::get<ArgMinMaxAttributes>(call.problem.attributes);
  const auto [outer, extent, inner] = around(call.in_shape(0), a.axis);
  const auto run = [&, outer = outer, extent = extent, inner = inner]<class T, class I>(T, I) {
    const T* in = call.in<T>(0);
    I* out = call.out<I>();
    for (std::size_t i = 0; i < outer; ++i)
      for (std::size_t k = 0; k < inner; ++k) {
        const T* from = in + i * extent * inner + k;
        std::size_t best = 0;
        for (std::size_t at = 1; at < extent; ++at)
          if (beyond<largest>(widen(from[at * inner]), widen(from[best * inner]))) best = at;
        *out++ = static_cast<I>(best);
      }
  };
  with_element(call.in_type(), [&]<class T>(T type) {
    if (call.out_type() == DataType::int64) return run(type, std::int64_t{});
    run(type, std::int32_t{});
  });
}

/// The k most extreme numbers along the axis. Each is the most extreme of those after the one
/// before.
template <bool largest>
void most(const Call& call, const TopKAttributes& a) {
  const auto [outer, extent, inner] = around(call.in_shape(0), a.axis);
  with_element(call.in_type(), [&, outer = outer, extent = extent, inner = inner]<class T>(T) {
    for (std::size_t line = 0; line < outer * inner; ++line) {
      const T* from = call.in<T>(0) + line / inner * extent * inner + line % inner;
      auto* out = call.out<std::int64_t>() + line / inner * a.k * inner + line % inner;
      const auto comes_first = [&](std::size_t i, std::size_t j) {
        const auto x = widen(from[i * inner]), y = widen(from[j * inner]);
        return beyond<largest>(x, y) || (!beyond<largest>(y, x) && i < j);
      };
      std::size_t last = extent;
      for (std::size_t rank = 0; rank < a.k; ++rank) {
        std::size_t best = extent;
        for (std::size_t at = 0; at < extent; ++at)
          if ((last == extent || comes_first(last, at)) &&
              (best == extent || comes_first(at, best)))
            best = at;
        out[rank * inner] = static_cast<std::int64_t>(best);
        last = best;
      }
    }
  });
}

void top_k(const Call& call) {
  const auto& a = std::get<TopKAttributes>(call.problem.attributes);
  a.largest ? most<true>(call, a) : most<false>(call, a);
}

void cumulative_sum(const Call& call) {
  const auto& a = std::get<CumulativeSumAttributes>(call.problem.attributes);
  const auto [outer, extent, inner] = around(call.in_shape(0), a.axis);
  with_element(call.in_type(), [&, outer = outer, extent = extent, inner = inner]<class T>(T) {
    for (std::size_t i = 0; i < outer; ++i)
      for (std::size_t k = 0; k < inner; ++k) {
        Wide<T> before{};
        for (std::size_t step = 0; step < extent; ++step) {
          const std::size_t along = a.reversed ? extent - 1 - step : step;
          const std::size_t at = (i * extent + along) * inner + k;
          const Wide<T> after = sum(before, widen(call.in<T>(0)[at]));
          call.out<T>()[at] = narrow<T>(a.exclusive ? before : after);
          before = after;
        }
      }
  });
}

constexpr auto itself = [](auto x) { return x; };
constexpr auto magnitude = [](auto x) {
  return x < decltype(x){} ? product(x, static_cast<decltype(x)>(-1)) : x;
};
constexpr auto square = [](auto x) { return product(x, x); };
constexpr auto unchanged = [](auto x, std::int64_t) { return x; };
constexpr auto root = [](auto x, std::int64_t) { return std::sqrt(static_cast<double>(x)); };
constexpr auto logarithm = [](auto x, std::int64_t) { return std::log(static_cast<double>(x)); };
constexpr auto mean = [](auto x, std::int64_t n) { return x / static_cast<decltype(x)>(n); };
constexpr auto larger = [](auto a, auto b) { return a < b || b != b ? b : a; };
constexpr auto smaller = [](auto a, auto b) { return b < a || b != b ? b : a; };
constexpr auto times = [](auto a, auto b) { return product(a, b); };

}  // namespace

std::span<const Entry> reduction_entries() noexcept {
  static constexpr Entry entries[] = {
      {op("argMax"), arg<true>},
      {op("argMin"), arg<false>},
      {op("cumulativeSum"), cumulative_sum},
      {op("reduceL1"), reduce<Summing<magnitude, unchanged>>},
      {op("reduceL2"), reduce<Summing<square, root>>},
      {op("reduceLogSum"), reduce<Summing<itself, logarithm>>},
      {op("reduceLogSumExp"), reduce<LogSumExp>},
      {op("reduceMax"), reduce<Folding<larger>>},
      {op("reduceMean"), reduce<Summing<itself, mean>>},
      {op("reduceMin"), reduce<Folding<smaller>>},
      {op("reduceProduct"), reduce<Folding<times>>},
      {op("reduceSum"), reduce<Summing<itself, unchanged>>},
      {op("reduceSumSquare"), reduce<Summing<square, unchanged>>},
      {op("topK"), top_k},
  };
  return entries;
}

}  // namespace polychron::kernels::reference
