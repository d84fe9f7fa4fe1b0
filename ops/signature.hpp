// Signatures: an operator's operands and results as one line of text, parsed at compile time.
//
//   signature := operand {", " operand} " -> " result {", " result}
//   operand   := name ["..."] ["?"] ":" types          "..." variadic, "?" optional
//   result    := [name ["..."] ["?"] ":"] types        without a name: "output"
//   types     := kind {"|" kind} ["[" rank [".." rank] "]"]
//   kind      := "any" | "floats" | "wide" | "signeds" | "indices" | "quantized"
//                | a data type | an operand
//   rank      := a number | "N" (max_rank)
//
// An operand's name as a kind means "same as": that operand's data type, and its ranks unless ranks
// follow. Without ranks every rank is allowed. Example: conv2d is
//   "input: floats[4], filter: input[4], bias?: input[1] -> input"
// A mistake in a signature does not compile.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ops/type_set.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::ops {

/// One operand or result of a signature.
struct OperandRule {
  static constexpr std::uint8_t independent = 0xff;

  std::string_view name;
  TypeSet types{};                     ///< those of the operand that `same_as` names, if any
  std::uint8_t same_as = independent;  ///< index of the operand with the same data type
  std::uint8_t rank_min = 0;
  std::uint8_t rank_max = max_rank;
  bool optional = false;
  bool variadic = false;  ///< one or more; it is then the only operand
};

struct Signature {
  static constexpr std::size_t max_operands = 8;
  static constexpr std::size_t max_results = 3;

  std::array<OperandRule, max_operands> operand_array{};
  std::array<OperandRule, max_results> result_array{};
  std::uint8_t operand_count = 0;
  std::uint8_t result_count = 0;

  constexpr std::span<const OperandRule> operands() const {
    return {operand_array.data(), operand_count};
  }
  constexpr std::span<const OperandRule> results() const {
    return {result_array.data(), result_count};
  }
  constexpr bool variadic() const { return operand_count == 1 && operand_array[0].variadic; }
};

/// The exception for a mistake in a signature; at compile time it is an error message.
struct SignatureError {
  std::string_view expected;
};

/// Parses one signature. Works at run time too, for the tests of its errors.
class SignatureParser {
 public:
  constexpr explicit SignatureParser(std::string_view text) : text_(text) {}

  constexpr Signature parse() {
    operand();
    while (eat(",")) operand();
    need("->");
    result();
    while (eat(",")) result();
    if (!at_end()) throw SignatureError{"the end"};
    return out_;
  }

 private:
  constexpr void operand() {
    if (out_.operand_count == Signature::max_operands) throw SignatureError{"fewer operands"};
    if (out_.variadic()) throw SignatureError{"a variadic operand alone"};
    OperandRule rule;
    rule.name = word();
    marks(rule);
    if (rule.variadic && out_.operand_count > 0) throw SignatureError{"a variadic operand alone"};
    need(":");
    types(rule);
    out_.operand_array[out_.operand_count++] = rule;
  }

  constexpr void result() {
    if (out_.result_count == Signature::max_results) throw SignatureError{"fewer results"};
    if (out_.result_count > 0 && out_.result_array[0].variadic)
      throw SignatureError{"a variadic result alone"};
    OperandRule rule;
    const auto start = position_;
    rule.name = word();
    marks(rule);
    if (!eat(":")) {
      rule = OperandRule{.name = "output"};
      position_ = start;
    }
    types(rule);
    out_.result_array[out_.result_count++] = rule;
  }

  constexpr void marks(OperandRule& rule) {
    rule.variadic = eat("...");
    rule.optional = eat("?");
  }

  constexpr void types(OperandRule& rule) {
    kind(rule, word());
    while (eat("|")) {
      if (rule.same_as != OperandRule::independent) throw SignatureError{"one operand's type"};
      kind(rule, word());
    }
    if (!eat("[")) return;
    rule.rank_min = rank();
    rule.rank_max = eat("..") ? rank() : rule.rank_min;
    if (rule.rank_min > rule.rank_max) throw SignatureError{"ranks in ascending order"};
    need("]");
  }

  constexpr void kind(OperandRule& rule, std::string_view name) {
    for (std::uint8_t i = 0; i < out_.operand_count; ++i) {
      const OperandRule& other = out_.operand_array[i];
      if (other.name != name) continue;
      if (rule.types.size() > 0) throw SignatureError{"one operand's type"};
      rule.types = other.types;
      rule.same_as = other.same_as == OperandRule::independent ? i : other.same_as;
      rule.rank_min = other.rank_min;
      rule.rank_max = other.rank_max;
      return;
    }
    rule.types = rule.types | named_set(name);
  }

  static constexpr TypeSet named_set(std::string_view name) {
    if (name == "any") return type_sets::any;
    if (name == "floats") return type_sets::floats;
    if (name == "wide") return type_sets::wide;
    if (name == "signeds") return type_sets::signeds;
    if (name == "indices") return type_sets::indices;
    if (name == "quantized") return type_sets::quantized;
    const auto type = data_type_from_string(name);
    if (!type) throw SignatureError{"a data type, a set of them, or an operand before"};
    return {*type};
  }

  constexpr std::uint8_t rank() {
    const auto digits = word();
    if (digits == "N") return max_rank;
    unsigned value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') throw SignatureError{"a rank"};
      value = value * 10 + static_cast<unsigned>(c - '0');
      if (value > max_rank) throw SignatureError{"a rank up to N"};
    }
    return static_cast<std::uint8_t>(value);
  }

  constexpr void spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  constexpr bool at_end() { return spaces(), position_ == text_.size(); }
  constexpr bool eat(std::string_view token) {
    spaces();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  constexpr void need(std::string_view token) {
    if (!eat(token)) throw SignatureError{token};
  }
  constexpr std::string_view word() {
    spaces();
    const auto start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    if (position_ == start) throw SignatureError{"a name"};
    return text_.substr(start, position_ - start);
  }
  static constexpr bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Signature out_;
};

/// The signature that `text` spells.
consteval Signature signature(std::string_view text) { return SignatureParser(text).parse(); }

}  // namespace polychron::ops
