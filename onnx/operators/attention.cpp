// ONNX Runtime's attention operators, of the domain com.microsoft, as its optimizer and the
// exporters of language models write them.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <array>
#include <cmath>

#include "onnx/handlers.hpp"
#include "onnx/operators/heads.hpp"
#include "onnx/operators/iota.hpp"
#include "onnx/operators/quantized.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr double default_mask_value = -10000;

void refuse_input(const Node& node, std::size_t i, const char* name) {
  if (node.has_input(i)) unsupported("input '" + std::string(name) + "'");
}

/// Refuses an attribute unless it has its default.
void refuse_attribute(const Node& node, const char* name, std::int64_t expected = 0) {
  const auto value = node.integer(name, expected);
  if (value != expected)
    unsupported("attribute '" + std::string(name) + "' of " + std::to_string(value));
}

/// 0 or absent: 1 / sqrt(features).
double scale_of(const Node& node, const Term& query) {
  const auto given = node.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(query.shape().back()));
}

/// Keys up to the query's own position; the last query has the last position.
Term causal_mask(const Term& like, std::uint32_t queries, std::uint32_t keys) {
  if (keys < queries) malformed(std::to_string(keys) + " keys for " + std::to_string(queries));
  auto& node = like.node();
  const auto row = iota(node, DataType::int32, 4, 2, queries) + (double{1} * (keys - queries));
  return mask_of(iota(node, DataType::int32, 4, 3, keys) <= row, lowest(like.data_type()), like);
}

/// The mask of valid keys. The input has their number in each sequence, or also their starts, or 1
/// or 0 for each key, or for each query and key.
std::optional<Term> key_mask(Node& node, std::size_t i, const Term& like, std::uint32_t queries,
                             std::uint32_t keys) {
  if (!node.has_input(i)) return std::nullopt;
  const auto given = term(node, i).cast(DataType::int32);
  const auto shape = given.shape();
  const auto batch = like.shape()[0];
  const auto value = node.real("mask_filter_value", default_mask_value);
  if (shape == Shape{batch, keys})
    return mask_of(given.reshape({batch, 1, 1, keys}) > 0, value, like);
  if (shape == Shape{batch, queries, keys})
    return mask_of(given.reshape({batch, 1, queries, keys}) > 0, value, like);
  if (shape != Shape{batch} && shape != Shape{2 * batch})
    unsupported("a mask of shape " + to_string(shape));
  const auto position = iota(node, DataType::int32, 4, 3, keys);
  auto kept = position < given.slice(0, 0, batch).reshape({batch, 1, 1, 1});
  if (shape != Shape{batch})
    kept = kept && position >= given.slice(0, batch, 2 * batch).reshape({batch, 1, 1, 1});
  return mask_of(kept, value, like);
}

struct Operands {
  Term query, key, value;  ///< [batch, heads, steps, features]
};

/// Masks of all kinds, then the attention.
void finish(Node& node, const Operands& o, std::size_t key_mask_input, std::size_t bias_input) {
  const auto queries = o.query.shape()[2], keys = o.key.shape()[2];
  auto mask =
      both(key_mask(node, key_mask_input, o.query, queries, keys), optional_term(node, bias_input));
  if (node.integer("unidirectional", 0) != 0)
    mask = both(mask, causal_mask(o.query, queries, keys));
  node.set(merge_heads(attend(o.query, o.key, o.value, scale_of(node, o.query), mask)).operand());
}

