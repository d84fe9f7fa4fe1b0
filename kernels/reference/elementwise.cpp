// Element-wise operators: arithmetic, comparisons, logic and where, which broadcast; also functions
// of one operand, and cast.
#include <algorithm>

#include "kernels/reference/each.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

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
    if (exponent < W{}) {  // a fraction, except for 1 and -1; of 0 like a division by 0
      if (base != W{1} && base != Sub{}(W{}, W{1})) return W{};
      return exponent % 2 == W{} ? W{1} : base;
    }
    W result{1};
    for (; exponent != W{}; exponent /= 2, base = Mul{}(base, base))
      if (exponent % 2 != W{}) result = Mul{}(result, base);
    return result;
  }
};
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

struct Abs {
  double operator()(double x) const { return std::fabs(x); }
  std::int64_t operator()(std::int64_t x) const { return x < 0 ? Neg(x) : x; }
  std::uint64_t operator()(std::uint64_t x) const { return x; }
  static std::int64_t Neg(std::int64_t x) {
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
  }
};
struct Neg {
  double operator()(double x) const { return -x; }
  std::int64_t operator()(std::int64_t x) const { return Abs::Neg(x); }
  std::uint64_t operator()(std::uint64_t x) const { return 0 - x; }
};
/// 0 for NaN, as the specification says.
struct Sign {
  template <class W>
  W operator()(W x) const {
    return static_cast<W>((x > W{}) - (x < W{}));
  }
};
struct Not {
  template <class W>
  std::uint64_t operator()(W x) const {
    return x == W{} ? 1 : 0;
  }
};

struct IsNaN {
  template <class W>
  std::uint64_t operator()(W x) const {
    return x != x ? 1 : 0;
  }
};
struct IsInfinite {
  template <class W>
  std::uint64_t operator()(W x) const {
    if constexpr (std::is_same_v<W, double>) return std::isinf(x) ? 1 : 0;
    return 0;
  }
};

void cast(const Call& call) {
  const std::int64_t count = count_of(call.out_shape());
  with_element(call.in_type(), [&]<class From>(From) {
    with_element(call.out_type(), [&]<class To>(To) {
      const From* in = call.in<From>(0);
      To* out = call.out<To>();
      for (std::int64_t i = 0; i < count; ++i) out[i] = narrow<To>(widen(in[i]));
    });
  });
}

constexpr Entry elementwise_table[] = {
    {op("abs"), numbers<Abs>},
    {op("add"), arithmetic<Add>},
    {op("cast"), cast},
    {op("ceil"), floats<[](double x, Parameters) { return std::ceil(x); }>},
    {op("cos"), floats<[](double x, Parameters) { return std::cos(x); }>},
    {op("div"), arithmetic<Div>},
    {op("equal"), comparison<[](auto a, auto b) { return a == b; }>},
    {op("erf"), floats<[](double x, Parameters) { return std::erf(x); }>},
    {op("exp"), floats<[](double x, Parameters) { return std::exp(x); }>},
    {op("floor"), floats<[](double x, Parameters) { return std::floor(x); }>},
    {op("greater"), comparison<[](auto a, auto b) { return b < a; }>},
    {op("greaterOrEqual"), comparison<[](auto a, auto b) { return b <= a; }>},
    {op("identity"), copy},
    {op("isInfinite"), numbers<IsInfinite, std::uint8_t>},
    {op("isNaN"), numbers<IsNaN, std::uint8_t>},
    {op("lesser"), comparison<[](auto a, auto b) { return a < b; }>},
    {op("lesserOrEqual"), comparison<[](auto a, auto b) { return a <= b; }>},
    {op("log"), floats<[](double x, Parameters) { return std::log(x); }>},
    {op("logicalAnd"), comparison<[](auto a, auto b) { return a != 0 && b != 0; }>},
    {op("logicalNot"), numbers<Not>},
    {op("logicalOr"), comparison<[](auto a, auto b) { return a != 0 || b != 0; }>},
    {op("logicalXor"), comparison<[](auto a, auto b) { return (a != 0) != (b != 0); }>},
    {op("max"), arithmetic<Max>},
    {op("min"), arithmetic<Min>},
    {op("mul"), arithmetic<Mul>},
    {op("neg"), numbers<Neg>},
    {op("notEqual"), comparison<[](auto a, auto b) { return a != b; }>},
    {op("pow"), arithmetic<Pow>},
    {op("reciprocal"), floats<[](double x, Parameters) { return 1 / x; }>},
    {op("roundEven"), floats<[](double x, Parameters) { return std::nearbyint(x); }>},
    {op("sign"), numbers<Sign>},
    {op("sin"), floats<[](double x, Parameters) { return std::sin(x); }>},
    {op("sqrt"), floats<[](double x, Parameters) { return std::sqrt(x); }>},
    {op("sub"), arithmetic<Sub>},
    {op("tan"), floats<[](double x, Parameters) { return std::tan(x); }>},
    {op("where"), where},
};

}  // namespace

std::span<const Entry> elementwise_entries() noexcept { return elementwise_table; }

}  // namespace polychron::kernels::reference
