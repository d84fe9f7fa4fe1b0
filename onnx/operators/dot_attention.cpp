// ONNX's own attention operators: Attention, FlexAttention and RotaryEmbedding.
#include <array>
#include <cmath>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/assemble.hpp"
#include "onnx/operators/heads.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

struct Attended {
  Term query, key, value;  ///< [batch, heads, steps, features]; key and value may have fewer heads
};

void check_shapes(const Attended& o) {
  const auto q = o.query.shape(), k = o.key.shape(), v = o.value.shape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[3] != k[3] || k[2] != v[2] ||
      k[1] != v[1] || q[1] % k[1] != 0)
    malformed("a query of shape " + to_string(q) + " for a key of shape " + to_string(k) +
              " and a value of shape " + to_string(v));
}

/// [batch, heads, queries, keys]
Term scores_of(const Attended& o, double scale) {
  const auto s = o.query.shape();
  const auto product = by_group(o.query, o.key.shape()[1]).matmul(o.key.transpose({0, 1, 3, 2}));
  return product.reshape({s[0], s[1], s[2], o.key.shape()[2]}) * scale;
}

/// [batch, heads, queries, features of a value]
Term values_of(const Term& probabilities, const Attended& o) {
  const auto s = o.query.shape();
  const auto product = by_group(probabilities, o.value.shape()[1]).matmul(o.value);
  return product.reshape({s[0], s[1], s[2], o.value.shape()[3]});
}

Term softmax(const Term& x) {
  return x.with(x.node().builder.softmax(x.operand(), 3, x.node().label()));
}

double given_scale(const Node& node, const Attended& o) {
  if (node.has_attribute("scale")) return node.real("scale", 0);
  return 1 / std::sqrt(static_cast<double>(o.query.shape()[3]));
}

/// The type of the softmax that the node names, or `otherwise`.
DataType softmax_type(const Node& node, DataType otherwise) {
  const auto named = node.integer("softmax_precision", 0);
  if (named == 0) return otherwise;
  const auto type = static_cast<ElementType>(named);
  if (!is_real(type)) malformed("attribute 'softmax_precision' is " + std::to_string(named));
  return *operand_type(type);
}

// -- Attention ------------------------------------------------------------------------------------

/// Without the past.
Attended read_attended(Node& node) {
  const auto input = [&](std::size_t i) {
    const auto x = term(node, i);
    return x.rank() == 3 ? split_heads(x, heads_of(node, i == 0 ? "q_num_heads" : "kv_num_heads"))
                         : x;
  };
  const auto query = input(0), key = input(1);
  return {query, key, input(2)};
}

/// A mask with the rank of the scores. Since opset 24 it may have fewer keys: `otherwise` for those
/// that it leaves out.
Term whole_mask(const Term& mask, std::uint32_t keys, double otherwise) {
  const auto given = mask.shape();
  if (given.empty() || given.size() > 4 || given.back() > keys)
    malformed("a mask of shape " + to_string(given) + " for " + std::to_string(keys) + " keys");
  Shape shape(4 - given.size(), 1);
  shape.insert(shape.end(), given.begin(), given.end());
  const auto missing = mask.node().opset < 24 ? 0 : keys - given.back();
  return mask.reshape(shape).pad(3, 0, missing, otherwise);
}

std::optional<Term> all_of(const std::optional<Term>& a, const std::optional<Term>& b) {
  if (!a || !b) return a ? a : b;
  return *a && *b;
}

/// A window's size in int32, in which sums of it and a position do not overflow.
double reach(std::int64_t size) { return std::min(static_cast<double>(size), 0x1p30); }

/// The steps of the past.
std::uint32_t past_of(const Node& node) { return node.has_input(4) ? node.shape(4)[2] : 0; }

