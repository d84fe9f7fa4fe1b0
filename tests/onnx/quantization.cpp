// Quantized tensors, products of integers, and arithmetic of integers.
#include "polychron/session.hpp"
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

// A product with the reciprocal of 255 is off for four of five ranges.
BOOST_AUTO_TEST_CASE(dynamic_scales_are_exact_quotients) {
  Model model(11);
  Values inputs, expected;
  for (int i = 0; i < 40; ++i) {
    const auto n = std::to_string(i);
    const float high = i == 0 ? 0.0F : 1.0F + static_cast<float>(i) / 7;
    model.node("DynamicQuantizeLinear", {"x" + n}, {"y" + n, "s" + n, "z" + n});
    inputs.emplace_back("x" + n, floats({2}, {0, static_cast<double>(high)}));
    const float scale = i == 0 ? 1.0F : high / 255;
    expected.emplace_back("s" + n, floats({}, {static_cast<double>(scale)}));
  }
  check(model, inputs, expected, 0);
}

BOOST_AUTO_TEST_CASE(the_middle_of_two_steps) {
  // As float32, x / s is 141.5 and goes up to 142; x times the reciprocal of s is just below.
  const auto x = static_cast<double>(4.7110443F), s = static_cast<double>(0.0332936F);
  auto model = Model(13).node("QuantizeLinear", {"x", "s", "z"}, {"y"});
  model.initializer("s", floats({}, {s})).initializer("z", bytes({}, {68}));
  check(model, {{"x", floats({2}, {x, -x})}}, {{"y", bytes({2}, {210, 0})}}, 0);
}

