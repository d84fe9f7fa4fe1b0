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

/// [batch, heads, queries, n] as [batch, groups, rows, n]: the heads of queries that share a head
/// of keys become rows of one matrix.
Term by_group(const Term& x, const Term& key) {
  const auto s = x.shape();
  const auto groups = key.shape()[1];
  return x.reshape({s[0], groups, s[1] / groups * s[2], s[3]});
}

/// [batch, heads, queries, keys]
Term scores_of(const Attended& o, double scale) {
  const auto s = o.query.shape();
  const auto product = by_group(o.query, o.key).matmul(o.key.transpose({0, 1, 3, 2}));
  return product.reshape({s[0], s[1], s[2], o.key.shape()[2]}) * scale;
}

/// [batch, heads, queries, features of a value]
Term values_of(const Term& probabilities, const Attended& o) {
  const auto s = o.query.shape();
  const auto product = by_group(probabilities, o.value).matmul(o.value);
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

Attended read_attended(Node& node) {
  const auto input = [&](std::size_t i) {
    const auto x = term(node, i);
    return x.rank() == 3 ? split_heads(x, heads_of(node, i == 0 ? "q_num_heads" : "kv_num_heads"))
                         : x;
  };
  const auto key = input(1);
  return {input(0), after(node, 4, key), after(node, 5, input(2))};
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

/// Q, K, V, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen?
void scaled_attention(Node& node) {
  if (node.has_input(4) != node.has_input(5)) malformed("one of two past inputs is missing");
  if (node.has_input(4) && node.has_input(6))
    malformed("input 6 is for keys without a past, of which input 4 has one");
  const auto o = read_attended(node);
  check_shapes(o);
  if (node.wants_output(1)) node.set(o.key.operand(), 1);
  if (node.wants_output(2)) node.set(o.value.operand(), 2);
  const auto mode = node.integer("qk_matmul_output_mode", 0);
  const auto show = [&](std::int64_t stage, const Term& x) {
    if (mode == stage && node.wants_output(3))
      node.set(x.cast(o.query.data_type()).operand(), 3, node.type(0));
  };
  auto scores = scores_of(o, given_scale(node, o));
  show(0, scores);
  if (const auto cap = node.real("softcap", 0); cap != 0) scores = (scores / cap).tanh() * cap;
  show(1, scores);
  const auto bias = bias_of(node, o);
  if (bias) scores = scores + *bias;
  show(2, scores);
  const auto type = softmax_type(node, scores.data_type());
  auto probabilities = softmax(scores.cast(type)).cast(o.query.data_type());
  auto result = values_of(probabilities, o);
  if (bias && !sees_always(node, o)) {
    const auto blind = bias->reduce(&GraphBuilder::reduce_max, {3}, true) == -INFINITY;
    result = blind.choose(result.number(0), result);
    if (mode == 3) probabilities = blind.choose(result.number(0), probabilities);
  }
  show(3, probabilities);
  node.set((node.rank(0) == 3 ? merge_heads(result) : result).operand());
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