/// input, weights, bias?, mask_index?, past?, attention_bias?, past_sequence_length?
void attention(Node& node) {
  refuse_input(node, 6, "past_sequence_length");
  refuse_attribute(node, "do_rotary");
  refuse_attribute(node, "past_present_share_buffer");
  auto projected = term(node, 0).matmul(term(node, 1));
  if (node.has_input(2)) projected = projected + term(node, 2);
  const auto width = projected.shape().back();
  const auto third = static_cast<std::int64_t>(width / 3);
  const auto sizes = unsigned_list(
      node.integer_list("qkv_hidden_sizes").value_or(std::vector<std::int64_t>(3, third)),
      "attribute 'qkv_hidden_sizes'");
  if (projected.rank() != 3 || sizes.size() != 3 ||
      std::uint64_t{sizes[0]} + sizes[1] + sizes[2] != width)
    malformed("weights of shape " + to_string(node.shape(1)));
  const auto heads = heads_of(node, "num_heads");
  const auto part = [&](std::uint32_t begin, std::uint32_t size) {
    return split_heads(projected.slice(2, begin, begin + size), heads);
  };
  Operands o{part(0, sizes[0]), part(sizes[0], sizes[1]), part(sizes[0] + sizes[1], sizes[2])};
  if (node.has_input(4) && node.shape(4)[3] != 0) {
    const auto past = term(node, 4);
    o.key = concat({past.at(0, 0), o.key}, 2);
    o.value = concat({past.at(0, 1), o.value}, 2);
  }
  if (node.wants_output(1))
    node.set(concat({o.key.unsqueeze(0), o.value.unsqueeze(0)}, 0).operand(), 1);
  finish(node, o, 3, 5);
}

/// Query, key and value of MultiHeadAttention.
Operands read_operands(Node& node, std::uint32_t heads) {
  std::uint32_t begin = 0;
  const auto with_bias = [&](Term x) {
    if (node.has_input(3)) {
      const auto end = begin + x.shape().back();
      x = x + term(node, 3).slice(0, begin, end);
      begin = end;
    }
    return split_heads(x, heads);
  };
  /// Part `i` of an input that packs `parts`: [batch, steps, heads, parts, features].
  const auto packed = [&](std::size_t input, std::uint32_t parts, std::uint32_t i) {
    const auto& s = node.shape(input);
    if (s.size() != 5 || s[2] != heads || s[3] != parts)
      malformed("input " + std::to_string(input) + " of shape " + to_string(s) +
                ": expected [batch, steps, heads, " + std::to_string(parts) + ", features]");
    return with_bias(term(node, input).at(3, i).reshape({s[0], s[1], heads * s[4]}));
  };
  if (!node.has_input(1)) {
    auto query = packed(0, 3, 0), key = packed(0, 3, 1);
    return {std::move(query), std::move(key), packed(0, 3, 2)};
  }
  const auto query = term(node, 0), key = term(node, 1);
  if (!node.has_input(2)) {
    auto own = with_bias(query), keys = packed(1, 2, 0);
    return {std::move(own), std::move(keys), packed(1, 2, 1)};
  }
  if (key.rank() == 3) return {with_bias(query), with_bias(key), with_bias(term(node, 2))};
  // Keys and values are already calculated, and include the bias.
  return {with_bias(query), key, term(node, 2)};
}

/// query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?, past_value?,
/// past_sequence_length?, cache_indirection?
void multi_head_attention(Node& node) {
  refuse_input(node, 8, "past_sequence_length");
  refuse_input(node, 9, "cache_indirection");
  node.refuse_output(3, "qk");
  auto o = read_operands(node, heads_of(node, "num_heads"));
  o.key = after(node, 6, o.key);
  o.value = after(node, 7, o.value);
  if (node.wants_output(1)) node.set(o.key.operand(), 1);
  if (node.wants_output(2)) node.set(o.value.operand(), 2);
  finish(node, o, 4, 5);
}

/// Rows of a table of cosines or sines, for positions [batch, steps] or [steps]: [batch or 1, 1,
/// steps, ...].
Term rows_at(const Term& table, const Term& positions) {
  const auto rows = table.gather(positions, 0);
  return positions.rank() == 1 ? rows.unsqueeze(0).unsqueeze(0) : rows.unsqueeze(1);
}

