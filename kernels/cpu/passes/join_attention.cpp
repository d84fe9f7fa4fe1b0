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

/// scale * q k + mask
struct MaskedScores {
  ValueId q, k, mask;
  float scale;
};

class CachedAttentionJoin {
 public:
  explicit CachedAttentionJoin(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (auto attention = attention_of(graph_.nodes[i])) {
        match_.forget(i);
        graph_.nodes[i] = *std::move(attention);
        match_.learn(i);
      }
    graph_.sweep();
  }

 private:
  std::optional<PlanNode> attention_of(const PlanNode& sum) const {
    if (sum.op != op("add")) return std::nullopt;
    for (const auto& [first, second] : both_orders) {
      const PlanNode* const cached = match_.only_made_by(sum.inputs[first], op("matmul"));
      const PlanNode* const fresh = match_.only_made_by(sum.inputs[second], op("matmul"));
      if (cached == nullptr || fresh == nullptr) return std::nullopt;
      const auto scores = scores_of(cached->inputs[0], fresh->inputs[0]);
      if (!scores) continue;
      const auto& [old, own] = *scores;
      if (old.q != own.q || old.scale != own.scale) return std::nullopt;
      PlanNode node;
      node.op = op_cached_attention;
      node.attributes = LinearAttributes{old.scale, 0};
      node.inputs = {old.q, old.k, cached->inputs[1], own.k, fresh->inputs[1], old.mask, own.mask};
      node.own_inputs = node.inputs.size();
      node.outputs = sum.outputs;
      node.label = sum.label;
      return cached_attention(problem_of(graph_, node)) ? std::optional(std::move(node))
                                                        : std::nullopt;
    }
    return std::nullopt;
  }

  /// The scores whose weights are the values `cached` and `fresh`, in this order.
  std::optional<std::pair<MaskedScores, MaskedScores>> scores_of(ValueId cached,
                                                                 ValueId fresh) const {
    const PlanNode* const split = match_.only_made_by(cached, op("split"));
    if (split == nullptr || match_.only_made_by(fresh, op("split")) != split ||
        split->outputs.size() != 2 || split->outputs[0] != cached ||
        std::get<SplitAttributes>(split->attributes).axis != 2)
      return std::nullopt;
    const PlanNode* const softmax = match_.only_made_by(split->inputs[0], op("softmax"));
    if (softmax == nullptr || std::get<SoftmaxAttributes>(softmax->attributes).axis != 2)
      return std::nullopt;
    const PlanNode* const both = match_.only_made_by(softmax->inputs[0], op("concat"));
    if (both == nullptr || both->inputs.size() != 2 ||
        std::get<ConcatAttributes>(both->attributes).axis != 2 ||
        match_.descriptor(both->inputs[0]) != match_.descriptor(cached))
      return std::nullopt;
    const auto old = masked(both->inputs[0]), own = masked(both->inputs[1]);
    return old && own ? std::optional(std::pair(*old, *own)) : std::nullopt;
  }

  std::optional<MaskedScores> masked(ValueId value) const {
    const PlanNode* const add = match_.only_made_by(value, op("add"));
    if (add == nullptr) return std::nullopt;
    for (const auto& [scaled, mask] : both_orders) {
      const PlanNode* const mul = match_.only_made_by(add->inputs[scaled], op("mul"));
      if (mul == nullptr) continue;
      for (const auto& [from, factor] : both_orders) {
        const auto scale = match_.scalar(mul->inputs[factor]);
        const PlanNode* const product = match_.only_made_by(mul->inputs[from], op("matmul"));
        if (!scale || product == nullptr) continue;
        const PlanNode* const turn = match_.made_by(product->inputs[1], op("transpose"));
        if (turn == nullptr || std::get<TransposeAttributes>(turn->attributes).permutation !=
                                   std::vector<std::uint32_t>{0, 2, 1})
          return std::nullopt;
        return MaskedScores{product->inputs[0], turn->inputs[0], add->inputs[mask], *scale};
      }
    }
    return std::nullopt;
  }

  PlanGraph& graph_;
  Matcher match_;
};

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

void join_cached_attention(PlanGraph& graph) { CachedAttentionJoin(graph).run(); }

}  // namespace polychron::kernels
