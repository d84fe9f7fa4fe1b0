// Element-wise operators of two operands, comparisons, logic and where; all broadcast.
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

template <class W>
inline constexpr bool is_signed_integer = std::is_same_v<W, std::int64_t>;

/// Integers wrap around, in two's complement.
template <class W, class F>
W wrapping(W a, W b, F f) {
  if constexpr (is_signed_integer<W>)
    return static_cast<W>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return f(a, b);
}

struct Add {
  template <class W>
  W operator()(W a, W b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <class W>
  W operator()(W a, W b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <class W>
  W operator()(W a, W b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Div {
  double operator()(double a, double b) const { return a / b; }
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return b == 0 ? 0 : a / b; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    if (b == 0) return 0;
    return b == -1 ? Sub{}(std::int64_t{0}, a) : a / b;
  }
};
struct Max {
  template <class W>
  W operator()(W a, W b) const {
    return a < b || b != b ? b : a;
  }
};
struct Min {
  template <class W>
  W operator()(W a, W b) const {
    return b < a || b != b ? b : a;
  }
};
struct Pow {
  double operator()(double a, double b) const { return std::pow(a, b); }
  template <std::integral W>
  W operator()(W base, W exponent) const {
    if (exponent < W{}) return Div{}(W{1}, (*this)(base, Sub{}(W{}, exponent)));
    W result{1};
    for (; exponent != W{}; exponent /= 2, base = Mul{}(base, base))
      if (exponent % 2 != W{}) result = Mul{}(result, base);
    return result;
  }
};
struct Prelu {
  template <class W>
  W operator()(W a, W b) const {
    return a < W{} ? Mul{}(a, b) : a;
  }
};

/// Out is the type of the result, or void for the operands'.
template <class F, class Out>
void binary(const Call& call) {
  const Shape& shape = call.out_shape();
  const std::array strides{broadcast_strides(call.in_shape(0), shape),
                           broadcast_strides(call.in_shape(1), shape)};
  with_element(call.in_type(), [&]<class T>(T) {
    using Result = std::conditional_t<std::is_void_v<Out>, T, Out>;
    const T* a = call.in<T>(0);
    const T* b = call.in<T>(1);
    auto* out = call.out<Result>();
    for_each<2>(shape, strides, [&](const auto& at, const auto&) {
      *out++ = narrow<Result>(F{}(widen(a[at[0]]), widen(b[at[1]])));
    });
  });
}

template <class F>
constexpr Function arithmetic = binary<F, void>;

/// F compares two wide values.
template <auto f>
struct Compare {
  template <class W>
  std::uint64_t operator()(W a, W b) const {
    return f(a, b) ? 1 : 0;
  }
};
template <auto f>
constexpr Function comparison = binary<Compare<f>, std::uint8_t>;

void where(const Call& call) {
  const Shape& shape = call.out_shape();
  const std::array strides{broadcast_strides(call.in_shape(0), shape),
                           broadcast_strides(call.in_shape(1), shape),
                           broadcast_strides(call.in_shape(2), shape)};
  with_size(call.in_type(1), [&]<class T>(T) {
    const auto* condition = call.in<std::uint8_t>(0);
    const T* yes = call.in<T>(1);
    const T* no = call.in<T>(2);
    T* out = call.out<T>();
    for_each<3>(shape, strides, [&](const auto& at, const auto&) {
      *out++ = condition[at[0]] != 0 ? yes[at[1]] : no[at[2]];
    });
  });
}

constexpr Entry entries[] = {
    {op("add"), arithmetic<Add>},
    {op("div"), arithmetic<Div>},
    {op("equal"), comparison<[](auto a, auto b) { return a == b; }>},
    {op("greater"), comparison<[](auto a, auto b) { return b < a; }>},
    {op("greaterOrEqual"), comparison<[](auto a, auto b) { return b <= a; }>},
    {op("lesser"), comparison<[](auto a, auto b) { return a < b; }>},
    {op("lesserOrEqual"), comparison<[](auto a, auto b) { return a <= b; }>},
    {op("logicalAnd"), comparison<[](auto a, auto b) { return a != 0 && b != 0; }>},
    {op("logicalOr"), comparison<[](auto a, auto b) { return a != 0 || b != 0; }>},
    {op("logicalXor"), comparison<[](auto a, auto b) { return (a != 0) != (b != 0); }>},
    {op("max"), arithmetic<Max>},
    {op("min"), arithmetic<Min>},
    {op("mul"), arithmetic<Mul>},
    {op("notEqual"), comparison<[](auto a, auto b) { return a != b; }>},
    {op("pow"), arithmetic<Pow>},
    {op("prelu"), arithmetic<Prelu>},
    {op("sub"), arithmetic<Sub>},
    {op("where"), where},
};

}  // namespace

std::span<const Entry> binary_entries() noexcept { return entries; }

}  // namespace polychron::kernels::reference
