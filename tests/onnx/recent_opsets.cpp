// News of opsets 22 to 25: more types for old operators, a few new operators, attributes.
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
  for (std::int64_t opset = 22; opset <= 25; ++opset) {
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

BOOST_AUTO_TEST_CASE(new_operators_that_are_not_known_are_named) {
  for (const std::string name : {"Attention", "RotaryEmbedding", "TensorScatter"}) {
    const auto model = Model(24).node(name, {"x"}, {"y"});
    cannot(
        model, {{"x", ramp({2})}}, ErrorKind::not_supported,
        "operator '" + name + "' (node 'the_" + name + "', opset 24): the operator is not known");
    const auto loaded = load(Model(model).input("x", ramp({2})).output("y").bytes());
    BOOST_TEST(!loaded.summary().operators.at(0).supported);
  }
}

BOOST_AUTO_TEST_CASE(new_types_are_named) {
  const std::vector<std::pair<int, std::string>> types{
      {23, "float4e2m1"}, {24, "float8e8m0"}, {25, "uint2"}, {26, "int2"}, {99, "unknown"}};
  for (const auto& [type, name] : types) {
    const auto model = Model(25).node("Identity", {"x"}, {"y"}).input("x", type, {2});
    cannot(model, {}, ErrorKind::not_supported, "input 'x': WebNN has no type " + name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
