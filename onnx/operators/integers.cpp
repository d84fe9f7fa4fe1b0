// Remainders, shifts, and bits.
#include <array>
#include <limits>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"
#include "onnx/operators/carried.hpp"

namespace polychron::onnx::detail {

namespace {

using Int = std::int64_t;

Int floored_rest(Int a, Int b) {
  if (b == 0) malformed("division by zero");
  if (b == -1) return 0;
  const auto rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Int truncated_rest(Int a, Int b) {
  if (b == 0) malformed("division by zero");
  return b == -1 ? 0 : a % b;
}

/// The remainder of a truncating division. A rounded real quotient may be one too large; the
/// remainder is then corrected.
Term rest_of(const Term& a, const Term& b) {
  if (a.data_type() != DataType::float32 && a.data_type() != DataType::float16)
    return a - a / b * b;
  const auto quotient = a / b;
  const auto rest = a - quotient.abs().floor() * quotient.sign() * b;
  const auto step = b.abs() * a.sign();
  const auto up = (rest * a.sign() < 0).choose(rest + step, rest);
  return (up.abs() >= b.abs()).choose(up - step, up);
}

void mod(Node& node) {
  static constexpr Binary floored{floored_rest, nullptr};
  static constexpr Binary truncated{truncated_rest,
                                    [](double a, double b) { return std::fmod(a, b); }};
  const bool like_c = node.integer("fmod", 0) != 0;
  if (auto known = calculate(like_c ? truncated : floored, node.calculable_literal(0),
                             node.calculable_literal(1)))
    return node.set(*known);
  const auto b = term(node, 1);
  const auto rest = rest_of(term(node, 0), b);
  const auto type = b.data_type();
  const bool is_signed = type != DataType::uint8 && type != DataType::uint32 &&
                         type != DataType::uint64 && node.type(0) != ElementType::uint16;
  if (like_c || !is_signed) return node.set(rest.operand());
  // The sign of the divisor, as in Python.
  const auto opposite = (rest < 0 && b > 0) || (rest > 0 && b < 0);
  node.set(opposite.choose(rest + b, rest).operand());
}

/// A shift is a product with, or a quotient by, a power of two.
void bit_shift(Node& node) {
  const auto direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    malformed("attribute 'direction' is " + quote(direction));
  const auto x = term(node, 0);
  const auto by = term(node, 1);
  const auto power = x.with(node.builder.pow(by.number(2).operand(), by.operand(), node.label()));
  const auto shifted = direction == "LEFT" ? wrapped(x * power, node.type(0)) : x / power;
  node.set(shifted.operand());
}

/// A number of int64 as 63 bits in a last dimension of their own, and whether it is negative.
struct Bits {
  Term low, negative;
};

Term powers_of_two(Node& node) {
  std::vector<Int> powers;
  for (int i = 0; i < 63; ++i) powers.push_back(Int{1} << i);
  return constant(node, ElementType::int64, {63}, powers);
}

Bits bits_of(Node& node, std::size_t i) {
  if (node.data_type(i) == DataType::uint64) unsupported("bits of uint64");
  const auto x = term(node, i).cast(DataType::int64);
  const auto negative = x < 0;
  const auto lowest =
      x.with(node.builder.constant(DataType::int64, std::numeric_limits<Int>::min()));
  const auto size = negative.choose(x - lowest, x);
  const auto shifted =
      size.unsqueeze(static_cast<std::uint32_t>(size.rank())) / powers_of_two(node);
  return {shifted - shifted / 2 * 2, negative.cast(DataType::int64)};
}

template <Term combine(const Term&, const Term&)>
void bitwise(Node& node) {
  const auto a = bits_of(node, 0);
  const auto b = bits_of(node, 1);
  const auto low = combine(a.low, b.low) * powers_of_two(node);
  const auto last = static_cast<std::uint32_t>(low.rank() - 1);
  const auto lowest =
      low.with(node.builder.constant(DataType::int64, std::numeric_limits<Int>::min()));
  const auto whole = low.sum({last}) + combine(a.negative, b.negative) * lowest;
  node.set(whole.cast(node.data_type(0)).operand());
}

Term both(const Term& a, const Term& b) { return a * b; }
Term either(const Term& a, const Term& b) { return a.max(b); }
Term one_of(const Term& a, const Term& b) { return (a - b).abs(); }

void bitwise_not(Node& node) {
  const auto x = term(node, 0);
  switch (node.type(0)) {
    case ElementType::uint8:
      return node.set((255 - x).operand());
    case ElementType::uint16:
      return node.set((65535 - x).operand());
    case ElementType::uint32:
      return node.set((4294967295.0 - x).operand());
    case ElementType::uint64:
      return node.set(
          x.with(node.builder.sub(node.builder.constant(DataType::uint64, ~std::uint64_t{0}),
                                  x.operand(), node.label()))
              .operand());
    default:
      return node.set((-1 - x).operand());
  }
}

}  // namespace

std::span<const Row> integer_rows() noexcept {
  static constexpr std::array rows{
      Row{"BitShift", bit_shift},         Row{"BitwiseAnd", bitwise<both>},
      Row{"BitwiseNot", bitwise_not},     Row{"BitwiseOr", bitwise<either>},
      Row{"BitwiseXor", bitwise<one_of>}, Row{"Mod", mod},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
