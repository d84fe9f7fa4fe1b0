// Reductions, in the forms of the different opsets.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(reduction)

namespace {

using Function = double (*)(const Reals&);

double sum(const Reals& row) {
  double total = 0;
  for (const auto x : row) total += x;
  return total;
}

const std::vector<std::pair<const char*, Function>> functions{
    {"ReduceSum", sum},
    {"ReduceMean", [](const Reals& r) { return sum(r) / static_cast<double>(r.size()); }},
    {"ReduceMax", [](const Reals& r) { return *std::max_element(r.begin(), r.end()); }},
    {"ReduceMin", [](const Reals& r) { return *std::min_element(r.begin(), r.end()); }},
    {"ReduceProd",
     [](const Reals& r) {
       double product = 1;
       for (const auto x : r) product *= x;
       return product;
     }},
    {"ReduceL1",
     [](const Reals& r) {
       double total = 0;
       for (const auto x : r) total += std::abs(x);
       return total;
     }},
    {"ReduceL2",
     [](const Reals& r) {
       double total = 0;
       for (const auto x : r) total += x * x;
       return std::sqrt(total);
     }},
    {"ReduceSumSquare",
     [](const Reals& r) {
       double total = 0;
       for (const auto x : r) total += x * x;
       return total;
     }},
    {"ReduceLogSum", [](const Reals& r) { return std::log(sum(r)); }},
    {"ReduceLogSumExp", [](const Reals& r) {
       double total = 0;
       for (const auto x : r) total += std::exp(x);
       return std::log(total);
     }}};

/// x is [2, 3, 4]: reduced along its last axis, along its middle, and altogether.
Reals along_last(const Value& x, Function f) {
  Reals results;
  for (std::ptrdiff_t row = 0; row < 6; ++row)
    results.push_back(f({x.data.begin() + row * 4, x.data.begin() + row * 4 + 4}));
  return results;
}
Reals along_middle(const Value& x, Function f) {
  Reals results;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto start = i / 4 * 12 + i % 4;
    results.push_back(f({x.data[start], x.data[start + 4], x.data[start + 8]}));
  }
  return results;
}

}  // namespace

BOOST_AUTO_TEST_CASE(axes_as_attribute) {
  const auto x = ramp({2, 3, 4}, 0.1, 0.1);
  for (const auto& [op, f] : functions) BOOST_TEST_CONTEXT(op) {
      check(Model(11).node(op, {"x"}, {"y"}, {{"axes", Ints{-1}}}), {{"x", x}},
            {{"y", floats({2, 3, 1}, along_last(x, f))}});
      check(Model(11).node(op, {"x"}, {"y"}, {{"axes", Ints{1}}, {"keepdims", 0}}), {{"x", x}},
            {{"y", floats({2, 4}, along_middle(x, f))}});
      check(Model(11).node(op, {"x"}, {"y"}), {{"x", x}}, {{"y", floats({1, 1, 1}, {f(x.data)})}});
    }
}

BOOST_AUTO_TEST_CASE(axes_as_input) {
  const auto x = ramp({2, 3, 4}, 0.1, 0.1);
  for (const auto& [op, f] : functions) BOOST_TEST_CONTEXT(op) {
      const std::int64_t opset = std::string(op) == "ReduceSum" ? 13 : 18;
      auto model = Model(opset).node(op, {"x", "axes"}, {"y"}, {{"keepdims", 0}});
      check(model.initializer("axes", list({2})), {{"x", x}},
            {{"y", floats({2, 3}, along_last(x, f))}});
    }
}

BOOST_AUTO_TEST_CASE(no_axes) {
  const auto x = ramp({2, 2}, 1);
  check(Model(13).node("ReduceSum", {"x"}, {"y"}, {{"keepdims", 0}}), {{"x", x}},
        {{"y", floats({}, {10})}});
  check(Model(13).node("ReduceSum", {"x"}, {"y"}, {{"noop_with_empty_axes", 1}}), {{"x", x}},
        {{"y", x}});
  check(Model(18).node("ReduceSumSquare", {"x"}, {"y"}, {{"noop_with_empty_axes", 1}}), {{"x", x}},
        {{"y", floats({2, 2}, {1, 4, 9, 16})}});
}

BOOST_AUTO_TEST_CASE(of_no_elements) {
  constexpr double inf = INFINITY;
  const std::vector<std::pair<std::string, double>> results{
      {"ReduceSum", 0},          {"ReduceProd", 1},   {"ReduceSumSquare", 0},
      {"ReduceL1", 0},           {"ReduceL2", 0},     {"ReduceLogSum", -inf},
      {"ReduceLogSumExp", -inf}, {"ReduceMax", -inf}, {"ReduceMin", inf}};
  for (const auto& [op, result] : results) BOOST_TEST_CONTEXT(op) {
      const auto model = Model(18).node(op, {"x", "axes"}, {"y"}).initializer("axes", list({1}));
      check(model, {{"x", floats({2, 0, 3}, {})}}, {{"y", floats({2, 1, 3}, Reals(6, result))}});
    }
  check(Model(18).node("ReduceMean", {"x"}, {"y"}, {{"keepdims", 0}}), {{"x", floats({0}, {})}},
        {{"y", floats({}, {std::nan("")})}});
  const auto bounds = [](const char* op) {
    return Model(20).node(op, {"x"}, {"y"}, {{"keepdims", 0}});
  };
  check(bounds("ReduceMax"), {{"x", bools({0}, {})}}, {{"y", bools({}, {0})}});
  check(bounds("ReduceMin"), {{"x", bools({0}, {})}}, {{"y", bools({}, {1})}});
  check(bounds("ReduceMax"), {{"x", ints({0}, {})}}, {{"y", ints({}, {-2147483648.0})}});
}

BOOST_AUTO_TEST_CASE(axes_that_are_not_known) {
  cannot(Model(13).node("ReduceSum", {"x", "axes"}, {"y"}), {{"x", ramp({2})}, {"axes", list({0})}},
         ErrorKind::not_supported, "input 1 ('axes') must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(axes_of_an_earlier_opset) {
  // Passed over, they would leave a mean of everything.
  const auto mean = [](std::int64_t opset) {
    return Model(opset).node("ReduceMean", {"x"}, {"y"}, {{"axes", Ints{1}}, {"keepdims", 0}});
  };
  check(mean(17), {{"x", floats({1, 2}, {1, 3})}}, {{"y", floats({1}, {2})}});
  cannot(mean(18), {{"x", floats({1, 2}, {1, 3})}}, ErrorKind::bad_data,
         "attribute 'axes' is an input since opset 18");
}

BOOST_AUTO_TEST_SUITE_END()
