// Cast, CastLike and BitCast.
#include <array>
#include <map>

#include "onnx/handlers.hpp"
#include "onnx/operators/carried.hpp"

namespace polychron::onnx::detail {

namespace {

/// Opsets before 6 give types by name.
ElementType named_type(const std::string& name) {
  for (std::int32_t i = 0; i <= static_cast<std::int32_t>(ElementType::bfloat16); ++i) {
    const auto type = static_cast<ElementType>(i);
    std::string upper;
    for (const char c : to_string(type))
      upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    if (upper == name) return type;
  }
  malformed("there is no type " + quote(name));
}

/// Rounds float32 to the 8 bits of bfloat16's significand: Veltkamp's splitting.
Term nearest_bfloat(const Term& x) {
  const auto scaled = x * 65537;
  return (x.abs() < 0x1p110).choose(scaled - (scaled - x), x);
}

/// Rounds towards 0, as ONNX's data up to opset 18 do: takes the previous value if the nearest one
/// is beyond `x`.
Term truncated_bfloat(const Term& x) {
  const auto nearest = nearest_bfloat(x);
  return (nearest.abs() > x.abs()).choose(nearest_bfloat(nearest * (1 - 0x1p-8)), nearest);
}

/// An integer of 4 bits: reals are rounded. ONNX leaves open what becomes of numbers out of range;
/// they keep their low bits, as in its test data and in ONNX Runtime.
Term nibble(const Term& x, ElementType to, bool real) {
  const auto whole = (real ? x.round_even() : x).cast(DataType::int32);
  return wrapped(whole, to).cast(*operand_type(to));
}

/// The same bits as another type of the same size. The graph can only exchange integers.
void bit_cast(Node& node) {
  const auto from = node.type(0), to = static_cast<ElementType>(node.integer("to", 0));
  if (element_size(to) == 0) unsupported("WebNN has no type " + std::string(to_string(to)));
  if (element_size(from) != element_size(to) || is_packed(from) != is_packed(to))
    malformed("the bits of " + std::string(to_string(from)) + " as " + std::string(to_string(to)));
  if (from == to) return node.forward(0);
  const auto* known = node.literal(0);
  if (known && !is_packed(from))
    return node.set(Literal{to, known->shape, known->owner, known->bytes});
  if (is_real(from) || is_real(to)) node.want_value(0);
  const auto x = term(node, 0);
  const auto same = x.with(node.builder.identity(x.operand(), node.label()));
  node.set(wrapped(same.cast(*operand_type(to)), to).operand(), 0, to);
}

void cast_to(Node& node, ElementType to) {
  const auto* known = node.calculable_literal(0);
  if (known && to != ElementType::bfloat16 && visit_type(to, [](auto) {}))
    return node.set(cast_literal(*known, to));
  const auto type = operand_type(to);
  if (!type) unsupported("WebNN has no type " + std::string(to_string(to)));
  const auto from = node.type(0);
  if (from == to) return node.forward(0);
  auto x = term(node, 0);
  if (to == ElementType::boolean) return node.set((!(x == 0)).operand(), 0, to);
  if (to == ElementType::float64)
    node.importer.warn("values of type double are rounded to float32, for WebNN has no double");
  if (to == ElementType::bfloat16 && is_real(from))
    x = node.opset < 19 ? truncated_bfloat(x.cast(*type)) : nearest_bfloat(x.cast(*type));
  else if (is_packed(to))
    x = nibble(x, to, is_real(from));
  else
    x = wrapped(x.cast(*type), to);
  if (x.operand().data_type() == node.data_type(0) && *type == node.data_type(0)) {
    // The operand may be the input itself: make it another value, with another type.
    x = x.with(node.builder.identity(x.operand(), node.label()));
  }
  node.set(x.operand(), 0, to);
}

void cast(Node& node) {
  if (node.opset < 6) return cast_to(node, named_type(node.text("to", "")));
  cast_to(node, static_cast<ElementType>(node.integer("to", 0)));
}

void cast_like(Node& node) { cast_to(node, node.type(1)); }

}  // namespace

std::span<const Row> conversion_rows() noexcept {
  static constexpr std::array rows{
      Row{"BitCast", bit_cast},
      Row{"Cast", cast},
      Row{"CastLike", cast_like},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
