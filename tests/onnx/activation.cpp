// Handlers of the activation functions.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(activation)

namespace {

Model one(const std::string& op, std::int64_t opset, const Attributes& attributes = {}) {
  return Model(opset).node(op, {"x"}, {"y"}, attributes);
}

template <class F>
void maps(const Model& model, F f, double tolerance = 1e-5) {
  const auto x = ramp({2, 7}, -3.3, 0.5);
  auto y = x;
  for (auto& value : y.data) value = f(value);
  check(model, {{"x", x}}, {{"y", y}}, tolerance);
}

/// Softmax over groups of `length` consecutive elements.
Value softmax(Value x, std::size_t length, bool logarithm = false) {
  for (std::size_t at = 0; at < x.data.size(); at += length) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += std::exp(x.data[at + i]);
    for (std::size_t i = 0; i < length; ++i)
      x.data[at + i] = logarithm ? x.data[at + i] - std::log(sum) : std::exp(x.data[at + i]) / sum;
  }
  return x;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

BOOST_AUTO_TEST_CASE(without_attributes) {
  maps(one("Relu", 9), [](double x) { return std::max(x, 0.0); });
  maps(one("Sigmoid", 9), sigmoid);
  maps(one("Tanh", 9), [](double x) { return std::tanh(x); });
  maps(one("Softplus", 9), [](double x) { return std::log1p(std::exp(x)); });
  maps(one("Softsign", 9), [](double x) { return x / (1 + std::abs(x)); });
  maps(one("HardSwish", 14), [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); });
}

BOOST_AUTO_TEST_CASE(with_attributes_and_their_defaults) {
  const auto elu = [](double alpha) {
    return [=](double x) { return x > 0 ? x : alpha * std::expm1(x); };
  };
  maps(one("Elu", 9), elu(1));
  maps(one("Elu", 9, {{"alpha", 0.5}}), elu(0.5));
  maps(one("Selu", 9), [&](double x) { return 1.0507009873554805 * elu(1.6732632423543772)(x); });
  maps(one("LeakyRelu", 9), [](double x) { return x > 0 ? x : 0.01 * x; });
  maps(one("LeakyRelu", 16, {{"alpha", 0.3}}), [](double x) { return x > 0 ? x : 0.3 * x; });
  maps(one("HardSigmoid", 9), [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); });
  maps(one("HardSigmoid", 9, {{"alpha", 0.25}, {"beta", 0.4}}),
       [](double x) { return std::clamp(0.25 * x + 0.4, 0.0, 1.0); });
}

BOOST_AUTO_TEST_CASE(gelu_exact_and_approximate) {
  maps(one("Gelu", 20), [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); });
  maps(one("Gelu", 20, {{"approximate", "tanh"}}), [](double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
  });
}

BOOST_AUTO_TEST_CASE(prelu_with_a_slope_a_channel) {
  check(Model(9).node("PRelu", {"x", "s"}, {"y"}),
        {{"x", floats({1, 2, 2}, {-1, 2, -3, 4})}, {"s", floats({2, 1}, {0.5, 0.1})}},
        {{"y", floats({1, 2, 2}, {-0.5, 2, -0.3, 4})}});
}

BOOST_AUTO_TEST_CASE(clip_by_attributes_and_by_inputs) {
  const auto clip = [](double low, double high) {
    return [=](double x) { return std::min(std::max(x, low), high); };
  };
  maps(one("Clip", 9, {{"min", -1.0}, {"max", 2.0}}), clip(-1, 2));
  maps(one("Clip", 9, {{"min", 0.0}}), clip(0, 1e9));
  maps(one("Clip", 9), clip(-1e9, 1e9));
  const auto with = [](std::vector<std::string> inputs) {
    return Model(13)
        .node("Clip", inputs, {"y"})
        .initializer("low", floats({}, {-1}))
        .initializer("high", floats({}, {2}));
  };
  maps(with({"x", "low", "high"}), clip(-1, 2));
  maps(with({"x", "low"}), clip(-1, 1e9));
  maps(with({"x", "", "high"}), clip(-1e9, 2));
}

BOOST_AUTO_TEST_CASE(clip_by_bounds_that_are_calculated) {
  check(Model(13).node("Clip", {"x", "low", "high"}, {"y"}),
        {{"x", floats({3}, {-5, 0, 5})}, {"low", floats({}, {-1})}, {"high", floats({}, {2})}},
        {{"y", floats({3}, {-1, 0, 2})}});
}

BOOST_AUTO_TEST_CASE(softmax_until_opset_12_takes_the_rest_together) {
  const auto x = noise({2, 3, 4});
  check(one("Softmax", 11), {{"x", x}}, {{"y", softmax(x, 12)}});
  check(one("Softmax", 11, {{"axis", 2}}), {{"x", x}}, {{"y", softmax(x, 4)}});
  check(one("Softmax", 11, {{"axis", -1}}), {{"x", x}}, {{"y", softmax(x, 4)}});
  check(one("Softmax", 11, {{"axis", 0}}), {{"x", x}}, {{"y", softmax(x, 24)}});
  check(one("LogSoftmax", 11), {{"x", x}}, {{"y", softmax(x, 12, true)}});
}

BOOST_AUTO_TEST_CASE(softmax_since_opset_13_takes_one_axis) {
  const auto x = noise({2, 3, 4});
  check(one("Softmax", 13), {{"x", x}}, {{"y", softmax(x, 4)}});
  check(one("LogSoftmax", 13), {{"x", x}}, {{"y", softmax(x, 4, true)}});
  const auto columns = noise({3, 1});
  check(one("Softmax", 13, {{"axis", 0}}), {{"x", columns}}, {{"y", softmax(columns, 3)}});
}

BOOST_AUTO_TEST_CASE(attributes_of_the_wrong_type) {
  cannot(one("Elu", 13, {{"alpha", 1}}), {{"x", ramp({2})}}, ErrorKind::bad_data,
         "attribute 'alpha' has the wrong type");
  cannot(one("Softmax", 13, {{"axis", 5}}), {{"x", ramp({2})}}, ErrorKind::bad_data,
         "axis 5 of a tensor of rank 1");
}

BOOST_AUTO_TEST_SUITE_END()
