// Activation functions.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"
#include "onnx/operators/softmax.hpp"

namespace polychron::onnx::detail {

namespace {

using Method = Operand (GraphBuilder::*)(const Operand&, GraphBuilder::Label);

template <Method method>
void plain(Node& node) {
  node.set((node.builder.*method)(node.operand(0), node.label()));
}

/// ONNX's own definition of Range passes shapes through it, so it also works on literals.
void relu(Node& node) {
  static constexpr Unary host{[](std::int64_t a) { return std::max<std::int64_t>(a, 0); },
                              [](double a) { return a < 0 ? 0 : a; }};
  if (auto known = calculate(host, node.calculable_literal(0))) return node.set(*known);
  node.set(node.builder.relu(node.operand(0), node.label()));
}

void elu(Node& node) {
  node.set(node.builder.elu(node.operand(0), {.alpha = node.real("alpha", 1)}, node.label()));
}

void selu(Node& node) {
  const bool old = node.opset < 6;
  const auto alpha = node.real("alpha", old ? 1.6732 : 1.67326319217681884765625);
  const auto gamma = node.real("gamma", old ? 1.0507 : 1.05070102214813232421875);
  node.set(node.builder.linear(node.builder.elu(node.operand(0), {.alpha = alpha}, node.label()),
                               {.alpha = gamma}, node.label()));
}

void leaky_relu(Node& node) {
  const auto alpha = node.real("alpha", 0.01F);
  node.set(node.builder.leaky_relu(node.operand(0), {.alpha = alpha}, node.label()));
}

/// Before opset 7 there is one slope for each channel.
void prelu(Node& node) {
  auto slope = term(node, 1);
  const auto rank = node.rank(0);
  if (node.opset < 7 && slope.rank() == 1 && rank > 2 && slope.shape()[0] != 1) {
    Shape shape(rank, 1);
    shape[1] = slope.shape()[0];
    slope = slope.reshape(shape);
  }
  node.set(node.builder.prelu(node.operand(0), slope.operand(), node.label()));
}

void hard_sigmoid(Node& node) {
  node.set(node.builder.hard_sigmoid(
      node.operand(0), {.alpha = node.real("alpha", 0.2F), .beta = node.real("beta", 0.5)},
      node.label()));
}

Term exact_gelu(const Term& x) {
  return x.with(x.node().builder.gelu(x.operand(), x.node().label()));
}

/// Spelled out: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
Term tanh_gelu(const Term& x) {
  const auto inner = x + x * x * x * 0.044715;
  return x * 0.5 * ((inner * std::sqrt(2 / std::numbers::pi)).tanh() + 1);
}

void gelu(Node& node) {
  const auto approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    malformed("attribute 'approximate' is " + quote(approximate));
  const auto x = term(node, 0);
  node.set((approximate == "tanh" ? tanh_gelu(x) : exact_gelu(x)).operand());
}

/// Applies the function to the input plus its bias, if there is one.
template <Term function(const Term&)>
void gelu_of_sum(Node& node) {
  const auto x = term(node, 0);
  node.set(function(node.has_input(1) ? x + term(node, 1) : x).operand());
}

/// The bounds became inputs at opset 11. WebNN's clamp takes numbers; other bounds use min and max.
void clip(Node& node) {
  const auto input = node.operand(0);
  ClampAttributes attributes;
  if (node.opset < 11) {
    if (node.has_attribute("min")) attributes.min_value = node.real("min", 0);
    if (node.has_attribute("max")) attributes.max_value = node.real("max", 0);
    return node.set(node.builder.clamp(input, attributes, node.label()));
  }
  const bool known = (!node.has_input(1) || node.calculable_literal(1)) &&
                     (!node.has_input(2) || node.calculable_literal(2));
  if (!known) {
    auto result = input;
    if (node.has_input(1)) result = node.builder.max(result, node.operand(1), node.label());
    if (node.has_input(2)) result = node.builder.min(result, node.operand(2), node.label());
    return node.set(result);
  }
  if (const auto low = node.optional_scalar(1)) attributes.min_value = *low;
  if (const auto high = node.optional_scalar(2)) attributes.max_value = *high;
  node.set(node.builder.clamp(input, attributes, node.label()));
}

/// Up to opset 12 all dimensions from `axis` on are normalised together.
template <Term function(const Term&, std::uint32_t)>
void normalized(Node& node) {
  const auto x = term(node, 0);
  const auto& shape = x.shape();
  const auto axis = node.axis(node.integer("axis", node.opset >= 13 ? -1 : 1), shape.size());
  if (node.opset >= 13 || axis + 1 == shape.size()) return node.set(function(x, axis).operand());
  Shape flat(shape.begin(), shape.begin() + axis);
  std::uint64_t rest = 1;
  for (auto d = axis; d < shape.size(); ++d) rest *= shape[d];
  flat.push_back(static_cast<std::uint32_t>(rest));
  node.set(function(x.reshape(flat), axis).reshape(shape).operand());
}

Term softmax(const Term& x, std::uint32_t axis) {
  return x.with(x.node().builder.softmax(x.operand(), axis, x.node().label()));
}

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
void celu(Node& node) {
  const auto x = term(node, 0);
  const auto alpha = node.real("alpha", 1);
  const auto below = x.with(node.builder.elu((x / alpha).operand(), {}, node.label()));
  node.set((x.max(0) + (below * alpha).min(0)).operand());
}

void shrink(Node& node) {
  const auto x = term(node, 0);
  const auto limit = node.real("lambd", 0.5);
  const auto bias = node.real("bias", 0);
  const auto high = (x > limit).choose(x - bias, x.number(0));
  node.set((x < -limit).choose(x + bias, high).operand());
}

void thresholded_relu(Node& node) {
  const auto x = term(node, 0);
  node.set((x > node.real("alpha", 1)).choose(x, x.number(0)).operand());
}

/// QuickGelu has another default.
template <int default_thousandths>
void swish(Node& node) {
  const auto x = term(node, 0);
  node.set((x * (x * node.real("alpha", default_thousandths / 1000.0F)).sigmoid()).operand());
}

/// The first input is the gate of the second.
void swiglu(Node& node) {
  const auto gate = term(node, 0), x = term(node, 1);
  if (gate.shape() != x.shape())
    malformed("a gate of shape " + to_string(gate.shape()) + " for " + to_string(x.shape()));
  node.set((gate * (gate * node.real("alpha", 1)).sigmoid() * x).operand());
}

void mish(Node& node) {
  const auto x = term(node, 0);
  node.set((x * x.with(node.builder.softplus(x.operand(), node.label())).tanh()).operand());
}

using B = GraphBuilder;
}  // namespace

std::span<const Row> activation_rows() noexcept {
  static constexpr std::array rows{
      Row{"Celu", celu},
      Row{"Clip", clip},
      Row{"Elu", elu},
      Row{"Gelu", gelu},
      Row{"HardSigmoid", hard_sigmoid},
      Row{"HardSwish", plain<&B::hard_swish>},
      Row{"LeakyRelu", leaky_relu},
      Row{"LogSoftmax", normalized<log_softmax>},
      Row{"Mish", mish},
      Row{"PRelu", prelu},
      Row{"Relu", relu},
      Row{"Selu", selu},
      Row{"Shrink", shrink},
      Row{"Sigmoid", plain<&B::sigmoid>},
      Row{"Softmax", normalized<softmax>},
      Row{"Softplus", plain<&B::softplus>},
      Row{"Softsign", plain<&B::softsign>},
      Row{"SwiGLU", swiglu},
      Row{"Swish", swish<1000>},
      Row{"Tanh", plain<&B::tanh>},
      Row{"ThresholdedRelu", thresholded_relu},
      // ONNX Runtime's: docs/ContribOperators.md there.
      Row{"com.microsoft:BiasGelu", gelu_of_sum<exact_gelu>},
      Row{"com.microsoft:FastGelu", gelu_of_sum<tanh_gelu>},
      Row{"com.microsoft:Gelu", gelu},
      Row{"com.microsoft:QuickGelu", swish<1702>},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
