// Element-wise operators of one operand, activations included, and cast.
#include <algorithm>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// The numbers that an activation's attributes hold.
struct Parameters {
  double alpha = 0;
  double beta = 0;
};

Parameters parameters_of(const Attributes& attributes) {
  if (const auto* a = std::get_if<EluAttributes>(&attributes)) return {a->alpha, 0};
  if (const auto* a = std::get_if<LeakyReluAttributes>(&attributes)) return {a->alpha, 0};
  if (const auto* a = std::get_if<LinearAttributes>(&attributes)) return {a->alpha, a->beta};
  if (const auto* a = std::get_if<HardSigmoidAttributes>(&attributes)) return {a->alpha, a->beta};
  return {};
}

using FloatFunction = double (*)(double, Parameters);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// For types of which only floats are allowed.
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

/// For operators of every type: F is a generic function of the wide type.
template <class F>
void numbers(const Call& call) {
  const std::int64_t count = count_of(call.out_shape());
  with_element(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for (std::int64_t i = 0; i < count; ++i) out[i] = narrow<T>(F{}(widen(in[i])));
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
struct Sign {
  template <class W>
  W operator()(W x) const {
    if constexpr (std::is_same_v<W, double>)
      if (std::isnan(x)) return x;
    return static_cast<W>((x > W{}) - (x < W{}));
  }
};
struct Relu {
  template <class W>
  W operator()(W x) const {
    return x < W{} ? W{} : x;
  }
};

void identity(const Call& call) {
  const auto bytes = *byte_length(call.problem.outputs[0].descriptor);
  std::copy_n(call.inputs[0], bytes, call.outputs[0]);
}

void logical_not(const Call& call) {
  const std::int64_t count = count_of(call.out_shape());
  const auto* in = call.in<std::uint8_t>(0);
  auto* out = call.out<std::uint8_t>();
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i] == 0;
}

template <class T>
T from_number(const Number& number) {
  return std::visit([](auto value) { return narrow<T>(value); }, number);
}

/// A NaN as a bound means that there is no bound.
bool bounds(const std::optional<Number>& number) {
  if (!number) return false;
  const auto* value = std::get_if<double>(&*number);
  return value == nullptr || !std::isnan(*value);
}

void clamp(const Call& call) {
  const auto& attributes = std::get<ClampAttributes>(call.problem.attributes);
  const std::int64_t count = count_of(call.out_shape());
  with_element(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    const bool below = bounds(attributes.min_value), above = bounds(attributes.max_value);
    const auto low = widen(below ? from_number<T>(*attributes.min_value) : T{});
    const auto high = widen(above ? from_number<T>(*attributes.max_value) : T{});
    for (std::int64_t i = 0; i < count; ++i) {
      auto value = widen(in[i]);
      if (below && value < low) value = low;
      if (above && value > high) value = high;
      out[i] = narrow<T>(value);
    }
  });
}

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

double hard_sigmoid(double x, Parameters p) { return std::clamp(p.alpha * x + p.beta, 0.0, 1.0); }

constexpr Entry entries[] = {
    {op("abs"), numbers<Abs>},
    {op("cast"), cast},
    {op("ceil"), floats<[](double x, Parameters) { return std::ceil(x); }>},
    {op("clamp"), clamp},
    {op("cos"), floats<[](double x, Parameters) { return std::cos(x); }>},
    {op("elu"), floats<[](double x, Parameters p) { return x < 0 ? p.alpha * std::expm1(x) : x; }>},
    {op("erf"), floats<[](double x, Parameters) { return std::erf(x); }>},
    {op("exp"), floats<[](double x, Parameters) { return std::exp(x); }>},
    {op("floor"), floats<[](double x, Parameters) { return std::floor(x); }>},
    {op("gelu"),
     floats<[](double x, Parameters) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }>},
    {op("hardSigmoid"), floats<hard_sigmoid>},
    {op("hardSwish"),
     floats<[](double x, Parameters) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }>},
    {op("identity"), identity},
    {op("leakyRelu"), floats<[](double x, Parameters p) { return x < 0 ? p.alpha * x : x; }>},
    {op("linear"), floats<[](double x, Parameters p) { return p.alpha * x + p.beta; }>},
    {op("log"), floats<[](double x, Parameters) { return std::log(x); }>},
    {op("logicalNot"), logical_not},
    {op("neg"), numbers<Neg>},
    {op("reciprocal"), floats<[](double x, Parameters) { return 1 / x; }>},
    {op("relu"), numbers<Relu>},
    {op("reshape"), identity},
    {op("roundEven"), floats<[](double x, Parameters) { return std::nearbyint(x); }>},
    {op("sigmoid"), floats<[](double x, Parameters) { return sigmoid(x); }>},
    {op("sign"), numbers<Sign>},
    {op("sin"), floats<[](double x, Parameters) { return std::sin(x); }>},
    {op("softplus"), floats<[](double x, Parameters) {
       return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
     }>},
    {op("softsign"), floats<[](double x, Parameters) { return x / (1 + std::fabs(x)); }>},
    {op("sqrt"), floats<[](double x, Parameters) { return std::sqrt(x); }>},
    {op("tan"), floats<[](double x, Parameters) { return std::tan(x); }>},
    {op("tanh"), floats<[](double x, Parameters) { return std::tanh(x); }>},
    {op_copy, identity},
    {op_swish, floats<[](double x, Parameters p) { return x * sigmoid(p.alpha * x); }>},
};

}  // namespace

std::span<const Entry> unary_entries() noexcept { return entries; }

}  // namespace polychron::kernels::reference
