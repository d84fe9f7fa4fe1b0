// Activations that ONNX Runtime's optimizer fuses into the attributes of another operator.
#pragma once

#include <string>
#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// The activation `name`, with its attributes in ONNX's order. Throws for an unknown one.
inline Term activated(const Term& x, const std::string& name, const std::vector<double>& given) {
  auto& node = x.node();
  const auto parameter = [&](std::size_t i, double otherwise) {
    return i < given.size() ? given[i] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return x.relu();
  if (name == "Sigmoid") return x.sigmoid();
  if (name == "Tanh") return x.tanh();
  if (name == "LeakyRelu")
    return x.with(
        node.builder.leaky_relu(x.operand(), {.alpha = parameter(0, 0.01F)}, node.label()));
  if (name == "HardSigmoid")
    return x.with(node.builder.hard_sigmoid(
        x.operand(), {.alpha = parameter(0, 0.2F), .beta = parameter(1, 0.5)}, node.label()));
  if (name != "Clip") unsupported("attribute 'activation' of " + quote(name));
  ClampAttributes attributes;
  if (given.size() > 0) attributes.min_value = given[0];
  if (given.size() > 1) attributes.max_value = given[1];
  return x.with(node.builder.clamp(x.operand(), attributes, node.label()));
}

}  // namespace polychron::onnx::detail
