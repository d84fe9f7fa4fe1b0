#include "kernels/attention_operands.hpp"

#include <algorithm>

#include "kernels/vectors.hpp"

namespace polychron::kernels {
namespace {

/// With fewer queries, packing the keys and values into panels would be most of the work.
constexpr std::uint32_t least_queries = 8;

/// The steps of a slot that is broadcast to heads of `head_shape`, each of `rows` x `columns`.
HeadSteps steps_for(const Slot& slot, const Shape& head_shape, std::uint32_t rows,
                    std::uint32_t columns) {
  const Shape& shape = slot.descriptor.shape;
  const auto own = steps_of(slot);
  // Counts dimensions from the last one. A missing dimension is broadcast, too.
  const auto step = [&](std::size_t from_last, std::uint32_t extent) -> std::int64_t {
    if (from_last >= shape.size()) return 0;
    const std::size_t i = shape.size() - 1 - from_last;
    return shape[i] == 1 && extent != 1 ? 0 : own[i];
  };
  HeadSteps steps{std::vector<std::int64_t>(head_shape.size()), step(1, rows), step(0, columns)};
  for (std::size_t i = 0; i < head_shape.size(); ++i)
    steps.heads[i] = step(head_shape.size() + 1 - i, head_shape[i]);
  return steps;
}

bool is_matrix_of_floats(const Slot& slot) {
  return slot.present && slot.layout == Layout::plain && slot.descriptor.shape.size() >= 2 &&
         slot.descriptor.data_type == DataType::float32;
}

}  // namespace

std::int64_t head_offset(const HeadSteps& steps, const Shape& head_shape, std::size_t head) {
  std::int64_t at = 0;
  for (std::size_t i = head_shape.size(); i-- > 0; head /= head_shape[i])
    at += static_cast<std::int64_t>(head % head_shape[i]) * steps.heads[i];
  return at;
}

std::optional<AttentionOperands> attention_operands(const Problem& problem) {
  const auto* const scale = std::get_if<LinearAttributes>(&problem.attributes);
  if (!has_fused_vectors() || problem.op != op_attention || scale == nullptr ||
      !problem.post_ops.empty())
    return std::nullopt;
  const auto& inputs = problem.inputs;
  const Slot& result = problem.outputs[0];
  const bool masked = inputs.size() > 3;
  if (!std::all_of(inputs.begin(), inputs.begin() + 3, is_matrix_of_floats) ||
      !is_matrix_of_floats(result) ||
      (masked && (!inputs[3].lies_plain() || !inputs[3].present ||
                  inputs[3].descriptor.data_type != DataType::float32)))
    return std::nullopt;
  const Shape &query = inputs[0].descriptor.shape, &key = inputs[1].descriptor.shape,
              &out = result.descriptor.shape;
  const std::uint32_t queries = out[out.size() - 2], features = query.back(), keys = key.back();
  const std::uint32_t value_features = out.back();
  AttentionOperands o{.head_shape = Shape(out.begin(), out.end() - 2),
                      .queries = queries,
                      .features = features,
                      .keys = keys,
                      .value_features = value_features,
                      .scale = static_cast<float>(scale->alpha),
                      .masked = masked,
                      .query = {},
                      .key = {},
                      .value = {},
                      .mask = {},
                      .result = {}};
  for (const std::uint32_t extent : o.head_shape) o.heads *= extent;
  o.query = steps_for(inputs[0], o.head_shape, queries, features);
  o.key = steps_for(inputs[1], o.head_shape, features, keys);
  o.value = steps_for(inputs[2], o.head_shape, keys, value_features);
  o.result = steps_for(result, o.head_shape, queries, value_features);
  if (masked) o.mask = steps_for(inputs[3], o.head_shape, queries, keys);
  const auto lies_together = [](const HeadSteps& steps) {
    return steps.row == 1 || steps.column == 1;
  };
  if (queries < least_queries || o.query.column != 1 || o.result.column != 1 ||
      !lies_together(o.key) || !lies_together(o.value))
    return std::nullopt;
  return o;
}

std::optional<CachedAttention> cached_attention(const Problem& problem) {
  const std::size_t operands = problem.inputs.size();
  if (problem.op != op_cached_attention || problem.own_inputs != operands ||
      (operands != 4 && operands != 7) || !problem.post_ops.empty() ||
      !problem.outputs[0].lies_plain())
    return std::nullopt;
  const bool halves =
      has_fused_vectors() && problem.inputs[1].descriptor.data_type == DataType::float16;
  for (std::size_t i = 0; i < operands; ++i) {
    const auto type = halves && (i == 1 || i == 2) ? DataType::float16 : DataType::float32;
    if (!problem.inputs[i].lies_plain() || problem.inputs[i].descriptor.data_type != type)
      return std::nullopt;
  }
  const auto shape = [&](std::size_t i) -> const Shape& {
    return problem.inputs[i].descriptor.shape;
  };
  const Shape& q = shape(0);
  constexpr std::uint32_t unit = 16;  // floats of the longest vector
  if (q.size() < 3 || q.back() % unit != 0 || problem.outputs[0].descriptor.shape != q)
    return std::nullopt;
  const std::size_t in_keys = q.size() - 2;  // the dimension
  CachedAttention a{.group_shape = Shape(q.begin(), q.end() - 2),
                    .rows = q[in_keys],
                    .features = q.back(),
                    .cached = 0,
                    .fresh = 0,
                    .halves = halves,
                    .scale = 1,
                    .mask = {},
                    .fresh_mask = {}};
  for (const std::uint32_t extent : a.group_shape) a.groups *= extent;
  // The number of keys of three operands from `first` on: keys, values, mask; 0 if they do not fit.
  const auto keys_of = [&](std::size_t first, HeadSteps& steps) -> std::uint32_t {
    Shape fits = shape(first), scores = q;
    if (fits.size() != q.size()) return 0;
    const std::uint32_t keys = scores.back() = fits[in_keys];
    fits[in_keys] = q[in_keys];
    const Shape& mask = shape(first + 2);
    if (fits != q || shape(first + 1) != shape(first) || mask.empty() || mask.back() != keys ||
        mask.size() > q.size())
      return 0;
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (mask[i] != 1 && mask[i] != scores[q.size() - mask.size() + i]) return 0;
    steps = steps_for(problem.inputs[first + 2], a.group_shape, static_cast<std::uint32_t>(a.rows),
                      keys);
    return keys;
  };
  a.cached = keys_of(1, a.mask);
  if (operands > 4) a.fresh = keys_of(4, a.fresh_mask);
  if (a.cached == 0 || (operands > 4 && a.fresh == 0)) return std::nullopt;
  a.scale = static_cast<float>(std::get<LinearAttributes>(problem.attributes).alpha);
  return a;
}

}  // namespace polychron::kernels
