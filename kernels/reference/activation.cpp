// Activations: functions of each element with parameters, and softmax.
#include <algorithm>

#include "kernels/reference/each.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Relu {
  template <class W>
  W operator()(W x) const {
    return x < W{} ? W{} : x;
  }
};

struct Prelu {
  template <class W>
  W operator()(W a, W b) const {
    return a < W{} ? Mul{}(a, b) : a;
  }
};

/// Casts an option to its operand's type, as the specification does.
template <class T>
T from_number(const Number& number, DataType type) {
  return std::visit([](auto value) { return narrow<T>(value); }, ops::cast(number, type));
}

/// True unless the bound is absent or NaN, which means the same.
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
    const auto low = widen(below ? from_number<T>(*attributes.min_value, call.in_type()) : T{});
    const auto high = widen(above ? from_number<T>(*attributes.max_value, call.in_type()) : T{});
    for (std::int64_t i = 0; i < count; ++i) {
      auto value = widen(in[i]);
      if (below && value < low) value = low;
      if (above && value > high) value = high;
      out[i] = narrow<T>(value);
    }
  });
}

double hard_sigmoid(double x, Parameters p) { return std::clamp(p.alpha * x + p.beta, 0.0, 1.0); }

void softmax(const Call& call) {
  const std::uint32_t axis = std::get<SoftmaxAttributes>(call.problem.attributes).axis;
  const Shape& shape = call.out_shape();
  const Strides strides = strides_of(shape);
  const std::int64_t extent = shape[axis], step = strides[axis];
  const std::int64_t outer = count_of({shape.data(), axis});
  with_float(call.in_type(), [&]<class T>(T) {
    for (std::int64_t line = 0; line < outer * step; ++line) {
      const std::int64_t base = line / step * step * extent + line % step;
      const T* in = call.in<T>(0) + base;
      T* out = call.out<T>() + base;
      double largest = widen(in[0]), sum = 0;
      for (std::int64_t i = 1; i < extent; ++i) largest = std::fmax(largest, widen(in[i * step]));
      for (std::int64_t i = 0; i < extent; ++i) sum += std::exp(widen(in[i * step]) - largest);
      for (std::int64_t i = 0; i < extent; ++i)
        out[i * step] = narrow<T>(std::exp(widen(in[i * step]) - largest) / sum);
    }
  });
}

constexpr Entry activation_table[] = {
    {op("clamp"), clamp},
    {op("elu"), floats<[](double x, Parameters p) { return x < 0 ? p.alpha * std::expm1(x) : x; }>},
    {op("gelu"),
     floats<[](double x, Parameters) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }>},
    {op("hardSigmoid"), floats<hard_sigmoid>},
    {op("hardSwish"),
     floats<[](double x, Parameters) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }>},
    {op("leakyRelu"), floats<[](double x, Parameters p) { return x < 0 ? p.alpha * x : x; }>},
    {op("linear"), floats<[](double x, Parameters p) { return p.alpha * x + p.beta; }>},
    {op("prelu"), arithmetic<Prelu>},
    {op("relu"), numbers<Relu>},
    {op("sigmoid"), floats<[](double x, Parameters) { return sigmoid(x); }>},
    {op("softmax"), softmax},
    {op("softplus"), floats<[](double x, Parameters) {
       return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
     }>},
    {op("softsign"), floats<[](double x, Parameters) { return x / (1 + std::fabs(x)); }>},
    {op("tanh"), floats<[](double x, Parameters) { return std::tanh(x); }>},
    {op_swish, floats<[](double x, Parameters p) { return x * sigmoid(p.alpha * x); }>},
};

}  // namespace

std::span<const Entry> activation_entries() noexcept { return activation_table; }

}  // namespace polychron::kernels::reference
