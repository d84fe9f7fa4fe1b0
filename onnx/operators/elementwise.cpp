// Operators that act on each element: arithmetic, comparison, logic, functions, Where.
#include <array>
#include <cmath>
#include <limits>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"
#include "onnx/operators/carried.hpp"

namespace polychron::onnx::detail {

namespace {

// -- the same on the host -------------------------------------------------------------------------

using Int = std::int64_t;

/// Wraps around where int64 would overflow, which C++ leaves undefined.
constexpr Int wrap(std::uint64_t value) { return static_cast<Int>(value); }
constexpr std::uint64_t bits(Int value) { return static_cast<std::uint64_t>(value); }

Int divide(Int a, Int b) {
  if (b == 0) malformed("division by zero");
  return b == -1 ? wrap(0 - bits(a)) : a / b;
}

constexpr Binary host_add{[](Int a, Int b) { return wrap(bits(a) + bits(b)); },
                          [](double a, double b) { return a + b; }};
constexpr Binary host_sub{[](Int a, Int b) { return wrap(bits(a) - bits(b)); },
                          [](double a, double b) { return a - b; }};
constexpr Binary host_mul{[](Int a, Int b) { return wrap(bits(a) * bits(b)); },
                          [](double a, double b) { return a * b; }};
constexpr Binary host_div{divide, [](double a, double b) { return a / b; }};
constexpr Binary host_max{[](Int a, Int b) { return a < b ? b : a; },
                          [](double a, double b) { return a < b || std::isnan(b) ? b : a; }};
constexpr Binary host_min{[](Int a, Int b) { return b < a ? b : a; },
                          [](double a, double b) { return b < a || std::isnan(b) ? b : a; }};
constexpr Binary host_pow{nullptr, [](double a, double b) { return std::pow(a, b); }};
constexpr Binary host_equal{[](Int a, Int b) { return Int{a == b}; },
                            [](double a, double b) { return a == b ? 1.0 : 0.0; }, true};
constexpr Binary host_greater{[](Int a, Int b) { return Int{a > b}; },
                              [](double a, double b) { return a > b ? 1.0 : 0.0; }, true};
constexpr Binary host_greater_or_equal{[](Int a, Int b) { return Int{a >= b}; },
                                       [](double a, double b) { return a >= b ? 1.0 : 0.0; }, true};
constexpr Binary host_less{[](Int a, Int b) { return Int{a < b}; },
                           [](double a, double b) { return a < b ? 1.0 : 0.0; }, true};
constexpr Binary host_less_or_equal{[](Int a, Int b) { return Int{a <= b}; },
                                    [](double a, double b) { return a <= b ? 1.0 : 0.0; }, true};
constexpr Binary host_and{[](Int a, Int b) { return Int{a && b}; }, nullptr, true};
constexpr Binary host_or{[](Int a, Int b) { return Int{a || b}; }, nullptr, true};
constexpr Binary host_xor{[](Int a, Int b) { return Int{!a != !b}; }, nullptr, true};

constexpr Unary host_abs{[](Int a) { return a < 0 ? wrap(0 - bits(a)) : a; },
                         [](double a) { return std::abs(a); }};
constexpr Unary host_neg{[](Int a) { return wrap(0 - bits(a)); }, [](double a) { return -a; }};
constexpr Unary host_not{[](Int a) { return Int{a == 0}; }, nullptr};
constexpr Unary host_sign{[](Int a) { return Int{a > 0} - Int{a < 0}; },
                          [](double a) { return (a > 0 ? 1.0 : 0.0) - (a < 0 ? 1.0 : 0.0); }};
constexpr Unary host_ceil{nullptr, [](double a) { return std::ceil(a); }};
constexpr Unary host_exp{nullptr, [](double a) { return std::exp(a); }};
constexpr Unary host_floor{nullptr, [](double a) { return std::floor(a); }};
constexpr Unary host_log{nullptr, [](double a) { return std::log(a); }};
constexpr Unary host_reciprocal{nullptr, [](double a) { return 1 / a; }};
constexpr Unary host_round{nullptr, [](double a) { return std::nearbyint(a); }};
constexpr Unary host_sqrt{nullptr, [](double a) { return std::sqrt(a); }};
constexpr Unary no_host{};

// -- handlers -------------------------------------------------------------------------------------

using BinaryMethod = Operand (GraphBuilder::*)(const Operand&, const Operand&, GraphBuilder::Label);
using UnaryMethod = Operand (GraphBuilder::*)(const Operand&, GraphBuilder::Label);

/// The second operand. Before opset 7 it is broadcast along `axis`, not along the last dimensions.
Operand second(Node& node) {
  const auto b = node.operand(1);
  const auto rank = node.rank(0);
  if (node.opset >= 7 || !node.has_attribute("axis") || b.shape().size() >= rank) return b;
  const auto axis = node.axis(node.integer("axis", 0), rank);
  auto shape = b.shape();
  if (axis + shape.size() > rank) malformed("axis " + std::to_string(axis));
  shape.insert(shape.end(), rank - axis - shape.size(), 1);
  return shape == b.shape() ? b : node.builder.reshape(b, shape, node.label());
}

template <BinaryMethod method, const Binary& host>
void binary(Node& node) {
  if (node.opset >= 7)
    if (auto known = calculate(host, node.calculable_literal(0), node.calculable_literal(1)))
      return node.set(*known);
  const Term result(node, (node.builder.*method)(node.operand(0), second(node), node.label()));
  // Results of comparisons and of logic are uint8.
  const bool compares = host.boolean_result;
  if (compares) return node.set(result.operand(), 0, ElementType::boolean);
  node.set(wrapped(result, node.type(0)).operand());
}

template <UnaryMethod method, const Unary& host>
void unary(Node& node) {
  if (auto known = calculate(host, node.calculable_literal(0))) return node.set(*known);
  node.set((node.builder.*method)(node.operand(0), node.label()));
}

void logical_not(Node& node) {
  if (auto known = calculate(host_not, node.calculable_literal(0))) return node.set(*known);
  node.set(node.builder.logical_not(node.operand(0), node.label()), 0, ElementType::boolean);
}

/// Min, Max, Sum: any number of operands, from left to right. The literals meet the operands last.
template <BinaryMethod method, const Binary& host>
void variadic(Node& node) {
  if (node.input_count() == 1) return node.forward(0);
  std::optional<Literal> known;
  bool all_known = true;
  for (std::size_t i = 0; i < node.input_count() && all_known; ++i) {
    if (i == 0 && node.calculable_literal(0)) {
      known = *node.calculable_literal(0);
    } else {
      known = calculate(host, known ? &*known : nullptr, node.calculable_literal(i));
    }
    all_known = known.has_value();
  }
  if (all_known && known) return node.set(*known);
  auto result = node.operand(0);
  for (std::size_t i = 1; i < node.input_count(); ++i)
    result = (node.builder.*method)(result, node.operand(i), node.label());
  node.set(result);
}

void mean(Node& node) {
  auto sum = node.operand(0);
  for (std::size_t i = 1; i < node.input_count(); ++i)
    sum = node.builder.add(sum, node.operand(i), node.label());
  const double share = 1.0 / static_cast<double>(node.input_count());
  node.set(node.builder.linear(sum, {.alpha = share}, node.label()));
}

/// The exponent may have another type than the base; the result has the base's type.
void pow(Node& node) {
  const auto* base = node.calculable_literal(0);
  const auto* exponent = node.calculable_literal(1);
  if (base && exponent && is_real(base->type)) {
    const auto same = make_literal(base->type, exponent->shape, reals(*exponent));
    if (auto known = calculate(host_pow, base, &same)) return node.set(*known);
  }
  const auto a = node.operand(0);
  auto b = node.operand(1);
  if (b.data_type() != a.data_type())
    b = exponent ? make_constant(node.importer, make_literal(element_type(a.data_type()),
                                                             exponent->shape, reals(*exponent)))
                 : node.builder.cast(b, a.data_type(), node.label());
  node.set(node.builder.pow(a, b, node.label()));
}

void is_nan(Node& node) {
  node.set(node.builder.is_nan(node.operand(0), node.label()), 0, ElementType::boolean);
}

void is_infinite(Node& node) {
  const auto x = term(node, 0);
  const bool high = node.integer("detect_positive", 1) != 0;
  const bool low = node.integer("detect_negative", 1) != 0;
  if (high && low)
    return node.set(node.builder.is_infinite(x.operand(), node.label()), 0, ElementType::boolean);
  const auto size = low ? -x : x;
  const auto found = size == std::numeric_limits<double>::infinity();
  const auto result = high || low ? found : found && !found;
  node.set(result.operand(), 0, ElementType::boolean);
}

void where(Node& node) {
  const auto* condition = node.calculable_literal(0);
  const auto* yes = node.calculable_literal(1);
  const auto* no = node.calculable_literal(2);
  if (condition && yes && no && yes->type == no->type) {
    const auto shape = broadcast_shape(condition->shape, broadcast_shape(yes->shape, no->shape));
    if (element_count(shape).value_or(max_calculated + 1) <= max_calculated) {
      const auto spread = [&](const Literal& literal) {
        return strided(literal, shape, 0, broadcast_strides(literal.shape, shape));
      };
      const auto choices = integers(spread(*condition));
      const auto when_true = spread(*yes);
      const auto when_false = spread(*no);
      const auto size = element_size(yes->type);
      auto bytes = Buffer::uninitialized(choices.size() * size);
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto& source = choices[i] ? when_true : when_false;
        std::copy_n(source.bytes.data() + i * size, size, bytes.data() + i * size);
      }
      return node.set(make_literal(yes->type, shape, std::move(bytes)));
    }
  }
  node.set(node.builder.where(node.operand(0), node.operand(1), node.operand(2), node.label()));
}

using B = GraphBuilder;
}  // namespace

