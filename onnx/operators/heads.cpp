#include "onnx/operators/heads.hpp"

namespace polychron::onnx::detail {

std::uint32_t heads_of(const Node& node, const char* name) {
  return unsigned_list({node.integer(name, 0)}, name).front();
}

Term split_heads(const Term& x, std::uint32_t heads) {
  const auto shape = x.shape();
  if (shape.size() != 3 || heads == 0 || shape[2] % heads != 0)
    malformed(std::to_string(heads) + " heads of a tensor of shape " + to_string(shape));
  return x.reshape({shape[0], shape[1], heads, shape[2] / heads}).transpose({0, 2, 1, 3});
}

Term merge_heads(const Term& x) {
  const auto s = x.shape();
  return x.transpose({0, 2, 1, 3}).reshape({s[0], s[2], s[1] * s[3]});
}

Term after(Node& node, std::size_t past, const Term& now) {
  if (!node.has_input(past) || node.shape(past)[2] == 0) return now;
  return concat({term(node, past), now}, 2);
}

Term attend(const Term& query, const Term& key, const Term& value, double scale,
            const std::optional<Term>& mask) {
  auto scores = query.matmul(key.transpose({0, 1, 3, 2})) * scale;
  if (mask) scores = scores + *mask;
  auto& node = query.node();
  return query.with(node.builder.softmax(scores.operand(), 3, node.label())).matmul(value);
}

Term attend(const Term& query, const MaskedKeys& cached, const MaskedKeys& fresh, double scale) {
  auto& node = query.node();
  const auto scores = [&](const MaskedKeys& keys) {
    return query.matmul(keys.key.transpose({0, 1, 3, 2})) * scale + keys.mask;
  };
  const auto all = concat({scores(cached), scores(fresh)}, 3);
  const auto weights = node.builder.softmax(all.operand(), 3, node.label());
  const auto parts =
      node.builder.split(weights, {cached.key.shape()[2], fresh.key.shape()[2]}, 3, node.label());
  return query.with(parts[0]).matmul(cached.value) + query.with(parts[1]).matmul(fresh.value);
}

Term by_group(const Term& x, std::uint32_t groups) {
  const auto s = x.shape();
  return x.reshape({s[0], groups, s[1] / groups * s[2], s[3]});
}

Term mask_by_group(const Term& mask, std::uint32_t heads, std::uint32_t groups,
                   std::uint32_t queries) {
  const auto m = mask.shape();
  if (m[1] != 1) return by_group(mask.expand({m[0], heads, queries, m[3]}), groups);
  if (m[2] == 1 || heads == groups) return mask;
  const Shape each{m[0], 1, heads / groups, queries, m[3]};
  return mask.unsqueeze(2).expand(each).reshape({m[0], 1, heads / groups * queries, m[3]});
}

Term mask_of(const Term& kept, double otherwise, const Term& like) {
  return kept.choose(like.number(0), like.number(otherwise));
}

double lowest(DataType type) noexcept {
  return type == DataType::float16 ? -65504 : -0x1.fffffep127;
}

std::optional<Term> both(const std::optional<Term>& a, const std::optional<Term>& b) {
  if (!a || !b) return a ? a : b;
  return *a + *b;
}

Term rotated(const Term& x, const Term& cosines, const Term& sines, bool interleaved) {
  const auto features = x.shape().back();
  const auto half = cosines.shape().back(), turned = 2 * half;
  if (x.rank() != 4 || turned > features)
    malformed("angles of shape " + to_string(cosines.shape()) + " for " + to_string(x.shape()));
  const auto a = interleaved ? x.slice(3, 0, turned, 2) : x.slice(3, 0, half);
  const auto b = interleaved ? x.slice(3, 1, turned, 2) : x.slice(3, half, turned);
  const auto first = a * cosines - b * sines, second = a * sines + b * cosines;
  auto result =
      concat({first.unsqueeze(interleaved ? 4 : 3), second.unsqueeze(interleaved ? 4 : 3)},
             interleaved ? 4 : 3)
          .reshape(x.shape().with(3, turned));
  return turned == features ? result : concat({result, x.slice(3, turned, features)}, 3);
}

}  // namespace polychron::onnx::detail