/// input, position_ids, cos_cache, sin_cache
void rotary_embedding(Node& node) {
  refuse_attribute(node, "is_packed_batching");
  if (node.real("scale", 1) != 1) unsupported("attribute 'scale'");
  const auto input = term(node, 0);
  const auto cosines = term(node, 2), sines = term(node, 3);
  auto x = input;
  if (input.rank() == 3) {
    auto heads = heads_of(node, "num_heads");
    if (heads == 0) heads = input.shape().back() / std::max(1U, 2 * cosines.shape().back());
    x = split_heads(input, heads);
  }
  auto positions = term(node, 1);
  if (count(positions.shape()) == 1)  // that of the first step
    positions = iota(node, positions.data_type(), 1, 0, x.shape()[2]) + positions.reshape({});
  const auto result = rotated(x, rows_at(cosines, positions), rows_at(sines, positions),
                              node.integer("interleaved", 0) != 0);
  node.set((input.rank() == 3 ? merge_heads(result) : result).operand());
}

/// The keys of GroupQueryAttention: the first of the past, as many as `known`, then the new ones.
struct Positions {
  std::uint32_t past, keys, queries;
  bool past_is_full;  ///< all of the past is known to count
  Term known;         ///< steps of the past that count: [batch, 1, 1, 1]
  Term queried;       ///< position of each query: [batch, 1, queries, 1]
};

/// The number of present keys. A buffer has room for the new steps in the past, and keeps its
/// length; otherwise it grows by them. A total that is not known yet means that it grows.
std::uint32_t keys_of(const Node& node, std::uint32_t past, std::uint32_t queries) {
  if (!node.literal(6)) return past + queries;
  const auto total = node.integers(6);
  if (total.size() != 1) malformed("the total length must be a scalar");
  if (total.front() == std::int64_t{past} + queries) return past + queries;
  if (total.front() <= past) return past;
  malformed("a total length of " + std::to_string(total.front()) + " for " + std::to_string(past) +
            " past and " + std::to_string(queries) +
            " new steps: expected their sum, or at most the past's length");
}

Positions read_positions(Node& node, std::uint32_t past, std::uint32_t queries) {
  const auto last = term(node, 5).cast(DataType::int32);
  const auto batch = static_cast<std::uint32_t>(count(last.shape()));
  const auto known = (last.reshape({batch, 1, 1, 1}) + (1.0 - queries)).max(0);
  const auto keys = keys_of(node, past, queries);
  return {past,    keys,
          queries, batch == 1 && node.literal(6) && keys > past,
          known,   known + iota(node, DataType::int32, 4, 2, queries)};
}

/// The present keys or values.
Term present(Node& node, std::size_t input, const Term& now, const Positions& p) {
  if (p.past == 0) return now;
  const auto old = term(node, input);
  if (p.past_is_full) return concat({old, now}, 2);
  const Shape places = now.shape().with(3, 1);
  const auto along = [&](std::uint32_t axis) {
    return iota(node, DataType::int32, 4, axis, places[axis]).expand(places);
  };
  const auto indices = concat({along(0), along(1), p.queried.expand(places)}, 3);
  const auto longer = old.pad(2, 0, p.keys - p.past);
  return longer.with(
      node.builder.scatter_nd(longer.operand(), indices.operand(), now.operand(), node.label()));
}

/// `kept`, and within the window in front of a query.
Term in_window(const Node& node, const Term& kept, const Term& position, const Term& queried) {
  const auto window = node.integer("local_window_size", -1);
  return window > 0 ? kept && position > queried - static_cast<double>(window) : kept;
}

/// The keys that a query sees: those up to its own position.
Term visible(Node& node, const Positions& p, const Term& like) {
  const auto position = iota(node, DataType::int32, 4, 3, p.keys);
  const auto kept = in_window(node, position <= p.queried, position, p.queried);
  return mask_of(kept, lowest(like.data_type()), like);
}

