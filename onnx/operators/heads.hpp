// Attention as a few operators, for the attention operators of several domains.
#pragma once

#include <optional>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// The number of heads in an attribute; 0 if it is absent.
std::uint32_t heads_of(const Node& node, const char* name);
/// [batch, steps, heads * features] as [batch, heads, steps, features]. Throws if the last
/// dimension is not a multiple of `heads`.
Term split_heads(const Term& x, std::uint32_t heads);
/// The reverse of split_heads().
Term merge_heads(const Term& x);

/// `now` [batch, heads, steps, features] appended to the past steps of an input, if there are any.
Term after(Node& node, std::size_t past, const Term& now);

/// softmax(scale * query key + mask) value: [batch, heads, queries, features], [..., keys,
/// features], [..., keys, value features]. The mask broadcasts to [batch, heads, queries, keys].
Term attend(const Term& query, const Term& key, const Term& value, double scale,
            const std::optional<Term>& mask);

/// Keys and values [batch, groups, steps, features], and a mask that broadcasts to [batch, groups,
/// rows, steps].
struct MaskedKeys {
  Term key, value, mask;
};
/// softmax(scale * query [cached fresh keys] + [masks]) [cached; fresh values]: [batch, groups,
/// rows, features], like `query`. Written so that the compiler of graphs makes one step of it,
/// which does not read the unused part of a cache.
Term attend(const Term& query, const MaskedKeys& cached, const MaskedKeys& fresh, double scale);

/// [batch, heads, steps, n] as [batch, groups, rows, n]: the heads of a group are rows of one
/// matrix.
Term by_group(const Term& x, std::uint32_t groups);
/// The mask of `queries` queries, which broadcasts to [batch, heads, queries, keys], for rows.
Term mask_by_group(const Term& mask, std::uint32_t heads, std::uint32_t groups,
                   std::uint32_t queries);

/// 0 where `kept` is not 0, else `otherwise`: a mask to be added, of `like`'s type.
Term mask_of(const Term& kept, double otherwise, const Term& like);
/// A finite number, low enough to mask an element in a softmax.
double lowest(DataType type) noexcept;
/// Either mask, or the sum of both.
std::optional<Term> both(const std::optional<Term>& a, const std::optional<Term>& b);

/// The last dimension of x [batch, heads, steps, features] turned by angles, whose cosines and
/// sines broadcast to [batch, heads, steps, turned / 2]. Pairs are neighbors if `interleaved`, else
/// an element of the first and one of the second half; features beyond `turned` stay as they are.
Term rotated(const Term& x, const Term& cosines, const Term& sines, bool interleaved);

}  // namespace polychron::onnx::detail
