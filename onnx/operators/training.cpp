// The optimizers of ai.onnx.preview.training, as formulas.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

/// Inputs are the rate, the number of updates so far, and then groups with the same number of
/// tensors each.
struct TensorGroups {
  std::size_t size;

  TensorGroups(const Node& node, std::size_t groups) : size((node.input_count() - 2) / groups) {
    if (node.input_count() < 2 + groups || (node.input_count() - 2) % groups != 0)
      malformed(std::to_string(node.input_count()) + " inputs");
  }
  std::size_t input(std::size_t group, std::size_t i) const { return 2 + group * size + i; }
  std::size_t output(std::size_t group, std::size_t i) const { return group * size + i; }
};

void adagrad(Node& node) {
  const TensorGroups groups(node, 3);
  const auto updates = term(node, 1).cast(DataType::float32);
  const auto rate = term(node, 0) / (updates * node.real("decay_factor", 0) + 1);
  for (std::size_t i = 0; i < groups.size; ++i) {
    const auto x = term(node, groups.input(0, i));
    const auto gradient = x * node.real("norm_coefficient", 0) + term(node, groups.input(1, i));
    const auto squares = term(node, groups.input(2, i)) + gradient * gradient;
    const auto step = rate * gradient / (squares.sqrt() + node.real("epsilon", 1e-6F));
    node.set((x - step).operand(), groups.output(0, i));
    node.set(squares.operand(), groups.output(1, i));
  }
}

Term power(const Term& base, const Term& exponent) {
  auto& node = base.node();
  return base.with(node.builder.pow(base.operand(), exponent.operand(), node.options()));
}

void adam(Node& node) {
  const TensorGroups groups(node, 4);
  // The specification's default is 1e-6, but its own test data (adam_multiple) uses 0.01.
  if (!node.has_attribute("epsilon"))
    unsupported("attribute 'epsilon' is missing, and ONNX has two minds about its default");
  const auto alpha = node.real("alpha", 0.9F);
  const auto beta = node.real("beta", 0.999F);
  const auto updates = term(node, 1).cast(DataType::float32);
  const auto first = term(node, 0);
  const auto corrected = first * (1 - power(first.number(beta), updates)).sqrt() /
                         (1 - power(first.number(alpha), updates));
  const auto rate = (updates > 0).choose(corrected, first);
  for (std::size_t i = 0; i < groups.size; ++i) {
    const auto x = term(node, groups.input(0, i));
    const auto gradient = x * node.real("norm_coefficient", 0) + term(node, groups.input(1, i));
    const auto mean = term(node, groups.input(2, i)) * alpha + gradient * (1 - alpha);
    const auto squares = term(node, groups.input(3, i)) * beta + gradient * gradient * (1 - beta);
    const auto moved = x - rate * mean / (squares.sqrt() + node.real("epsilon", 0));
    const auto post = 1 - node.real("norm_coefficient_post", 0);
    node.set((moved * post).operand(), groups.output(0, i));
    node.set(mean.operand(), groups.output(1, i));
    node.set(squares.operand(), groups.output(2, i));
  }
}

void momentum(Node& node) {
  const TensorGroups groups(node, 3);
  const auto alpha = node.real("alpha", 0);
  const auto rate = term(node, 0);
  const auto updates = term(node, 1).cast(DataType::float32);
  const auto beta = (updates > 0).choose(rate.number(node.real("beta", 0)), rate.number(1));
  const auto mode = node.text("mode", "");
  if (mode != "standard" && mode != "nesterov") malformed("attribute 'mode' is " + quote(mode));
  for (std::size_t i = 0; i < groups.size; ++i) {
    const auto x = term(node, groups.input(0, i));
    const auto gradient = x * node.real("norm_coefficient", 0) + term(node, groups.input(1, i));
    const auto speed = term(node, groups.input(2, i)) * alpha + beta * gradient;
    const auto step = mode == "nesterov" ? gradient + speed * alpha : speed;
    node.set((x - rate * step).operand(), groups.output(0, i));
    node.set(speed.operand(), groups.output(1, i));
  }
}

}  // namespace

std::span<const Row> training_rows() noexcept {
  static constexpr std::array rows{
      Row{"ai.onnx.preview.training:Adagrad", adagrad},
      Row{"ai.onnx.preview.training:Adam", adam},
      Row{"ai.onnx.preview.training:Momentum", momentum},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
