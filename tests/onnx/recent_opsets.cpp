// News of opsets 22 to 28: more types for old operators, a few new operators, attributes.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(recent_opsets)

namespace {

constexpr auto real = std::int64_t{proto::TensorProto::FLOAT};
constexpr auto half = std::int64_t{proto::TensorProto::FLOAT16};

Value bytes(Shape shape, Reals data) {
  return {proto::TensorProto::UINT8, std::move(shape), std::move(data)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(operators_that_took_more_types_are_as_before) {
  for (std::int64_t opset = 22; opset <= 28; ++opset) {
    BOOST_TEST_CONTEXT("opset " << opset) {
      check(Model(opset)
                .node("Conv", {"x", "w"}, {"c"}, {{"strides", Ints{2, 2}}})
                .node("Softplus", {"c"}, {"s"})
                .node("Squeeze", {"s", "axes"}, {"q"})
                .node("Shape", {"q"}, {"shape"})
                .node("Reshape", {"q", "flat"}, {"f"})
                .node("Cast", {"f"}, {"y"}, {{"to", std::int64_t{proto::TensorProto::INT32}}})
                .initializer("w", floats({1, 1, 2, 2}, {1, 1, 1, 1}))
                .initializer("axes", list({0, 1}))
                .initializer("flat", list({-1})),
            {{"x", floats({1, 1, 2, 4}, {5, 5, 5, 5, 10, 10, 10, 10})}},
            {{"y", ints({2}, {30, 30})}, {"shape", list({1, 2})}});
    }
  }
}

BOOST_AUTO_TEST_CASE(swish) {
  const Values x{{"x", floats({3}, {-2, 0, 3})}};
  const auto expected = [](double alpha) {
    const auto f = [&](double v) { return v / (1 + std::exp(-alpha * v)); };
    return floats({3}, {f(-2), 0, f(3)});
  };
  check(Model(24).node("Swish", {"x"}, {"y"}), x, {{"y", expected(1)}});
  check(Model(24).node("Swish", {"x"}, {"y"}, {{"alpha", 0.5}}), x, {{"y", expected(0.5)}});
}

BOOST_AUTO_TEST_CASE(root_mean_squares) {
  const auto x = floats({2, 2, 2}, {3, 4, 1, 1, 2, 2, 0, 0});
  const auto by = [](double square, double value, double scale, double epsilon = 1e-5) {
    return value / std::sqrt(square + epsilon) * scale;
  };
  check(Model(23).node("RMSNormalization", {"x", "s"}, {"y"}),
        {{"x", x}, {"s", floats({2}, {1, 10})}},
        {{"y", floats({2, 2, 2}, {by(12.5, 3, 1), by(12.5, 4, 10), by(1, 1, 1), by(1, 1, 10),
                                  by(4, 2, 1), by(4, 2, 10), 0, 0})}});
  check(Model(23).node("RMSNormalization", {"x", "s"}, {"y"}, {{"axis", 1}, {"epsilon", 0.25}}),
        {{"x", x}, {"s", floats({1, 1}, {2})}},
        {{"y",
          floats({2, 2, 2}, {by(6.75, 3, 2, 0.25), by(6.75, 4, 2, 0.25), by(6.75, 1, 2, 0.25),
                             by(6.75, 1, 2, 0.25), by(2, 2, 2, 0.25), by(2, 2, 2, 0.25), 0, 0})}});
  // The squares are beyond float16.
  check(Model(23)
            .node("Cast", {"x"}, {"h"}, {{"to", half}})
            .node("Cast", {"s"}, {"t"}, {{"to", half}})
            .node("RMSNormalization", {"h", "t"}, {"n"})
            .node("Cast", {"n"}, {"y"}, {{"to", real}}),
        {{"x", floats({1, 2}, {1000, -1000})}, {"s", floats({2}, {1, 2})}},
        {{"y", floats({1, 2}, {1, -2})}});
}

BOOST_AUTO_TEST_CASE(the_precision_of_quantization) {
  // 20.140625 / 0.0999755859375 is 201.46, and 201.5 where float16 divides.
  const auto model = [](std::int64_t precision) {
    return Model(23)
        .node("Cast", {"x"}, {"h"}, {{"to", half}})
        .node("Cast", {"s"}, {"t"}, {{"to", half}})
        .node("QuantizeLinear", {"h", "t", "z"}, {"y"}, {{"precision", precision}})
        .initializer("z", bytes({}, {0}));
  };
  const Values values{{"x", floats({1}, {20.140625})}, {"s", floats({}, {0.1})}};
  check(model(real), values, {{"y", bytes({1}, {201})}}, 0);
  cannot(model(proto::TensorProto::DOUBLE), values, ErrorKind::not_supported,
         "attribute 'precision' of double");
}

BOOST_AUTO_TEST_CASE(the_type_that_dequantization_gives) {
  const Values values{{"x", bytes({2}, {3, 10})}, {"s", floats({}, {0.1})}};
  const auto model = [](std::int64_t type) {
    return Model(23).node("DequantizeLinear", {"x", "s"}, {"y"}, {{"output_dtype", type}});
  };
  check(model(real), values, {{"y", floats({2}, {0.3, 1})}}, 1e-6);
  check(Model(23)
            .node("DequantizeLinear", {"x", "s"}, {"h"}, {{"output_dtype", half}})
            .node("Cast", {"h"}, {"y"}, {{"to", real}}),
        values, {{"y", floats({2}, {0.300048828125, 1})}}, 1e-6);
  cannot(model(proto::TensorProto::INT8), values, ErrorKind::not_supported,
         "attribute 'output_dtype' of int8");
}

BOOST_AUTO_TEST_CASE(gates) {
  const Values values{{"a", floats({3}, {-2, 0, 3})}, {"b", floats({3}, {10, 20, 30})}};
  const auto f = [](double v, double alpha) { return v / (1 + std::exp(-alpha * v)); };
  check(Model(28).node("SwiGLU", {"a", "b"}, {"y"}), values,
        {{"y", floats({3}, {10 * f(-2, 1), 0, 30 * f(3, 1)})}});
  check(Model(28).node("SwiGLU", {"a", "b"}, {"y"}, {{"alpha", 0.5}}), values,
        {{"y", floats({3}, {10 * f(-2, 0.5), 0, 30 * f(3, 0.5)})}});
  cannot(Model(28).node("SwiGLU", {"a", "b"}, {"y"}), {{"a", ramp({3})}, {"b", ramp({1})}},
         ErrorKind::bad_data, "a gate of shape [3] for [1]");
}

BOOST_AUTO_TEST_CASE(running_products) {
  const auto product = [](const Attributes& attributes, std::int64_t axis = 1) {
    return Model(26)
        .node("CumProd", {"x", "a"}, {"y"}, attributes)
        .initializer("a", longs({}, {static_cast<double>(axis)}));
  };
  const Values x{{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  check(product({}), x, {{"y", floats({2, 3}, {1, 2, 6, 4, 20, 120})}});
  check(product({{"exclusive", 1}}), x, {{"y", floats({2, 3}, {1, 1, 2, 1, 4, 20})}});
  check(product({{"reverse", 1}}), x, {{"y", floats({2, 3}, {6, 6, 3, 120, 30, 6})}});
  check(product({{"reverse", 1}, {"exclusive", 1}}, -1), x,
        {{"y", floats({2, 3}, {6, 3, 1, 30, 6, 1})}});
  check(product({}, 0), x, {{"y", floats({2, 3}, {1, 2, 3, 4, 10, 18})}});
  // Of one number, and of many.
  check(product({}, 0), {{"x", ints({1}, {7})}}, {{"y", ints({1}, {7})}});
  check(product({{"exclusive", 1}}, 0), {{"x", ints({1}, {7})}}, {{"y", ints({1}, {1})}});
  Reals signs(100), expected(100);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    signs[i] = i % 7 == 3 ? -1 : 1;
    expected[i] = i == 0 ? signs[0] : expected[i - 1] * signs[i];
  }
  check(product({}, 0), {{"x", ints({100}, signs)}}, {{"y", ints({100}, expected)}}, 0);
  cannot(product({}, 2), x, ErrorKind::bad_data, "axis 2");
}

BOOST_AUTO_TEST_CASE(the_same_bits) {
  const auto bits = [](int to) {
    return Model(26).node("BitCast", {"x"}, {"y"}, {{"to", std::int64_t{to}}});
  };
  using T = proto::TensorProto;
  const auto small = [](int type, Reals data) {
    return Value{type, {static_cast<std::uint32_t>(data.size())}, std::move(data)};
  };
  check(bits(T::INT8), {{"x", bytes({2}, {1, 200})}}, {{"y", small(T::INT8, {1, -56})}}, 0);
  check(bits(T::UINT32), {{"x", ints({2}, {1, -1})}}, {{"y", small(T::UINT32, {1, 4294967295.0})}},
        0);
  check(bits(T::FLOAT), {{"x", ramp({2})}}, {{"y", ramp({2})}}, 0);
  // The bits of a real number are known at import only.
  check(Model(bits(T::INT32)).initializer("x", floats({2}, {1, -2})), {},
        {{"y", ints({2}, {1065353216, -1073741824})}}, 0);
  cannot(bits(T::INT32), {{"x", ramp({2})}}, ErrorKind::not_supported,
         "input 0 ('x') must be known when it is imported");
  cannot(bits(T::INT64), {{"x", ramp({2})}}, ErrorKind::bad_data, "the bits of float as int64");
  cannot(bits(19), {{"x", bytes({1}, {0})}}, ErrorKind::not_supported,
         "WebNN has no type float8e5m2");
}

BOOST_AUTO_TEST_CASE(caches_that_are_written_in_place) {
  const auto scatter = [](const std::vector<std::string>& inputs,
                          const Attributes& attributes = {}) {
    return Model(24).node("TensorScatter", inputs, {"y"}, attributes);
  };
  const Values values{{"x", floats({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
                      {"u", floats({2, 2, 1}, {10, 20, 30, 40})},
                      {"i", longs({2}, {1, 3})},
                      {"j", longs({2}, {1, 2})}};
  check(scatter({"x", "u"}), values, {{"y", floats({2, 4, 1}, {10, 20, 3, 4, 30, 40, 7, 8})}});
  check(scatter({"x", "u", "j"}), values, {{"y", floats({2, 4, 1}, {1, 10, 20, 4, 5, 6, 30, 40})}});
  check(scatter({"x", "u", "i"}, {{"mode", "circular"}}), values,
        {{"y", floats({2, 4, 1}, {1, 10, 20, 4, 40, 6, 7, 30})}});
  cannot(scatter({"x", "u", "i"}, {{"mode", "square"}}), values, ErrorKind::bad_data, "'square'");
  cannot(scatter({"x", "u"}, {{"axis", 0}}), values, ErrorKind::bad_data,
         "an update of shape [2, 2, 1] along axis 0 of [2, 4, 1]");
  cannot(scatter({"u", "x"}), values, ErrorKind::bad_data, "an update of shape [2, 4, 1]");
}

BOOST_AUTO_TEST_CASE(ranges_of_short_reals) {
  Model model(27);
  for (const std::string name : {"a", "b", "c"})
    model.node("Cast", {name}, {name + "16"}, {{"to", half}});
  model.node("Range", {"a16", "b16", "c16"}, {"r"})
      .node("Cast", {"r"}, {"y"}, {{"to", real}})
      .initializer("a", floats({}, {1}))
      .initializer("b", floats({}, {2.25}))
      .initializer("c", floats({}, {0.5}));
  check(model, {}, {{"y", floats({3}, {1, 1.5, 2})}});
}

BOOST_AUTO_TEST_CASE(values_that_may_be_missing) {
  const auto x = ramp({2});
  check(Model(28)
            .node("Optional", {"x"}, {"o"})
            .node("OptionalHasElement", {"o"}, {"has"})
            .node("OptionalGetElement", {"o"}, {"y"}),
        {{"x", x}}, {{"has", bools({}, {1})}, {"y", x}});
  check(Model(28).node("Optional", {}, {"o"}).node("OptionalHasElement", {"o"}, {"has"}), {},
        {{"has", bools({}, {0})}});
  check(Model(28).node("OptionalHasElement", {}, {"has"}), {}, {{"has", bools({}, {0})}});
  cannot(Model(28).node("Optional", {}, {"o"}).node("OptionalGetElement", {"o"}, {"y"}), {},
         ErrorKind::bad_data, "input 0 is missing");
}

BOOST_AUTO_TEST_CASE(new_types_are_named) {
  const std::vector<std::pair<int, std::string>> types{
      {23, "float4e2m1"}, {24, "float8e8m0"}, {25, "uint2"},  {26, "int2"},
      {27, "float6e2m3"}, {28, "float6e3m2"}, {99, "unknown"}};
  for (const auto& [type, name] : types) {
    const auto model = Model(28).node("Identity", {"x"}, {"y"}).input("x", type, {2});
    cannot(model, {}, ErrorKind::not_supported, "input 'x': WebNN has no type " + name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
