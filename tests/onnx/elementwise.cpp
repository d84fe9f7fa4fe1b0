// Handlers of the element-wise operators, on the host and in the graph.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(elementwise)

namespace {

/// Applies `f` to each pair of elements: the second operand has one row, which is repeated.
template <class F>
Value each_row(const Value& a, const Value& row, F f, int type = proto::TensorProto::FLOAT) {
  auto result = a;
  result.type = type;
  for (std::size_t i = 0; i < a.data.size(); ++i)
    result.data[i] = f(a.data[i], row.data[i % row.data.size()]);
  return result;
}

template <class F>
Value each(Value a, F f, int type = proto::TensorProto::FLOAT) {
  for (auto& x : a.data) x = f(x);
  a.type = type;
  return a;
}

Model one(const std::string& op, std::int64_t opset = 13, const Attributes& attributes = {}) {
  return Model(opset).node(op, {"x"}, {"y"}, attributes);
}

Model two(const std::string& op, std::int64_t opset = 13) {
  return Model(opset).node(op, {"a", "b"}, {"y"});
}

}  // namespace

BOOST_AUTO_TEST_CASE(arithmetic_with_broadcasting) {
  const auto a = ramp({2, 3}, -2);
  const auto b = floats({3}, {2, -4, 0.5});
  const std::vector<std::pair<const char*, double (*)(double, double)>> functions{
      {"Add", [](double x, double y) { return x + y; }},
      {"Sub", [](double x, double y) { return x - y; }},
      {"Mul", [](double x, double y) { return x * y; }},
      {"Div", [](double x, double y) { return x / y; }},
      {"Max", [](double x, double y) { return std::max(x, y); }},
      {"Min", [](double x, double y) { return std::min(x, y); }},
      {"Sum", [](double x, double y) { return x + y; }},
      {"Mean", [](double x, double y) { return (x + y) / 2; }}};
  for (const auto& [op, f] : functions)
    BOOST_TEST_CONTEXT(op) check(two(op), {{"a", a}, {"b", b}}, {{"y", each_row(a, b, f)}});
}