/// The keys that a query may see by its position and by their number, if anything limits them.
/// Positions count from the first key.
std::optional<Term> near_keys(Node& node, const Attended& o) {
  const auto queries = o.query.shape()[2], keys = o.key.shape()[2];
  const auto left = node.integer("left_window_size", -1);
  const auto right = node.integer("right_window_size", -1);
  if (left < -1 || right < -1) malformed("a window of " + std::to_string(std::min(left, right)));
  const auto key = iota(node, DataType::int32, 4, 3, keys);
  auto position = iota(node, DataType::int32, 4, 2, queries) + static_cast<double>(past_of(node));
  std::optional<Term> kept;
  if (node.has_input(6)) {
    const auto valid = term(node, 6).cast(DataType::int32).reshape({o.query.shape()[0], 1, 1, 1});
    kept = key < valid;
    position = position + (valid - static_cast<double>(queries));
  }
  if (node.integer("is_causal", 0) != 0) kept = all_of(kept, key <= position);
  if (left >= 0) kept = all_of(kept, key >= position - reach(left));
  if (right >= 0) kept = all_of(kept, key <= position + reach(right));
  return kept;
}

/// The bias of all masks together. A key that is not seen has -infinity.
std::optional<Term> bias_of(Node& node, const Attended& o) {
  const auto keys = o.key.shape()[2];
  auto kept = near_keys(node, o);
  std::optional<Term> added;
  if (node.has_input(3)) {
    const bool chooses = node.type(3) == ElementType::boolean;
    const auto mask = whole_mask(term(node, 3), keys, chooses ? 0 : -INFINITY);
    if (chooses)
      kept = all_of(kept, mask);
    else
      added = mask.cast(o.query.data_type());
  }
  return both(added, kept ? std::optional(mask_of(*kept, -INFINITY, o.query)) : std::nullopt);
}

/// True if each query sees a key, whatever the inputs' values: a softmax of no key is NaN.
bool sees_always(const Node& node, const Attended& o) {
  if (node.has_input(3) || node.has_input(6)) return false;
  const auto last = std::uint64_t{past_of(node)} + o.query.shape()[2];
  return node.integer("left_window_size", -1) < 0 || last <= o.key.shape()[2];
}

/// The attention to the past and to `fresh` steps, which need not be put together for it. `bias` is
/// that of all keys.
Term attend_past(Node& node, const Attended& fresh, const std::optional<Term>& bias) {
  const auto heads = fresh.query.shape()[1], groups = fresh.key.shape()[1],
             queries = fresh.query.shape()[2], past = past_of(node),
             keys = past + fresh.key.shape()[2];
  const auto number = bias ? *bias : fresh.query.number(0).reshape({1, 1, 1, 1});
  const auto all =
      mask_by_group(number.expand(number.shape().with(3, keys)), heads, groups, queries);
  return attend(by_group(fresh.query, groups),
                {term(node, 4), term(node, 5), all.slice(3, 0, past)},
                {fresh.key, fresh.value, all.slice(3, past, keys)}, given_scale(node, fresh))
      .reshape(fresh.query.shape());
}

/// True if nothing needs the scores, and all of the past has as many features as the new steps.
bool works_in_parts(const Node& node, const Attended& fresh) {
  return past_of(node) > 0 && !node.wants_output(3) && node.real("softcap", 0) == 0 &&
         softmax_type(node, fresh.query.data_type()) == fresh.query.data_type() &&
         fresh.value.shape() == fresh.key.shape();
}

