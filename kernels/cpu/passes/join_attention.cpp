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

/// Finds attentions over a cache in two forms: with new keys beside the cached ones, or with a
/// cache to which the new keys were added before.
class CachedAttentionJoin {
 public:
  explicit CachedAttentionJoin(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    std::vector<PlanNode> nodes;
    for (const PlanNode& node : graph_.nodes)
      if (auto attention = of_two_parts(node))
        nodes.push_back(*std::move(attention));
      else if (!add_of_one_part(nodes, node))
        nodes.push_back(node);
    graph_.nodes = std::move(nodes);
    graph_.sweep();
  }

 private:
  /// With more rows that share keys, products of matrices are faster.
  static constexpr std::uint32_t most_rows_of_one_part = 8;

  const Shape& shape(ValueId value) const { return match_.descriptor(value).shape; }

  /// With the cache before its cast, if our loops take that.
  std::optional<PlanNode> taken(PlanNode node) const {
    node.op = op_cached_attention;
    node.own_inputs = node.inputs.size();
    PlanNode narrow = node;
    for (const std::size_t i : {1U, 2U})
      if (const PlanNode* const cast = match_.made_by(node.inputs[i], op("cast")))
        narrow.inputs[i] = cast->inputs[0];
    for (PlanNode* const form : {&narrow, &node})
      if (cached_attention(problem_of(graph_, *form))) return std::move(*form);
    return std::nullopt;
  }

  // -- cached and new keys apart ------------------------------------------------------------------
  std::optional<PlanNode> of_two_parts(const PlanNode& sum) const {
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
      node.attributes = LinearAttributes{old.scale, 0};
      node.inputs = {old.q, old.k, cached->inputs[1], old.mask, own.k, fresh->inputs[1], own.mask};
      node.outputs = sum.outputs;
      node.label = sum.label;
      return taken(std::move(node));
    }
    return std::nullopt;
  }

  /// The scores whose weights are the values `cached` and `fresh`, in this order.
  std::optional<std::pair<MaskedScores, MaskedScores>> scores_of(ValueId cached,
                                                                 ValueId fresh) const {
    const auto axis = static_cast<std::uint32_t>(shape(cached).size() - 1);
    const PlanNode* const split = match_.only_made_by(cached, op("split"));
    if (split == nullptr || match_.only_made_by(fresh, op("split")) != split ||
        split->outputs.size() != 2 || split->outputs[0] != cached ||
        std::get<SplitAttributes>(split->attributes).axis != axis)
      return std::nullopt;
    const PlanNode* const softmax = match_.only_made_by(split->inputs[0], op("softmax"));
    if (softmax == nullptr || std::get<SoftmaxAttributes>(softmax->attributes).axis != axis)
      return std::nullopt;
    const PlanNode* const both = match_.only_made_by(softmax->inputs[0], op("concat"));
    if (both == nullptr || both->inputs.size() != 2 ||
        std::get<ConcatAttributes>(both->attributes).axis != axis ||
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
        if (turn == nullptr || !swaps_last_two(*turn)) return std::nullopt;
        return MaskedScores{product->inputs[0], turn->inputs[0], add->inputs[mask], *scale};
      }
    }
    return std::nullopt;
  }

  static bool swaps_last_two(const PlanNode& turn) {
    const auto& order = std::get<TransposeAttributes>(turn.attributes).permutation;
    if (!order || order->size() < 3) return false;
    const auto rank = static_cast<std::uint32_t>(order->size());
    for (std::uint32_t i = 0; i < rank; ++i)
      if ((*order)[i] != (i + 2 < rank ? i : 2 * rank - 3 - i)) return false;
    return true;
  }

  // -- all keys in the cache ----------------------------------------------------------------------
  /// Heads that share keys are rows of one matrix in the step: `q` and `mask` get another shape.
  bool add_of_one_part(std::vector<PlanNode>& nodes, const PlanNode& product) {
    if (product.op != op("matmul")) return false;
    const PlanNode* const softmax = match_.only_made_by(product.inputs[0], op("softmax"));
    const Shape whole = shape(product.outputs[0]);  // a copy: values are added
    if (softmax == nullptr || whole.size() < 3 ||
        std::get<SoftmaxAttributes>(softmax->attributes).axis + 1 != whole.size())
      return false;
    const auto scores = masked(softmax->inputs[0]);
    if (!scores || graph_.is_constant(scores->mask) || shape(scores->q) != whole) return false;
    const ValueId keys = before_repetition(scores->k),
                  values = before_repetition(product.inputs[1]);
    Shape grouped = whole, mask = shape(scores->mask);
    if (keys != scores->k) {
      const std::size_t heads = whole.size() - 3;
      const std::uint32_t groups = shape(keys)[heads], each = whole[heads] / groups;
      grouped[heads] = groups;
      grouped[heads + 1] *= each;
      if (mask.size() != whole.size()) return false;
      if (mask[heads] != 1) {
        if (mask[heads + 1] != whole[heads + 1]) return false;
        mask[heads] = groups;
        mask[heads + 1] *= each;
      }
    }
    if (grouped[grouped.size() - 2] > most_rows_of_one_part) return false;
    std::vector<PlanNode> added;
    const auto reshaped = [&](ValueId from, const Shape& to) {
      if (shape(from) == to) return from;
      PlanValue value;
      value.descriptor = {DataType::float32, to};
      const ValueId result = graph_.add_value(std::move(value));
      added.push_back(
          unary_node(op("reshape"), ReshapeAttributes{to}, from, result, product.label));
      return result;
    };
    PlanNode node;
    node.attributes = LinearAttributes{scores->scale, 0};
    node.inputs = {reshaped(scores->q, grouped), keys, values, reshaped(scores->mask, mask)};
    node.label = product.label;
    node.outputs = product.outputs;
    if (grouped != whole) {
      PlanValue value;
      value.descriptor = {DataType::float32, grouped};
      node.outputs = {graph_.add_value(std::move(value))};
    }
    auto attention = taken(std::move(node));
    if (!attention) return false;
    const ValueId result = attention->outputs[0];
    added.push_back(*std::move(attention));
    if (grouped != whole)
      added.push_back(unary_node(op("reshape"), ReshapeAttributes{whole}, result,
                                 product.outputs[0], product.label));
    nodes.insert(nodes.end(), added.begin(), added.end());
    return true;
  }

  /// [..., groups, keys, features], if `value` repeats it for the heads of each group, as reshape,
  /// expand and reshape do; else `value`.
  ValueId before_repetition(ValueId value) const {
    const PlanNode* const joined = match_.made_by(value, op("reshape"));
    const PlanNode* const repeated =
        joined == nullptr ? nullptr : match_.made_by(joined->inputs[0], op("expand"));
    const PlanNode* const apart =
        repeated == nullptr ? nullptr : match_.made_by(repeated->inputs[0], op("reshape"));
    if (apart == nullptr) return value;
    const Shape &from = shape(apart->inputs[0]), &wide = shape(joined->inputs[0]),
                &to = shape(value);
    const std::size_t rank = to.size();
    if (rank < 3 || from.size() != rank || wide.size() != rank + 1) return value;
    Shape one = from;
    one.insert(one.begin() + static_cast<std::ptrdiff_t>(rank - 2), 1);
    Shape each = one, heads = from;
    each[rank - 2] = wide[rank - 2];
    heads[rank - 3] *= wide[rank - 2];
    return shape(repeated->inputs[0]) == one && wide == each && to == heads ? apart->inputs[0]
                                                                            : value;
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