BOOST_AUTO_TEST_CASE(integer_arithmetic_on_the_host_wraps_and_truncates) {
  const auto calculate = [](const char* op, Value a, Value b, Value y) {
    BOOST_TEST_CONTEXT(op) {
      auto model = two(op);
      model.initializer("a", a).initializer("b", b).output("y", y.type);
      compare(build(load(model.bytes())), {}, {{"y", y}}, 0);
    }
  };
  calculate("Add", list({1, -2, 3}), list({10}), list({11, 8, 13}));
  calculate("Sub", ints({2}, {1, -2147483648.0}), ints({1}, {1}), ints({2}, {0, 2147483647}));
  calculate("Mul", list({3, -4}), list({-5}), list({-15, 20}));
  calculate("Div", list({7, -7}), list({2}), list({3, -3}));
  calculate("Mod", list({7, -7}), list({3}), list({1, 2}));
  calculate("Less", list({1, 2, 3}), list({2}), bools({3}, {1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(division_by_zero_in_shapes) {
  auto model = two("Div");
  model.initializer("a", list({1})).initializer("b", list({0}));
  cannot(model, {}, ErrorKind::bad_data,
         "operator 'Div' (node 'the_Div', opset 13): division by zero");
}

BOOST_AUTO_TEST_CASE(any_number_of_operands) {
  const auto a = ramp({4});
  const auto model = [](const char* op) { return Model().node(op, {"a", "b", "c"}, {"y"}); };
  const Values values{{"a", a}, {"b", floats({1}, {1.5})}, {"c", floats({4}, {9, 0, 0, 2})}};
  check(model("Max"), values, {{"y", floats({4}, {9, 1.5, 2, 3})}});
  check(model("Min"), values, {{"y", floats({4}, {0, 0, 0, 1.5})}});
  check(model("Sum"), values, {{"y", floats({4}, {10.5, 2.5, 3.5, 6.5})}});
  check(model("Mean"), values, {{"y", floats({4}, {3.5, 2.5 / 3, 3.5 / 3, 6.5 / 3})}});
  check(Model().node("Sum", {"a"}, {"y"}), {{"a", a}}, {{"y", a}});
}

BOOST_AUTO_TEST_CASE(powers) {
  const auto a = floats({4}, {0.5, 1, 2, 3});
  check(two("Pow"), {{"a", a}, {"b", floats({}, {2})}}, {{"y", floats({4}, {0.25, 1, 4, 9})}});
  check(two("Pow"), {{"a", a}, {"b", longs({}, {3})}}, {{"y", floats({4}, {0.125, 1, 8, 27})}});
}

BOOST_AUTO_TEST_CASE(comparisons) {
  const auto a = ramp({2, 3});
  const auto b = floats({3}, {1, 1, 1});
  const int type = proto::TensorProto::BOOL;
  const std::vector<std::pair<const char*, bool (*)(double, double)>> functions{
      {"Equal", [](double x, double y) { return x == y; }},
      {"Greater", [](double x, double y) { return x > y; }},
      {"GreaterOrEqual", [](double x, double y) { return x >= y; }},
      {"Less", [](double x, double y) { return x < y; }},
      {"LessOrEqual", [](double x, double y) { return x <= y; }}};
  for (const auto& [op, f] : functions) BOOST_TEST_CONTEXT(op) {
      check(two(op), {{"a", a}, {"b", b}}, {{"y", each_row(a, b, f, type)}});
    }
}

BOOST_AUTO_TEST_CASE(logic_on_bools) {
  const Values values{{"a", bools({4}, {0, 0, 1, 1})}, {"b", bools({4}, {0, 1, 0, 1})}};
  check(two("And"), values, {{"y", bools({4}, {0, 0, 0, 1})}});
  check(two("Or"), values, {{"y", bools({4}, {0, 1, 1, 1})}});
  check(two("Xor"), values, {{"y", bools({4}, {0, 1, 1, 0})}});
  check(one("Not"), {{"x", bools({2}, {0, 1})}}, {{"y", bools({2}, {1, 0})}});
}

BOOST_AUTO_TEST_CASE(functions_of_one_number) {
  const auto positive = ramp({2, 4}, 0.25, 0.5);
  const auto any = ramp({3, 3}, -2.25, 0.55);
  const std::vector<std::pair<const char*, double (*)(double)>> of_positive{
      {"Log", [](double x) { return std::log(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }}};
  const std::vector<std::pair<const char*, double (*)(double)>> of_any{
      {"Abs", [](double x) { return std::abs(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sign", [](double x) { return double(x > 0) - double(x < 0); }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Tan", [](double x) { return std::tan(x); }}};
  for (const auto& [op, f] : of_positive)
    BOOST_TEST_CONTEXT(op) check(one(op), {{"x", positive}}, {{"y", each(positive, f)}});
  for (const auto& [op, f] : of_any)
    BOOST_TEST_CONTEXT(op) check(one(op), {{"x", any}}, {{"y", each(any, f)}});
}

BOOST_AUTO_TEST_CASE(casts) {
  const auto x = floats({4}, {-1.75, 0, 0.5, 3});
  const auto to = [](int type) { return one("Cast", 13, {{"to", std::int64_t{type}}}); };
  using T = proto::TensorProto;
  check(to(T::INT32), {{"x", x}}, {{"y", ints({4}, {-1, 0, 0, 3})}});
  check(to(T::INT64), {{"x", x}}, {{"y", longs({4}, {-1, 0, 0, 3})}});
  check(to(T::BOOL), {{"x", x}}, {{"y", bools({4}, {1, 0, 1, 1})}});
  check(to(T::FLOAT), {{"x", bools({2}, {1, 0})}}, {{"y", floats({2}, {1, 0})}});
  check(to(T::FLOAT), {{"x", longs({2}, {-7, 9})}}, {{"y", floats({2}, {-7, 9})}});
  check(to(T::FLOAT), {{"x", x}}, {{"y", x}});
  check(to(T::INT16), {{"x", floats({2}, {-3.5, 7})}}, {{"y", ints({2}, {-3, 7})}});
  check(to(T::UINT16), {{"x", ints({2}, {-1, 65537})}}, {{"y", ints({2}, {65535, 1})}});
  cannot(to(T::STRING), {{"x", x}}, ErrorKind::not_supported, "WebNN has no type string");
}

BOOST_AUTO_TEST_CASE(where_broadcasts_all_three) {
  check(Model().node("Where", {"c", "a", "b"}, {"y"}),
        {{"c", bools({2, 1}, {1, 0})}, {"a", floats({3}, {1, 2, 3})}, {"b", floats({}, {-1})}},
        {{"y", floats({2, 3}, {1, 2, 3, -1, -1, -1})}});
}

BOOST_AUTO_TEST_CASE(operands_of_different_types) {
  cannot(two("Add"), {{"a", floats({1}, {1})}, {"b", longs({1}, {1})}}, ErrorKind::not_supported,
         "operator 'Add' (node 'the_Add', opset 13)");
}

BOOST_AUTO_TEST_SUITE_END()
