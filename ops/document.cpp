#include "ops/document.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::ops {

namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string value_text(const Number& value) {
  return std::visit([](auto held) { return number(static_cast<double>(held)); }, value);
}
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_enum_v<T>)
    return std::string(spellings<T>[static_cast<std::size_t>(value)]);
  else
    return number(static_cast<double>(value));
}
template <class T>
std::string value_text(const std::vector<T>& values) {
  std::string text = "[";
  for (const auto& value : values) text += (text.size() > 1 ? ", " : "") + value_text(value);
  return text.append("]");
}
template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "absent";
}

/// "axis = 1, epsilon = 1e-05" for the alternative of Attributes with number `index`.
template <std::size_t I = 0>
std::string options_text(std::size_t index) {
  if constexpr (I < std::variant_size_v<Attributes>) {
    if (I != index) return options_text<I + 1>(index);
    std::string text;
    using A = std::variant_alternative_t<I, Attributes>;
    const A defaults{};
    for_each_field(defaults, [&](std::string_view name, const auto& value) {
      text.append(text.empty() ? "" : ", ").append(name);
      if (!is_required<A>(name)) text.append(" = ").append(value_text(value));
    });
    return text;
  } else {
    return {};
  }
}

std::string rule_text(const OperandRule& rule, std::span<const OperandRule> operands) {
  std::string text(rule.name);
  text += std::string(rule.variadic ? "..." : "") + (rule.optional ? "?" : "") + ": ";
  if (rule.same_as != OperandRule::independent) {
    text.append("as ").append(operands[rule.same_as].name);
  } else if (rule.types == type_sets::any) {
    text += "any";
  } else {
    bool first = true;
    for (const auto type : rule.types.members()) {
      text.append(first ? "" : ", ").append(to_string(type));
      first = false;
    }
  }
  if (rule.rank_min == 0 && rule.rank_max == max_rank) return text;
  text.append("; rank ").append(std::to_string(rule.rank_min));
  if (rule.rank_max != rule.rank_min)
    text.append(" to ").append(rule.rank_max == max_rank ? "N" : std::to_string(rule.rank_max));
  return text;
}

std::string rules_text(std::span<const OperandRule> rules, std::span<const OperandRule> operands) {
  std::string text;
  for (const OperandRule& rule : rules)
    text.append(text.empty() ? "" : "<br>").append(rule_text(rule, operands));
  return text;
}

std::string tolerance_text(const Tolerance& tolerance) {
  if (tolerance.float32 == 0 && tolerance.float16 == 0) return "exact";
  const bool absolute = tolerance.metric == Tolerance::Metric::absolute;
  const auto show = [&](double value) {
    return absolute ? "1/" + number(std::round(1 / value)) : number(value);
  };
  std::string text = show(tolerance.float32);
  if (tolerance.float16 != tolerance.float32) text.append(" / ").append(show(tolerance.float16));
  text += absolute ? " absolute" : " ULP";
  return tolerance.per_term ? text + " a term" : text;
}

}  // namespace

std::string markdown() {
  std::string text =
      "# Operators\n\n"
      "Made from the operator table (`ops/families/`); do not edit. x is an element of the first\n"
      "operand; `as y` means the data type of operand y, `?` an optional operand, `...` one or\n"
      "more; N is " +
      std::to_string(max_rank) +
      ", and without a rank every rank is allowed. Shapes are of the results, and what is asked\n"
      "of the operands' for them. Attributes without a default are required. Tolerances are of\n"
      "float32 (and float16 where it differs); integers are exact, and so is what only moves "
      "data.\n\n"
      "| operator | computes | operands | results | shapes | attributes and defaults "
      "| tolerance |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows()) {
    text.append("| [").append(row.name).append("](");
    if (row.is_extension())
      text.append("onnx.md#extensions) (not WebNN's) | ");
    else
      text.append("https://www.w3.org/TR/webnn/#").append(row.anchor).append(") | ");
    text.append(row.line).append(" | ");
    text.append(rules_text(row.operands(), row.operands())).append(" | ");
    text.append(rules_text(row.results(), row.operands())).append(" | ");
    text.append(row.shapes).append(" | ");
    text.append(options_text(row.attributes)).append(" | ");
    text.append(tolerance_text(row.tolerance)).append(" |\n");
  }
  return text;
}

}  // namespace polychron::ops