/// Q, K, V, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen?
void scaled_attention(Node& node) {
  if (node.has_input(4) != node.has_input(5)) malformed("one of two past inputs is missing");
  if (node.has_input(4) && node.has_input(6))
    malformed("input 6 is for keys without a past, of which input 4 has one");
  const auto fresh = read_attended(node);
  const Attended o{fresh.query, after(node, 4, fresh.key), after(node, 5, fresh.value)};
  check_shapes(o);
  // Outputs are results of operators, which a key of heads may not be.
  const auto show_present = [&](std::size_t i, const Term& whole, const Term& x) {
    if (!node.wants_output(i)) return;
    const auto now =
        node.rank(i) == 4 ? node.builder.identity(x.operand(), node.label()) : x.operand();
    node.set_present(past_of(node) > 0 ? whole.operand() : now, now, i);
  };
  show_present(1, o.key, fresh.key);
  show_present(2, o.value, fresh.value);
  const auto mode = node.integer("qk_matmul_output_mode", 0);
  const auto show = [&](std::int64_t stage, const Term& x) {
    if (mode == stage && node.wants_output(3))
      node.set(x.cast(o.query.data_type()).operand(), 3, node.type(0));
  };
  const auto bias = bias_of(node, o);
  std::optional<Term> blind;  // queries that see no key
  if (bias && !sees_always(node, o))
    blind = bias->reduce(&GraphBuilder::reduce_max, {3}, true) == -INFINITY;
  const auto give = [&](const Term& attended) {
    const auto result = blind ? blind->choose(attended.number(0), attended) : attended;
    node.set((node.rank(0) == 3 ? merge_heads(result) : result).operand());
  };
  if (works_in_parts(node, fresh)) return give(attend_past(node, fresh, bias));
  auto scores = scores_of(o, given_scale(node, o));
  show(0, scores);
  if (const auto cap = node.real("softcap", 0); cap != 0) scores = (scores / cap).tanh() * cap;
  show(1, scores);
  if (bias) scores = scores + *bias;
  show(2, scores);
  const auto type = softmax_type(node, scores.data_type());
  auto probabilities = softmax(scores.cast(type)).cast(o.query.data_type());
  const auto result = values_of(probabilities, o);
  if (blind && mode == 3) probabilities = blind->choose(result.number(0), probabilities);
  show(3, probabilities);
  give(result);
}

// -- FlexAttention --------------------------------------------------------------------------------

/// `x` changed by the graph of an attribute, if there is one.
Term modified(Node& node, const char* name, const Term& x) {
  if (!node.has_attribute(name)) return x;
  const auto results = node.add_graph(node.graph(name), {Tensor::of(x.operand())});
  if (results.size() != 1) malformed("attribute '" + std::string(name) + "' has other outputs");
  const auto y = term_of(node, results.front());
  if (y.shape() != x.shape() || y.data_type() != x.data_type())
    malformed("attribute '" + std::string(name) + "' makes " + to_string(y.shape()) + " of " +
              to_string(x.shape()));
  return y;
}

/// Q, K, V
void flex_attention(Node& node) {
  const Attended o{term(node, 0), term(node, 1), term(node, 2)};
  check_shapes(o);
  const auto type = softmax_type(node, DataType::float32);
  const auto scores = modified(node, "score_mod", scores_of(o, given_scale(node, o)).cast(type));
  const auto probabilities = modified(node, "prob_mod", softmax(scores));
  node.set(values_of(probabilities.cast(o.value.data_type()), o).operand());
}

// -- RotaryEmbedding ------------------------------------------------------------------------------

/// X, cos_cache, sin_cache, position_ids?: without these the caches have a row for each step.
void rotary(Node& node) {
  const auto input = term(node, 0);
  const auto x = input.rank() == 3 ? split_heads(input, heads_of(node, "num_heads")) : input;
  const auto rows = [&](std::size_t i) {
    const auto cache = term(node, i);
    return (node.has_input(3) ? cache.gather(term(node, 3), 0) : cache).unsqueeze(1);
  };
  const auto cosines = rows(1), sines = rows(2);
  const auto turned = node.integer("rotary_embedding_dim", 0);
  if (turned != 0 && turned != std::int64_t{2} * cosines.shape().back())
    malformed("attribute 'rotary_embedding_dim' is " + std::to_string(turned) +
              " for angles of shape " + to_string(node.shape(1)));
  const auto result = rotated(x, cosines, sines, node.integer("interleaved", 0) != 0);
  node.set((input.rank() == 3 ? merge_heads(result) : result).operand());
}

}  // namespace

std::span<const Row> dot_attention_rows() noexcept {
  static constexpr std::array rows{
      Row{"Attention", scaled_attention},
      Row{"RotaryEmbedding", rotary},
      Row{"ai.onnx.preview:FlexAttention", flex_attention},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
