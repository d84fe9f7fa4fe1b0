// Quantized tensors, products of integers, and arithmetic of integers.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(quantization)

namespace {

Value bytes(Shape shape, Reals data) {
  return {proto::TensorProto::UINT8, std::move(shape), std::move(data)};
}
Value signed_bytes(Shape shape, Reals data) {
  return {proto::TensorProto::INT8, std::move(shape), std::move(data)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_and_back) {
  check(Model(13).node("QuantizeLinear", {"x", "s", "z"}, {"y"}),
        {{"x", floats({5}, {-300, -1, 0.5, 1.5, 1000})},
         {"s", floats({}, {1})},
         {"z", bytes({}, {128})}},
        {{"y", bytes({5}, {0, 127, 128, 130, 255})}});
  check(Model(13).node("DequantizeLinear", {"x", "s", "z"}, {"y"}, {{"axis", 0}}),
        {{"x", signed_bytes({2, 2}, {-128, 0, 1, 127})},
         {"s", floats({2}, {0.5, 2})},
         {"z", signed_bytes({2}, {0, 1})}},
        {{"y", floats({2, 2}, {-64, 0, 0, 252})}});
  check(Model(11).node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"}),
        {{"x", floats({3}, {-1, 0, 4.1})}},
        {{"y", bytes({3}, {0, 50, 255})}, {"s", floats({}, {0.02})}, {"z", bytes({}, {50})}});
}

BOOST_AUTO_TEST_CASE(integer_products_are_exact) {
  // 1000 products of 255 x 255: the sum is beyond what float32 tells apart.
  const Value row = bytes({1, 1000}, Reals(1000, 255)), column = bytes({1000, 1}, Reals(1000, 255));
  auto odd = row;
  odd.data[999] = 254;
  check(Model(10).node("MatMulInteger", {"a", "b"}, {"y"}), {{"a", odd}, {"b", column}},
        {{"y", ints({1, 1}, {1000.0 * 255 * 255 - 255})}}, 0);
  check(Model(10).node("ConvInteger", {"x", "w", "z"}, {"y"}),
        {{"x", bytes({1, 1, 2, 2}, {2, 3, 4, 5})},
         {"w", bytes({1, 1, 1, 2}, {1, 10})},
         {"z", bytes({}, {1})}},
        {{"y", ints({1, 1, 2, 1}, {21, 43})}}, 0);
}

BOOST_AUTO_TEST_CASE(quantized_products) {
  const Values values{{"a", bytes({1, 2}, {3, 5})}, {"as", floats({}, {0.5})},
                      {"az", bytes({}, {1})},       {"b", bytes({2, 1}, {2, 4})},
                      {"bs", floats({}, {2})},      {"bz", bytes({}, {0})},
                      {"ys", floats({}, {4})},      {"yz", bytes({}, {10})}};
  // (2 x 2 + 4 x 4) x 0.5 x 2 / 4 + 10
  check(Model(10).node("QLinearMatMul", {"a", "as", "az", "b", "bs", "bz", "ys", "yz"}, {"y"}),
        values, {{"y", bytes({1, 1}, {15})}});
}

BOOST_AUTO_TEST_CASE(remainders) {
  const auto mod = [](std::int64_t fmod) {
    return Model(13).node("Mod", {"a", "b"}, {"y"}, {{"fmod", fmod}});
  };
  const auto a = ints({4}, {7, -7, 7, -7}), b = ints({4}, {3, 3, -3, -3});
  check(mod(0), {{"a", a}, {"b", b}}, {{"y", ints({4}, {1, 2, -2, -1})}}, 0);
  check(mod(1), {{"a", a}, {"b", b}}, {{"y", ints({4}, {1, -1, 1, -1})}}, 0);
  check(mod(1), {{"a", floats({3}, {-4.25, 4.5, 9})}, {"b", floats({3}, {2, -1.25, 3})}},
        {{"y", floats({3}, {-0.25, 0.75, 0})}});
}

BOOST_AUTO_TEST_CASE(bits) {
  const auto a = ints({4}, {12, -1, -6, 2147483647}), b = ints({4}, {10, 5, 3, -2147483648.0});
  const auto model = [](const char* op) { return Model(18).node(op, {"a", "b"}, {"y"}); };
  check(model("BitwiseAnd"), {{"a", a}, {"b", b}}, {{"y", ints({4}, {8, 5, 2, 0})}}, 0);
  check(model("BitwiseOr"), {{"a", a}, {"b", b}}, {{"y", ints({4}, {14, -1, -5, -1})}}, 0);
  check(model("BitwiseXor"), {{"a", a}, {"b", b}}, {{"y", ints({4}, {6, -6, -7, -1})}}, 0);
  check(Model(18).node("BitwiseNot", {"x"}, {"y"}), {{"x", bytes({2}, {0, 200})}},
        {{"y", bytes({2}, {255, 55})}}, 0);
  check(Model(11).node("BitShift", {"a", "b"}, {"y"}, {{"direction", "LEFT"}}),
        {{"a", bytes({2}, {3, 16})}, {"b", bytes({2}, {2, 3})}}, {{"y", bytes({2}, {12, 128})}}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
