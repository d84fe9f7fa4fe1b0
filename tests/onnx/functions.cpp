// Functions that are written as formulas, against the C library's; and activations of their kind.
#include <limits>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;

BOOST_AUTO_TEST_SUITE(functions)

namespace {

void follows(const char* op, double (*f)(double), const Reals& points) {
  auto x = floats({static_cast<std::uint32_t>(points.size())}, points);
  auto y = x;
  for (auto& value : x.data) value = static_cast<double>(static_cast<float>(value));
  for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] = f(x.data[i]);
  BOOST_TEST_CONTEXT(op) check(Model(9).node(op, {"x"}, {"y"}), {{"x", x}}, {{"y", y}}, 2e-6);
}

}  // namespace

BOOST_AUTO_TEST_CASE(hyperbolic_and_inverse) {
  const Reals any{-1e30, -50, -2.5, -1, -0.45, -0.3, -1e-4, 0, 1e-6, 0.2, 0.41, 0.6, 1, 2.4, 3, 80};
  const Reals inner{-1, -0.99, -0.6, -0.5, -0.3, -1e-5, 0, 1e-6, 0.2, 0.5, 0.51, 0.9, 0.9999, 1};
  const Reals exponents{-80, -20, -1.5, -1, -0.5, -1e-3, 0, 1e-5, 0.7, 1, 3, 60, 89};
  follows("Atan", std::atan, any);
  follows("Asinh", std::asinh, any);
  follows("Asin", std::asin, inner);
  follows("Acos", std::acos, inner);
  follows("Sinh", std::sinh, exponents);
  follows("Cosh", std::cosh, exponents);
  follows("Acosh", std::acosh, {1, 1.0001, 1.2, 1.49, 1.6, 3, 100, 1499, 1501, 1e30});
  follows("Atanh", std::atanh, {-0.99, -0.7, -0.5, -0.1, 0, 1e-5, 0.3, 0.49, 0.6, 0.999});
  follows("Asin", std::asin, {1.5});  // not a number
}

BOOST_AUTO_TEST_CASE(activations) {
  const auto x = floats({5}, {-2, -0.5, 0, 0.5, 2});
  const auto is = [&](const char* op, const Attributes& attributes, double (*f)(double)) {
    auto y = x;
    for (auto& value : y.data) value = f(value);
    BOOST_TEST_CONTEXT(op)
    check(Model(13).node(op, {"x"}, {"y"}, attributes), {{"x", x}}, {{"y", y}});
  };
  is("Celu", {{"alpha", 2.0}}, [](double v) { return v > 0 ? v : 2 * std::expm1(v / 2); });
  is("Shrink", {{"lambd", 1.0}, {"bias", 0.5}}, [](double v) {
    return v < -1 ? v + 0.5 : v > 1 ? v - 0.5 : 0;
  });
  is("ThresholdedRelu", {{"alpha", 0.5}}, [](double v) { return v > 0.5 ? v : 0; });
  is("Mish", {}, [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
}

BOOST_AUTO_TEST_CASE(log_softmax_does_not_underflow) {
  const auto big = std::log1p(std::exp(-200.0));
  check(Model().node("LogSoftmax", {"x"}, {"y"}), {{"x", floats({2}, {0, 200})}},
        {{"y", floats({2}, {-200, -big})}});
}

BOOST_AUTO_TEST_CASE(special_numbers) {
  constexpr auto inf = std::numeric_limits<double>::infinity();
  const auto x = floats({4}, {inf, -inf, std::numeric_limits<double>::quiet_NaN(), 1});
  check(Model().node("IsNaN", {"x"}, {"y"}), {{"x", x}}, {{"y", bools({4}, {0, 0, 1, 0})}});
  check(Model().node("IsInf", {"x"}, {"y"}), {{"x", x}}, {{"y", bools({4}, {1, 1, 0, 0})}});
  check(Model().node("IsInf", {"x"}, {"y"}, {{"detect_positive", 0}}), {{"x", x}},
        {{"y", bools({4}, {0, 1, 0, 0})}});
}

BOOST_AUTO_TEST_SUITE_END()
