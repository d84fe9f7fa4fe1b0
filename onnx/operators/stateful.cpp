// Operators of models that carry a state from step to step instead of all past keys:
// LinearAttention and CausalConvWithState.
#include <array>
#include <cmath>

#include "onnx/handlers.hpp"
#include "onnx/operators/heads.hpp"

namespace polychron::onnx::detail {

namespace {

/// The rule by which a step changes the state.
struct Rule {
  bool decays = false;    ///< the state is first multiplied by exp(decay)
  bool corrects = false;  ///< the state takes the value's difference from what it says of the key
};

Rule read_rule(const Node& node) {
  const auto name = node.text("update_rule", "gated_delta");
  const Rule rule{name.starts_with("gated"), name.ends_with("delta")};
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta")
    malformed("attribute 'update_rule' is " + quote(name));
  if (rule.decays != node.has_input(4) || rule.corrects != node.has_input(5))
    malformed("update rule " + quote(name) + ": it " + (rule.decays ? "needs" : "has no") +
              " input 4, the decay, and " + (rule.corrects ? "needs" : "has no") +
              " input 5, the rate");
  return rule;
}

/// Step t of [batch, heads, steps, features].
Term at_step(const Term& x, std::uint32_t t) { return x.slice(2, t, t + 1); }

/// [batch, heads, steps, features] as [batch, heads, features, steps].
Term steps_last(const Term& x) { return x.transpose({0, 1, 3, 2}); }

/// query, key, value, past_state?, decay?, beta?: calculated in float32, step after step. The state
/// is [batch, heads, features of a key, features of a value].
void linear_attention(Node& node) {
  const auto rule = read_rule(node);
  const auto heads = unsigned_list(
      {node.integer("q_num_heads", 0), node.integer("kv_num_heads", 0)}, "a number of heads");
  if (heads[1] == 0 || heads[0] % heads[1] != 0)
    malformed(std::to_string(heads[0]) + " heads of queries for " + std::to_string(heads[1]));
  const auto read = [&](std::size_t i, std::uint32_t count) {
    return split_heads(term(node, i), count).cast(DataType::float32);
  };
  const auto query = read(0, heads[0]), key = read(1, heads[1]), value = read(2, heads[1]);
  const auto s = query.shape();
  const auto batch = s[0], steps = s[2], features = s[3], group = heads[0] / heads[1];
  std::optional<Term> decay, rate, state;
  if (rule.decays) decay = steps_last(read(4, heads[1])).exp();
  if (rule.corrects) rate = read(5, node.shape(5).back() == 1 ? 1 : heads[1]);
  if (node.has_input(3)) state = term(node, 3).cast(DataType::float32);
  const auto given = node.real("scale", 0);
  const auto scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(features));
  std::vector<Term> results;
  for (std::uint32_t t = 0; t < steps; ++t) {
    node.importer.spend(16);
    if (state && decay) state = *state * decay->slice(3, t, t + 1);
    auto taken = at_step(value, t);
    const auto now = at_step(key, t);
    if (rate) taken = (state ? taken - now.matmul(*state) : taken) * at_step(*rate, t);
    const auto written = steps_last(now) * taken;
    state = state ? *state + written : written;
    const auto asked = at_step(query, t).reshape({batch, heads[1], group, features});
    results.push_back(asked.matmul(*state).reshape({batch, heads[0], 1, value.shape()[3]}));
  }
  const auto result = merge_heads(concat(results, 2) * scale);
  node.set(result.cast(node.data_type(0)).operand(), 0, node.type(0));
  const std::size_t like = node.has_input(3) ? 3 : 0;
  if (node.wants_output(1))
    node.set(state->cast(node.data_type(like)).operand(), 1, node.type(like));
}

/// input, weight, bias?, past_state?: a convolution of each channel that sees no later steps. The
/// state has the last steps, which the next call's first steps see.
void causal_convolution(Node& node) {
  const auto activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    malformed("attribute 'activation' is " + quote(activation));
  const auto input = term(node, 0), filter = term(node, 1);
  const auto s = input.shape(), f = filter.shape();
  if (s.size() != 3 || f.size() != 3 || f[0] != s[1] || f[1] != 1)
    malformed("a filter of shape " + to_string(f) + " for an input of shape " + to_string(s));
  const auto kept = f[2] - 1;
  const bool has_past = node.has_input(3) && kept > 0;
  const auto x = has_past ? concat({term(node, 3), input}, 2) : input.pad(2, kept, 0);
  const auto length = x.shape()[2];
  if (length != std::uint64_t{s[2]} + kept)
    malformed("a state of shape " + to_string(node.shape(3)) + " for a filter of shape " +
              to_string(f));
  auto y = x.with(node.builder.conv2d(x.unsqueeze(2).operand(), filter.unsqueeze(2).operand(),
                                      {.groups = s[1]}, node.optional_operand(2), node.label()))
               .reshape(s);
  if (activation != "none") y = y * y.sigmoid();
  node.set(y.operand());
  if (kept == 0) return node.set(make_literal(node.type(0), {s[0], s[1], 0}, Buffer()), 1);
  if (node.wants_output(1)) node.set(x.slice(2, length - kept, length).operand(), 1);
}

}  // namespace

std::span<const Row> stateful_rows() noexcept {
  static constexpr std::array rows{
      Row{"CausalConvWithState", causal_convolution},
      Row{"LinearAttention", linear_attention},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
