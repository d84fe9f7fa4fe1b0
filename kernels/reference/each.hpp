// Functions of each element, computed in the wide type. They have one operand, or two that
// broadcast.
#pragma once

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"

namespace polychron::kernels::reference {

/// The numbers in an activation's attributes.
struct Parameters {
  double alpha = 0;
  double beta = 0;
};

inline Parameters parameters_of(const Attributes& attributes) {
  if (const auto* a = std::get_if<EluAttributes>(&attributes)) return {a->alpha, 0};
  if (const auto* a = std::get_if<LeakyReluAttributes>(&attributes)) return {a->alpha, 0};
  if (const auto* a = std::get_if<LinearAttributes>(&attributes)) return {a->alpha, a->beta};
  if (const auto* a = std::get_if<HardSigmoidAttributes>(&attributes)) return {a->alpha, a->beta};
  return {};
}

using FloatFunction = double (*)(double, Parameters);

/// For operators that take only floats.
template <FloatFunction f>
void floats(const Call& call) {
  const Parameters parameters = parameters_of(call.problem.attributes);
  const std::int64_t count = count_of(call.out_shape());
  with_float(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for (std::int64_t i = 0; i < count; ++i) out[i] = narrow<T>(f(widen(in[i]), parameters));
  });
}

/// For operators of every type: F is a generic function of the wide type. Out is the type of the
/// result, or void for the operand's.
template <class F, class Out = void>
void numbers(const Call& call) {
  const std::int64_t count = count_of(call.out_shape());
  with_element(call.in_type(), [&]<class T>(T) {
    using Result = std::conditional_t<std::is_void_v<Out>, T, Out>;
    const T* in = call.in<T>(0);
    auto* out = call.out<Result>();
    for (std::int64_t i = 0; i < count; ++i) out[i] = narrow<Result>(F{}(widen(in[i])));
  });
}

template <class W>
inline constexpr bool is_signed_integer = std::is_same_v<W, std::int64_t>;

/// Integers wrap around in two's complement.
template <class W, class F>
W wrapping(W a, W b, F f) {
  if constexpr (is_signed_integer<W>)
    return static_cast<W>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return f(a, b);
}

struct Mul {
  template <class W>
  W operator()(W a, W b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
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

}  // namespace polychron::kernels::reference