/// The attention to the past and to the new steps, which need not be put together for it.
Term attend_in_parts(Node& node, const Operands& o, const Positions& p) {
  const auto heads = o.query.shape()[1], groups = o.key.shape()[1];
  const auto masked = [&](const Term& kept) {
    return mask_by_group(mask_of(kept, -INFINITY, o.query), heads, groups, p.queries);
  };
  const auto place = iota(node, DataType::int32, 4, 3, p.past);
  const auto old = in_window(node, place < p.known, place, p.queried);
  const auto row = iota(node, DataType::int32, 4, 2, p.queries),
             column = iota(node, DataType::int32, 4, 3, p.queries);
  const auto own = in_window(node, column <= row, column, row);
  return attend(by_group(o.query, groups), {term(node, 3), term(node, 4), masked(old)},
                {o.key, o.value, masked(own)}, scale_of(node, o.query))
      .reshape(o.query.shape());
}

/// query, key?, value?, past_key?, past_value?, seqlens_k, total_sequence_length, cos_cache?,
/// sin_cache?, position_ids?, attention_bias?, head_sink?
void group_query_attention(Node& node) {
  refuse_input(node, 11, "head_sink");
  for (const char* name : {"smooth_softmax", "qk_output"}) refuse_attribute(node, name);
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (const auto type = node.text(name, "NONE"); type != "NONE")
      unsupported("attribute '" + std::string(name) + "' of " + quote(type));
  node.refuse_output(3, "output_qk");
  const auto heads = heads_of(node, "num_heads"), groups = heads_of(node, "kv_num_heads");
  if (groups == 0 || heads % groups != 0)
    malformed(std::to_string(heads) + " heads of queries for " + std::to_string(groups));
  const auto given = term(node, 0);
  const bool packed = !node.has_input(1);
  const auto features = given.shape().back() / std::max(1U, packed ? heads + 2 * groups : heads);
  const auto part = [&](std::uint32_t begin, std::uint32_t count) {
    return split_heads(given.slice(2, begin * features, (begin + count) * features), count);
  };
  Operands o{packed ? part(0, heads) : split_heads(given, heads),
             packed ? part(heads, groups) : split_heads(term(node, 1), groups),
             packed ? part(heads + groups, groups) : split_heads(term(node, 2), groups)};
  const auto past = node.has_input(3) ? node.shape(3)[2] : 0;
  const auto positions = read_positions(node, past, o.query.shape()[2]);
  const auto batch = o.query.shape()[0], queries = positions.queries;
  if (positions.known.shape() != Shape{batch, 1, 1, 1})
    malformed("lengths of shape " + to_string(node.shape(5)) + " for a batch of " +
              std::to_string(batch));
  if (node.integer("do_rotary", 0) != 0) {
    const auto at = node.has_input(9) ? term(node, 9) : positions.queried.reshape({batch, queries});
    const auto cosines = rows_at(term(node, 7), at), sines = rows_at(term(node, 8), at);
    const bool interleaved = node.integer("rotary_interleaved", 0) != 0;
    o.query = rotated(o.query, cosines, sines, interleaved);
    o.key = rotated(o.key, cosines, sines, interleaved);
  }
  if (node.real("softcap", 0) != 0) unsupported("attribute 'softcap'");
  const auto fresh = o;
  o.key = present(node, 3, o.key, positions);
  o.value = present(node, 4, o.value, positions);
  node.set_present(o.key.operand(), fresh.key.operand(), 1);
  node.set_present(o.value.operand(), fresh.value.operand(), 2);
  if (past > 0 && !node.has_input(10))
    return node.set(merge_heads(attend_in_parts(node, fresh, positions)).operand());
  auto mask = visible(node, positions, o.query);
  if (node.has_input(10)) mask = mask + term(node, 10);
  const auto result = attend(by_group(o.query, groups), o.key, o.value, scale_of(node, o.query),
                             mask_by_group(mask, heads, groups, queries));
  node.set(merge_heads(result.reshape({batch, heads, queries, o.value.shape().back()})).operand());
}

}  // namespace

std::span<const Row> attention_rows() noexcept {
  static constexpr std::array rows{
      Row{"com.microsoft:Attention", attention},
      Row{"com.microsoft:GroupQueryAttention", group_query_attention},
      Row{"com.microsoft:MultiHeadAttention", multi_head_attention},
      Row{"com.microsoft:RotaryEmbedding", rotary_embedding},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
