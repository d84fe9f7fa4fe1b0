// Activation functions.
#include <array>
#include <cmath>
#include <numbers>

#include "onnx/handlers.hpp"

namespace polychron::onnx::detail {

namespace {

using Method = Operand (GraphBuilder::*)(const Operand&, const OperatorOptions&);

template <Method method>
void plain(Node& node) {
  node.set((node.builder.*method)(node.operand(0), node.options()));
}

void elu(Node& node) {
  auto options = node.options<EluOptions>();
  options.alpha = node.real("alpha", 1);
  node.set(node.builder.elu(node.operand(0), options));
}

void selu(Node& node) {
  auto inner = node.options<EluOptions>();
  inner.alpha = node.real("alpha", 1.67326319217681884765625);
  auto outer = node.options<LinearOptions>();
  outer.alpha = node.real("gamma", 1.05070102214813232421875);
  node.set(node.builder.linear(node.builder.elu(node.operand(0), inner), outer));
}

void leaky_relu(Node& node) {
  auto options = node.options<LeakyReluOptions>();
  options.alpha = node.real("alpha", 0.01F);
  node.set(node.builder.leaky_relu(node.operand(0), options));
}

void prelu(Node& node) {
  node.set(node.builder.prelu(node.operand(0), node.operand(1), node.options()));
}

void hard_sigmoid(Node& node) {
  auto options = node.options<HardSigmoidOptions>();
  options.alpha = node.real("alpha", 0.2F);
  options.beta = node.real("beta", 0.5);
  node.set(node.builder.hard_sigmoid(node.operand(0), options));
}

/// The tanh approximation is spelled out: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
void gelu(Node& node) {
  const auto approximate = node.text("approximate", "none");
  const auto x = node.operand(0);
  auto& builder = node.builder;
  const auto label = node.options();
  if (approximate == "none") return node.set(builder.gelu(x, label));
  if (approximate != "tanh") malformed("attribute 'approximate' is " + quote(approximate));
  const auto number = [&](double value) { return builder.constant(x.data_type(), value); };
  const auto cube = builder.mul(builder.mul(x, x, label), x, label);
  const auto inner = builder.add(x, builder.mul(cube, number(0.044715), label), label);
  const auto scale = number(std::sqrt(2 / std::numbers::pi));
  const auto tanh = builder.tanh(builder.mul(inner, scale, label), label);
  const auto half = builder.mul(x, number(0.5), label);
  node.set(builder.mul(half, builder.add(tanh, number(1), label), label));
}

/// The bounds became inputs at opset 11. WebNN's are numbers; others are applied as operators.
void clip(Node& node) {
  const auto input = node.operand(0);
  auto options = node.options<ClampOptions>();
  if (node.opset < 11) {
    if (node.has_attribute("min")) options.min_value = node.real("min", 0);
    if (node.has_attribute("max")) options.max_value = node.real("max", 0);
    return node.set(node.builder.clamp(input, options));
  }
  const bool known = (!node.has_input(1) || node.calculable_literal(1)) &&
                     (!node.has_input(2) || node.calculable_literal(2));
  if (!known) {
    auto result = input;
    if (node.has_input(1)) result = node.builder.max(result, node.operand(1), node.options());
    if (node.has_input(2)) result = node.builder.min(result, node.operand(2), node.options());
    return node.set(result);
  }
  if (const auto low = node.optional_scalar(1)) options.min_value = *low;
  if (const auto high = node.optional_scalar(2)) options.max_value = *high;
  node.set(node.builder.clamp(input, options));
}

/// Up to opset 12 the dimensions from `axis` on are normalised together.
Operand softmax_of(Node& node) {
  const auto input = node.operand(0);
  const auto& shape = input.shape();
  if (node.opset >= 13)
    return node.builder.softmax(input, node.axis(node.integer("axis", -1), shape.size()),
                                node.options());
  const auto axis = node.axis(node.integer("axis", 1), shape.size());
  if (axis + 1 == shape.size()) return node.builder.softmax(input, axis, node.options());
  Shape flat(shape.begin(), shape.begin() + axis);
  std::uint64_t rest = 1;
  for (auto d = axis; d < shape.size(); ++d) rest *= shape[d];
  flat.push_back(static_cast<std::uint32_t>(rest));
  const auto result =
      node.builder.softmax(node.builder.reshape(input, flat, node.options()), axis, node.options());
  return node.builder.reshape(result, shape, node.options());
}

void softmax(Node& node) { node.set(softmax_of(node)); }

void log_softmax(Node& node) { node.set(node.builder.log(softmax_of(node), node.options())); }

using B = GraphBuilder;
constexpr std::array rows{
    Row{"Clip", clip},
    Row{"Elu", elu},
    Row{"Gelu", gelu},
    Row{"HardSigmoid", hard_sigmoid},
    Row{"HardSwish", plain<&B::hard_swish>},
    Row{"LeakyRelu", leaky_relu},
    Row{"LogSoftmax", log_softmax},
    Row{"PRelu", prelu},
    Row{"Relu", plain<&B::relu>},
    Row{"Selu", selu},
    Row{"Sigmoid", plain<&B::sigmoid>},
    Row{"Softmax", softmax},
    Row{"Softplus", plain<&B::softplus>},
    Row{"Softsign", plain<&B::softsign>},
    Row{"Tanh", plain<&B::tanh>},
};

}  // namespace

std::span<const Row> activation_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
