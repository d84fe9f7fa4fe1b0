// Joins softmax(scale * Q K + mask) V into one step. The scores between its products are as large
// as all pairs of queries and keys, so they should stay in the cache.
#include "kernels/attention_operands.hpp"
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// The operations on the scores before the softmax: a factor, then a mask.
struct Scaling {
  double scale = 1;
  std::optional<ValueId> mask;
};

/// Reads the first product's post-operations; nullopt if there are others.
std::optional<Scaling> scaling_of(const PlanNode& product) {
  Scaling found;
  auto next = product.post_ops.begin();
  const auto last = product.post_ops.end();
  if (next != last && next->op == op("linear")) {
    const auto& a = std::get<LinearAttributes>(next->attributes);
    if (a.beta != 0) return std::nullopt;
    found.scale = a.alpha;
    ++next;
  }
  if (next != last && next->op == op("add")) {
    found.mask = product.inputs[next->operands.at(0)];
    ++next;
  }
  return next == last ? std::optional(found) : std::nullopt;
}

std::vector<std::uint32_t> order_of(const PlanNode& node, std::size_t input) {
  return input < node.input_orders.size() ? node.input_orders[input] : std::vector<std::uint32_t>{};
}

/// The matmul that makes `value`, with its post-operations; null if `value` has other readers.
PlanNode* only_product_of(PlanGraph& graph, const Uses& uses, ValueId value) {
  const std::size_t producer = uses.producer[value];
  if (producer == Uses::none || only_consumer(graph, uses, value) == Uses::none) return nullptr;
  PlanNode& node = graph.nodes[producer];
  return node.op == op("matmul") ? &node : nullptr;
}

/// The nodes of an attention, found from the last product.
struct Attention {
  PlanNode *scores, *softmax, *product;
  Scaling scaling;
};

std::optional<Attention> attention_of(PlanGraph& graph, const Matcher& match, PlanNode& product) {
  if (product.removed || product.op != op("matmul") || !product.post_ops.empty() ||
      !order_of(product, 0).empty())
    return std::nullopt;
  PlanNode* const softmax = match.only_made_by(product.inputs[0], op("softmax"));
  if (softmax == nullptr || !softmax->post_ops.empty()) return std::nullopt;
  const ValueId scored = softmax->inputs[0];
  const std::size_t rank = graph.values[scored].descriptor.shape.size();
  PlanNode* const scores = only_product_of(graph, match.uses(), scored);
  if (scores == nullptr || !scores->output_order.empty() ||
      std::get<SoftmaxAttributes>(softmax->attributes).axis + 1 != rank)
    return std::nullopt;
  const auto scaling = scaling_of(*scores);
  if (!scaling) return std::nullopt;
  return Attention{scores, softmax, &product, *scaling};
}

PlanNode joined(const Attention& found) {
  PlanNode node;
  node.op = op_attention;
  node.attributes = LinearAttributes{found.scaling.scale, 0};
  node.inputs = {found.scores->inputs[0], found.scores->inputs[1], found.product->inputs[1]};
  if (found.scaling.mask) node.inputs.push_back(*found.scaling.mask);
  node.own_inputs = node.inputs.size();
  node.input_orders = {order_of(*found.scores, 0), order_of(*found.scores, 1),
                       order_of(*found.product, 1)};
  node.outputs = found.product->outputs;
  node.output_order = found.product->output_order;
  for (const PlanNode* part : {found.scores, found.softmax, found.product})
    if (!part->label.empty()) node.label += (node.label.empty() ? "" : ", ") + part->label;
  return node;
}

}  // namespace

void join_attention(PlanGraph& graph) {
  Matcher match(graph);
  for (PlanNode& product : graph.nodes) {
    const auto found = attention_of(graph, match, product);
    if (!found) continue;
    PlanNode node = joined(*found);
    if (!attention_operands(problem_of(graph, node))) continue;
    found->scores->removed = found->softmax->removed = true;
    product = std::move(node);
    match.refresh();
  }
  graph.sweep();
}

}  // namespace polychron::kernels
