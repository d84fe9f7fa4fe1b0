// Normalisation against plain loops.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(normalization)

namespace {

/// Rows of `length` elements, each brought to mean 0 and variance 1.
Value rows(Value x, std::size_t length, double epsilon = 1e-5) {
  for (std::size_t at = 0; at < x.data.size(); at += length) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < length; ++i) mean += x.data[at + i];
    mean /= static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i) variance += std::pow(x.data[at + i] - mean, 2);
    variance /= static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i)
      x.data[at + i] = (x.data[at + i] - mean) / std::sqrt(variance + epsilon);
  }
  return x;
}

/// Element i gets scale and bias number i / `repeat`.
Value scaled(Value x, const Value& scale, const Value& bias, std::size_t repeat) {
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    const auto channel = i / repeat % scale.data.size();
    x.data[i] = x.data[i] * scale.data[channel] + bias.data[channel];
  }
  return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(batch_normalization) {
  const auto x = noise({2, 3, 2, 2});
  const auto s = noise({3}, 2), b = noise({3}, 3), m = noise({3}, 4);
  const auto v = floats({3}, {0.5, 1, 2});
  auto y = x;
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const auto c = i / 4 % 3;
    y.data[i] = (x.data[i] - m.data[c]) / std::sqrt(v.data[c] + 0.01) * s.data[c] + b.data[c];
  }
  for (const std::int64_t opset : {9, 14, 15})
    check(Model(opset).node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"},
                            {{"epsilon", 0.01}, {"momentum", 0.9}}),
          {{"x", x}, {"s", s}, {"b", b}, {"m", m}, {"v", v}}, {{"y", y}});
}

BOOST_AUTO_TEST_CASE(batch_normalization_of_training) {
  const Values values{{"x", noise({1, 1, 2, 2})},
                      {"s", noise({1})},
                      {"b", noise({1})},
                      {"m", noise({1})},
                      {"v", noise({1})}};
  const auto node = [](std::vector<std::string> outputs, const Attributes& attributes) {
    return Model(14).node("BatchNormalization", {"x", "s", "b", "m", "v"}, outputs, attributes);
  };
  // The statistics are the batch's own, of 1, 3, 5, 7: mean 4, variance 5.
  const Values known{{"x", ramp({1, 1, 2, 2}, 1, 2)},
                     {"s", floats({1}, {2})},
                     {"b", floats({1}, {1})},
                     {"m", floats({1}, {2})},
                     {"v", floats({1}, {1})}};
  const auto step = 2 / std::sqrt(5 + 1e-5);
  check(node({"y", "rm", "rv"}, {{"training_mode", 1}, {"momentum", 0.75}}), known,
        {{"y", floats({1, 1, 2, 2}, {1 - 3 * step, 1 - step, 1 + step, 1 + 3 * step})},
         {"rm", floats({1}, {2 * 0.75 + 4 * 0.25})},
         {"rv", floats({1}, {0.75 + 5 * 0.25})}});
  cannot(node({"y", "rm"}, {}), values, ErrorKind::not_supported, "running statistics");
}

BOOST_AUTO_TEST_CASE(layer_normalization) {
  const auto x = noise({2, 3, 4});
  const auto s = noise({4}, 2), b = noise({4}, 3);
  const Values values{{"x", x}, {"s", s}, {"b", b}};
  check(Model(17).node("LayerNormalization", {"x", "s", "b"}, {"y"}), values,
        {{"y", scaled(rows(x, 4), s, b, 1)}});
  check(Model(17).node("LayerNormalization", {"x", "s"}, {"y"}, {{"epsilon", 0.1}}),
        {{"x", x}, {"s", s}}, {{"y", scaled(rows(x, 4, 0.1), s, floats({4}, {0, 0, 0, 0}), 1)}});
  const auto wide = noise({3, 4}, 2), wide_bias = noise({3, 4}, 3);
  check(Model(17).node("LayerNormalization", {"x", "s", "b"}, {"y"}, {{"axis", 1}}),
        {{"x", x}, {"s", wide}, {"b", wide_bias}},
        {{"y", scaled(rows(x, 12), wide, wide_bias, 1)}});
  // The scale may be broadcast over the normalised dimensions.
  check(Model(17).node("LayerNormalization", {"x", "s", "b"}, {"y"}, {{"axis", -2}}), values,
        {{"y", scaled(rows(x, 12), s, b, 1)}});
  const auto ones = floats({2}, {1, 1});
  const auto unit = 1 / std::sqrt(1 + 1e-5);
  check(Model(17).node("LayerNormalization", {"x", "s"}, {"y", "mean", "inverse"}),
        {{"x", floats({2, 2}, {1, 3, 6, 8})}, {"s", ones}},
        {{"y", floats({2, 2}, {-unit, unit, -unit, unit})},
         {"mean", floats({2, 1}, {2, 7})},
         {"inverse", floats({2, 1}, {unit, unit})}});
}

BOOST_AUTO_TEST_CASE(neighbouring_channels) {
  // Of three channels the middle one has both neighbours, the others have one.
  const auto x = floats({1, 3, 1}, {1, 2, 3});
  const auto y = [](double value, double squares) {
    return value / std::pow(1 + 0.3 / 3 * squares, 0.75);
  };
  check(Model().node("LRN", {"x"}, {"y"}, {{"size", 3}, {"alpha", 0.3}}), {{"x", x}},
        {{"y", floats({1, 3, 1}, {y(1, 5), y(2, 14), y(3, 13)})}});
  check(Model().node("MeanVarianceNormalization", {"x"}, {"y"}, {{"axes", Ints{2}}}),
        {{"x", floats({1, 1, 2}, {1, 3})}}, {{"y", floats({1, 1, 2}, {-1, 1})}});
  cannot(Model().node("LRN", {"x"}, {"y"}), {{"x", x}}, ErrorKind::bad_data, "a size of 0");
}

BOOST_AUTO_TEST_CASE(instance_normalization) {
  const auto s = noise({3}, 2), b = noise({3}, 3);
  for (const Shape& shape : {Shape{2, 3, 4, 2}, Shape{2, 3, 8}, Shape{2, 3, 2, 2, 2}}) {
    const auto x = noise(shape);
    check(Model().node("InstanceNormalization", {"x", "s", "b"}, {"y"}),
          {{"x", x}, {"s", s}, {"b", b}}, {{"y", scaled(rows(x, 8), s, b, 8)}});
  }
}

BOOST_AUTO_TEST_CASE(group_normalization_by_group_and_by_channel) {
  const auto x = noise({2, 4, 3});
  const auto s2 = noise({2}, 2), b2 = noise({2}, 3), s4 = noise({4}, 2), b4 = noise({4}, 3);
  const Attributes groups{{"num_groups", 2}};
  check(Model(18).node("GroupNormalization", {"x", "s", "b"}, {"y"}, groups),
        {{"x", x}, {"s", s2}, {"b", b2}}, {{"y", scaled(rows(x, 6), s2, b2, 6)}});
  check(Model(21).node("GroupNormalization", {"x", "s", "b"}, {"y"}, groups),
        {{"x", x}, {"s", s4}, {"b", b4}}, {{"y", scaled(rows(x, 6), s4, b4, 3)}});
  cannot(Model(18).node("GroupNormalization", {"x", "s", "b"}, {"y"}, {{"num_groups", 3}}),
         {{"x", x}, {"s", s2}, {"b", b2}}, ErrorKind::bad_data, "3 groups");
}

BOOST_AUTO_TEST_SUITE_END()