BOOST_AUTO_TEST_CASE(blocks) {
  // Two blocks of two along axis 0, and of three columns one block and a rest.
  const auto down = [](const char* op) {
    return Model(21).node(op, {"x", "s", "z"}, {"y"}, {{"axis", 0}, {"block_size", 2}});
  };
  const Values scales{{"s", floats({2, 2}, {1, 2, 0.5, 4})},
                      {"z", signed_bytes({2, 2}, {0, 1, 2, 3})}};
  auto values = scales;
  values.emplace_back("x", signed_bytes({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  check(down("DequantizeLinear"), values, {{"y", floats({4, 2}, {1, 2, 3, 6, 1.5, 12, 2.5, 20})}});
  values = scales;
  values.emplace_back("x", floats({4, 2}, {1, 2, 3, 6, 1.5, 12, 2.5, 20}));
  check(down("QuantizeLinear"), values, {{"y", signed_bytes({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}});
  const auto across = [](const char* op) {
    return Model(21).node(op, {"x", "s"}, {"y"}, {{"block_size", 2}});
  };
  check(across("DequantizeLinear"),
        {{"x", bytes({2, 3}, {1, 2, 3, 4, 5, 6})}, {"s", floats({2, 2}, {1, 10, 2, 20})}},
        {{"y", floats({2, 3}, {1, 2, 30, 8, 10, 120})}});
  check(across("QuantizeLinear"),
        {{"x", floats({2, 3}, {1, 2, 30, 8, 10, 120})}, {"s", floats({2, 2}, {1, 10, 2, 20})}},
        {{"y", bytes({2, 3}, {1, 2, 3, 4, 5, 6})}});
  check(Model(21).node("DequantizeLinear", {"x", "s"}, {"y"},
                       {{"block_size", Ints::value_type{1} << 40}}),
        {{"x", bytes({2, 3}, {1, 2, 3, 4, 5, 6})}, {"s", floats({2, 1}, {1, 10})}},
        {{"y", floats({2, 3}, {1, 2, 3, 40, 50, 60})}});
  cannot(across("QuantizeLinear"), {{"x", floats({2, 6}, Reals(12, 0))}, {"s", floats({2, 2}, {})}},
         ErrorKind::bad_data, "a scale of shape [2, 2] for [2, 6] along axis 1, in blocks of 2");
  cannot(Model(13).node("DequantizeLinear", {"x", "s"}, {"y"}),
         {{"x", bytes({2, 4}, {})}, {"s", floats({2}, {})}}, ErrorKind::bad_data,
         "a scale of shape [2] for [2, 4] along axis 1");
}

// Exporters write weights of 4 bits as DequantizeLinear before a product.
BOOST_AUTO_TEST_CASE(weights_of_4_bits_stay_packed_before_products) {
  constexpr std::uint32_t inner = 64, columns = 10, block = 32;
  for (const bool is_signed : {false, true})
    for (const bool zeros : {false, true}) {
      const auto element = [&](std::size_t i) {
        const auto bits = static_cast<int>((i * 7 + i / 5) % 16);
        return is_signed && bits > 7 ? bits - 16 : bits;
      };
      const auto packed = [&](Shape shape, std::size_t count) {
        Value value{is_signed ? 22 : 21,  // INT4, UINT4
                    std::move(shape), Reals(count / 2)};
        for (std::size_t i = 0; i < count; i += 2)
          value.data[i / 2] = (element(i) & 15) + (element(i + 1) & 15) * 16;
        return value;
      };
      Model model(21);
      Reals scales(inner / block * columns), x(2 * inner), y(2 * columns), c(columns);
      for (std::size_t i = 0; i < scales.size(); ++i)
        scales[i] = 0.25 * static_cast<double>(1 + i % 3);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * static_cast<double>(i % 9) - 2;
      for (std::size_t n = 0; n < columns; ++n) c[n] = static_cast<double>(n);
      for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t n = 0; n < columns; ++n) {
          auto& sum = y[row * columns + n] = c[n];
          for (std::size_t k = 0; k < inner; ++k) {
            const auto at = k / block * columns + n;
            const int zero = zeros ? element(at) : 0;
            sum += x[row * inner + k] * (element(k * columns + n) - zero) * scales[at];
          }
        }
      std::vector<std::string> names{"w", "s"};
      if (zeros) names.push_back("z");
      model.node("DequantizeLinear", names, {"v"}, {{"axis", 0}, {"block_size", block}})
          .node("Gemm", {"x", "v", "c"}, {"y"});
      model.initializer("w", packed({inner, columns}, inner * columns))
          .initializer("s", floats({inner / block, columns}, scales))
          .initializer("c", floats({columns}, c));
      if (zeros) model.initializer("z", packed({inner / block, columns}, scales.size()));
      check(model, {{"x", floats({2, inner}, x)}}, {{"y", floats({2, columns}, y)}});

      const polychron::onnx::Session session(
          context(), load(model.input("x", floats({2, inner}, x)).output("y").bytes()));
      BOOST_REQUIRE_EQUAL(session.graph().plan().size(), 2U);
      const auto& step = session.graph().plan().front();
      BOOST_TEST(step.find("packedProduct") != std::string::npos, step);
      BOOST_TEST(step.find("int4") != std::string::npos, step);
    }
}

BOOST_AUTO_TEST_CASE(steps_of_16_bits) {
  const Values values{{"x", floats({4}, {-70000, -1.5, 2.5, 40000})}, {"s", floats({}, {1})}};
  for (const bool is_signed : {false, true}) {
    const int type = is_signed ? proto::TensorProto::INT16 : proto::TensorProto::UINT16;
    check(Model(21)
              .node("QuantizeLinear", {"x", "s"}, {"q"}, {{"output_dtype", std::int64_t{type}}})
              .node("DequantizeLinear", {"q", "s"}, {"y"}),
          values,
          {{"y", floats({4}, is_signed ? Reals{-32768, -2, 2, 32767} : Reals{0, 0, 2, 40000})}}, 0);
  }
}

BOOST_AUTO_TEST_CASE(four_bits) {
  // Two elements lie in a byte, the first in the low bits; of an odd count the last byte is half.
  for (const bool is_signed : {false, true}) {
    Model model(21);
    auto& tensor = *model.graph().add_initializer();
    tensor.set_name("x");
    tensor.set_data_type(is_signed ? 22 : 21);
    for (const auto dimension : {1, 5}) tensor.add_dims(dimension);
    tensor.set_raw_data("\x21\xf7\x08");
    model.node("Transpose", {"x"}, {"t"}).node("DequantizeLinear", {"t", "s"}, {"y"});
    model.node("Cast", {"x"}, {"i"}, {{"to", std::int64_t{proto::TensorProto::INT8}}});
    const auto elements = is_signed ? Reals{1, 2, 7, -1, -8} : Reals{1, 2, 7, 15, 8};
    auto halves = elements;
    for (auto& x : halves) x /= 2;
    check(model, {{"s", floats({}, {0.5})}},
          {{"y", floats({5, 1}, halves)}, {"i", signed_bytes({1, 5}, elements)}}, 0);
    check(Model(21)
              .node("QuantizeLinear", {"x", "s"}, {"q"}, {{"output_dtype", is_signed ? 22 : 21}})
              .node("DequantizeLinear", {"q", "s"}, {"y"}),
          {{"x", floats({4}, {-9, -1, 2.5, 99})}, {"s", floats({}, {1})}},
          {{"y", floats({4}, is_signed ? Reals{-8, -1, 2, 7} : Reals{0, 0, 2, 15})}}, 0);
    const auto through = [&](const Value& x, Reals expected) {
      check(Model(21)
                .node("Cast", {"x"}, {"q"}, {{"to", is_signed ? 22 : 21}})
                .node("Cast", {"q"}, {"y"}, {{"to", std::int64_t{proto::TensorProto::INT32}}}),
            {{"x", x}}, {{"y", ints({4}, std::move(expected))}}, 0);
    };
    // ONNX leaves numbers out of range open: they keep their low bits, as in ONNX Runtime.
    through(floats({4}, {-100, -1.5, 2.5, 100}),
            is_signed ? Reals{-4, -2, 2, 4} : Reals{12, 14, 2, 4});
    through(floats({4}, {-8.5, 7.4, 7.6, 15}),
            is_signed ? Reals{-8, 7, -8, -1} : Reals{8, 7, 8, 15});
    through(ints({4}, {-1, 7, 8, 200}), is_signed ? Reals{-1, 7, -8, -8} : Reals{15, 7, 8, 8});
    tensor.set_raw_data("\x21\xf7");
    cannot(model, {{"s", floats({}, {0.5})}}, ErrorKind::bad_data,
           "2 bytes where shape [1, 5] takes 3");
  }
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

// Weights that are known decide where a sum is cut: small ones nowhere, and large ones before a
// part is beyond what float32 tells apart.
BOOST_AUTO_TEST_CASE(products_with_known_weights_are_exact) {
  Reals row(1000, 255), weights(2000);
  row[999] = 254;
  double small = 0, large = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    weights[2 * i] = i % 3 == 0 ? 1 : 0;
    weights[2 * i + 1] = i < 500 ? 255 : 251;
    small += row[i] * weights[2 * i];
    large += row[i] * weights[2 * i + 1];
  }
  check(Model(10)
            .initializer("b", bytes({1000, 2}, weights))
            .node("MatMulInteger", {"a", "b"}, {"y"}),
        {{"a", bytes({1, 1000}, row)}}, {{"y", ints({1, 2}, {small, large})}}, 0);
  Reals filter(1000);
  for (std::size_t i = 0; i < 1000; ++i) filter[i] = weights[2 * i + 1];
  check(Model(10)
            .initializer("w", bytes({1, 1000, 1, 1}, filter))
            .node("ConvInteger", {"x", "w"}, {"y"}),
        {{"x", bytes({1, 1000, 1, 1}, row)}}, {{"y", ints({1, 1, 1, 1}, {large})}}, 0);
}

BOOST_AUTO_TEST_CASE(vectors_take_part_in_integer_products) {
  const auto product = Model(10).node("MatMulInteger", {"a", "b", "az", "bz"}, {"y"});
  const Values zeros{{"az", bytes({}, {1})}, {"bz", bytes({}, {2})}};
  const auto with = [&](Value a, Value b) {
    auto values = zeros;
    values.emplace_back("a", std::move(a));
    values.emplace_back("b", std::move(b));
    return values;
  };
  check(product, with(bytes({2}, {3, 4}), bytes({2}, {5, 7})), {{"y", ints({}, {21})}}, 0);
  check(product, with(bytes({2}, {3, 4}), bytes({2, 2}, {5, 2, 7, 3})), {{"y", ints({2}, {21, 3})}},
        0);
  check(product, with(bytes({2, 2}, {3, 4, 1, 2}), bytes({2}, {5, 7})), {{"y", ints({2}, {21, 5})}},
        0);
}

BOOST_AUTO_TEST_CASE(integer_convolutions_of_any_size) {
  // Groups of more channels, and windows of more elements, than float32 adds up exactly.
  const auto conv = [](std::int64_t group) {
    return Model(10).node("ConvInteger", {"x", "w"}, {"y"}, {{"group", group}});
  };
  auto x = bytes({1, 600, 1, 1}, Reals(600, 255)), w = bytes({2, 300, 1, 1}, Reals(600, 255));
  x.data[299] = 254;
  w.data[599] = 253;
  check(conv(2), {{"x", x}, {"w", w}},
        {{"y", ints({1, 2, 1, 1}, {300.0 * 255 * 255 - 255, 300.0 * 255 * 255 - 2 * 255})}}, 0);
  for (const auto& window : {Shape{1, 1, 20, 30}, Shape{1, 1, 2, 300}, Shape{1, 1, 600, 1}}) {
    x = bytes(window, Reals(600, 255)), w = bytes(window, Reals(600, 255));
    x.data[599] = 254;
    check(conv(1), {{"x", x}, {"w", w}}, {{"y", ints({1, 1, 1, 1}, {600.0 * 255 * 255 - 255})}}, 0);
  }
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

BOOST_AUTO_TEST_CASE(quantized_products_with_float16_scales) {
  const auto half = std::int64_t{proto::TensorProto::FLOAT16};
  Model model(21);
  for (const std::string name : {"as", "bs", "ys"})
    model.node("Cast", {name}, {name + "16"}, {{"to", half}});
  model.node("QLinearMatMul", {"a", "as16", "az", "b", "bs16", "bz", "ys16", "yz"}, {"y"});
  check(model,
        {{"a", bytes({1, 2}, {3, 5})},
         {"as", floats({}, {0.5})},
         {"az", bytes({}, {1})},
         {"b", bytes({2, 1}, {2, 4})},
         {"bs", floats({}, {2})},
         {"bz", bytes({}, {0})},
         {"ys", floats({}, {4})},
         {"yz", bytes({}, {10})}},
        {{"y", bytes({1, 1}, {15})}});
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
  // Since opset 28 reals may have the divisor's sign too.
  constexpr double inf = INFINITY;
  const auto real = [](std::int64_t fmod) {
    return Model(28).node("Mod", {"a", "b"}, {"y"}, {{"fmod", fmod}});
  };
  const Values divided{{"a", floats({6}, {-4.25, 4.5, 1, -1, inf, 2})},
                       {"b", floats({6}, {2, -1.25, inf, inf, 3, 0})}};
  const double nan = std::nan("");
  check(real(0), divided, {{"y", floats({6}, {1.75, -0.5, 1, inf, nan, nan})}});
  check(real(1), divided, {{"y", floats({6}, {-0.25, 0.75, 1, -1, nan, nan})}});
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

BOOST_AUTO_TEST_CASE(shifts_of_signed_numbers) {
  const auto shift = [](const char* direction) {
    return Model(28).node("BitShift", {"a", "b"}, {"y"}, {{"direction", direction}});
  };
  constexpr double least = -2147483648.0, most = 2147483647;
  // Rounded down; by all bits, or by less than none, only the sign is left.
  const Values right{{"a", ints({7}, {-5, 5, least, most, -1, -7, 7})},
                     {"b", ints({7}, {1, 1, 31, 31, 32, -1, 99})}};
  check(shift("RIGHT"), right, {{"y", ints({7}, {-3, 2, -1, 0, -1, -1, 0})}}, 0);
  const Values left{{"a", ints({6}, {1, 3, -1, most, 1, -1})},
                    {"b", ints({6}, {31, 30, 31, 1, 32, -1})}};
  check(shift("LEFT"), left, {{"y", ints({6}, {least, -1073741824.0, least, -2, 0, 0})}}, 0);
  const auto small = [](Reals data) {
    const auto size = static_cast<std::uint32_t>(data.size());
    return Value{proto::TensorProto::INT8, {size}, std::move(data)};
  };
  check(shift("LEFT"), {{"a", small({1, 65, -1})}, {"b", small({7, 1, 8})}},
        {{"y", small({-128, -126, 0})}}, 0);
  check(shift("RIGHT"), {{"a", small({-128, -128, 127})}, {"b", small({7, 3, 6})}},
        {{"y", small({-1, -16, 1})}}, 0);
  check(shift("RIGHT"), {{"a", bytes({3}, {255, 255, 255})}, {"b", bytes({3}, {7, 8, 200})}},
        {{"y", bytes({3}, {1, 0, 0})}}, 0);
  cannot(shift("RIGHT"), {{"a", ramp({2})}, {"b", ramp({2})}}, ErrorKind::bad_data,
         "bits of float");
}

BOOST_AUTO_TEST_SUITE_END()