std::span<const Row> elementwise_rows() noexcept {
  static constexpr std::array rows{
      Row{"Add", binary<&B::add, host_add>},
      Row{"Sub", binary<&B::sub, host_sub>},
      Row{"Mul", binary<&B::mul, host_mul>},
      Row{"Div", binary<&B::div, host_div>},
      Row{"Pow", pow},
      Row{"Max", variadic<&B::max, host_max>},
      Row{"Min", variadic<&B::min, host_min>},
      Row{"Sum", variadic<&B::add, host_add>},
      Row{"Mean", mean},
      Row{"Equal", binary<&B::equal, host_equal>},
      Row{"Greater", binary<&B::greater, host_greater>},
      Row{"GreaterOrEqual", binary<&B::greater_or_equal, host_greater_or_equal>},
      Row{"Less", binary<&B::lesser, host_less>},
      Row{"LessOrEqual", binary<&B::lesser_or_equal, host_less_or_equal>},
      Row{"And", binary<&B::logical_and, host_and>},
      Row{"Or", binary<&B::logical_or, host_or>},
      Row{"Xor", binary<&B::logical_xor, host_xor>},
      Row{"Not", logical_not},
      Row{"Abs", unary<&B::abs, host_abs>},
      Row{"Ceil", unary<&B::ceil, host_ceil>},
      Row{"Cos", unary<&B::cos, no_host>},
      Row{"Erf", unary<&B::erf, no_host>},
      Row{"Exp", unary<&B::exp, host_exp>},
      Row{"Floor", unary<&B::floor, host_floor>},
      Row{"IsInf", is_infinite},
      Row{"IsNaN", is_nan},
      Row{"Log", unary<&B::log, host_log>},
      Row{"Neg", unary<&B::neg, host_neg>},
      Row{"Reciprocal", unary<&B::reciprocal, host_reciprocal>},
      Row{"Round", unary<&B::round_even, host_round>},
      Row{"Sign", unary<&B::sign, host_sign>},
      Row{"Sin", unary<&B::sin, no_host>},
      Row{"Sqrt", unary<&B::sqrt, host_sqrt>},
      Row{"Tan", unary<&B::tan, no_host>},
      Row{"Where", where},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
