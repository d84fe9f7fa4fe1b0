// Remainders, shifts, and bits.
#include <array>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"
#include "onnx/operators/carried.hpp"

namespace polychron::onnx::detail {

namespace {

using Int = std::int64_t;

bool is_unsigned(ElementType type) {
  return type == ElementType::uint8 || type == ElementType::uint16 || type == ElementType::uint32 ||
         type == ElementType::uint64;
}

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
  const auto near = (up.abs() >= b.abs()).choose(up - step, up);
  return (b.abs() == INFINITY && a.abs() < INFINITY).choose(a, near);
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
  if (like_c || is_unsigned(node.type(0))) return node.set(rest.operand());
  // The sign of the divisor, as in Python.
  const auto opposite = (rest < 0 && b > 0) || (rest > 0 && b < 0);
  node.set(opposite.choose(rest + b, rest).operand());
}

/// 1, 2, 4, ... up to the highest bit, in the type that carries `type`.
Term powers_of_two(Node& node, ElementType type, int bits) {
  std::vector<Int> powers;
  for (int i = 0; i < bits; ++i) powers.push_back(static_cast<Int>(std::uint64_t{1} << i));
  const auto shape = Shape{static_cast<std::uint32_t>(bits)};
  const auto carrier = *operand_type(type);
  // The importer has no literals of uint64: 2^63 wraps around as the least number of int64 does.
  const bool largest = carrier == DataType::uint64;
  return constant(node, largest ? ElementType::int64 : element_type(carrier), shape, powers)
      .cast(carrier);
}

/// A shift is a product with, or a quotient by, a power of two. One to the right rounds down, and
/// one by as many bits as there are, or by less than none, leaves only the sign.
void bit_shift(Node& node) {
  const auto direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    malformed("attribute 'direction' is " + quote(direction));
  const auto type = node.type(0);
  const auto bits = static_cast<int>(8 * element_size(type));
  if (is_real(type) || bits == 0 || is_packed(type) || type == ElementType::boolean)
    malformed("bits of " + std::string(to_string(type)));
  const auto x = term(node, 0), by = term(node, 1);
  const auto place = by.clamped(0, bits - 1.0);
  const auto power = powers_of_two(node, type, bits).gather(place.cast(DataType::int32), 0);
  const bool is_signed = !is_unsigned(type);
  const auto within =
      is_signed ? by >= 0 && by < static_cast<double>(bits) : by < static_cast<double>(bits);
  if (direction == "LEFT")
    return node.set(within.choose(wrapped(x * power, type), x.number(0)).operand());
  if (!is_signed) return node.set(within.choose(x / power, x.number(0)).operand());
  const auto negative = x < 0;
  const auto shifted = negative.choose(-1 - (-1 - x) / power, x / power);
  node.set(within.choose(shifted, negative.choose(x.number(-1), x.number(0))).operand());
}

/// Input `i` as bits in a last dimension of their own, in uint64.
Term bits_of(Node& node, std::size_t i) {
  const auto x = term(node, i).cast(DataType::uint64);
  const auto shifted = x.unsqueeze(static_cast<std::uint32_t>(x.rank())) /
                       powers_of_two(node, ElementType::uint64, 64);
  return shifted - shifted / 2 * 2;
}

template <Term combine(const Term&, const Term&)>
void bitwise(Node& node) {
  const auto bits =
      combine(bits_of(node, 0), bits_of(node, 1)) * powers_of_two(node, ElementType::uint64, 64);
  const auto whole = bits.sum({static_cast<std::uint32_t>(bits.rank() - 1)});
  node.set(whole.cast(node.data_type(0)).operand());
}

Term both(const Term& a, const Term& b) { return a * b; }
Term either(const Term& a, const Term& b) { return a.max(b); }
Term one_of(const Term& a, const Term& b) { return a + b - a * b * 2; }

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
