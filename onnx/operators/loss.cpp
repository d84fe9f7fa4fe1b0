// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"
#include "onnx/operators/softmax.hpp"

namespace polychron::onnx::detail {

namespace {

std::vector<std::uint32_t> all_axes(std::size_t rank) {
  std::vector<std::uint32_t> axes(rank);
  for (std::uint32_t d = 0; d < rank; ++d) axes[d] = d;
  return axes;
}

/// Dimension 1 of `log_probabilities` has the classes. Inputs 1 and 2 are the targets and,
/// optionally, the weights of the classes. Ignored targets have weight 0.
Term likelihood_loss(Node& node, const Term& log_probabilities) {
  const auto& shape = log_probabilities.shape();
  const auto target = term(node, 1);
  if (shape.size() < 2 || target.rank() + 1 != shape.size())
    malformed("targets of shape " + to_string(target.shape()) + " for " + to_string(shape));
  const auto zero = log_probabilities.number(0);
  const auto hit = target.unsqueeze(1) == iota(node, target.data_type(), shape.size(), 1, shape[1]);
  auto loss = -hit.choose(log_probabilities, zero).sum({1});
  std::optional<Term> weight;
  if (node.has_input(2)) {
    Shape spread(shape.size(), 1);
    spread[1] = shape[1];
    weight = hit.choose(term(node, 2).reshape(spread), zero).sum({1});
  }
  if (node.has_attribute("ignore_index")) {
    const auto ignored = target == static_cast<double>(node.integer("ignore_index", 0));
    weight = ignored.choose(zero, weight ? *weight : zero.number(1).expand(target.shape()));
  }
  if (weight) loss = loss * *weight;
  const auto reduction = node.text("reduction", "mean");
  const auto axes = all_axes(loss.rank());
  if (reduction == "none") return loss;
  if (reduction == "sum") return loss.sum(axes);
  if (reduction != "mean") malformed("attribute 'reduction' is " + quote(reduction));
  return weight ? loss.sum(axes) / weight->sum(axes) : loss.mean(axes);
}

void negative_log_likelihood(Node& node) {
  node.set(likelihood_loss(node, term(node, 0)).operand());
}

void softmax_cross_entropy(Node& node) {
  const auto log_probabilities = log_softmax(term(node, 0), 1);
  node.set(likelihood_loss(node, log_probabilities).operand());
  if (node.wants_output(1)) node.set(log_probabilities.operand(), 1);
}

}  // namespace

std::span<const Row> loss_rows() noexcept {
  static constexpr std::array rows{
      Row{"NegativeLogLikelihoodLoss", negative_log_likelihood},
      Row{"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
