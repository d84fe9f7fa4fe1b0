#include "ops/infer.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/invariant.hpp"
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::ops {

namespace {

std::string rank_range(const OperandRule& rule) {
  const auto least = std::to_string(rule.rank_min);
  if (rule.rank_min == rule.rank_max) return least;
  return least + " to " + std::to_string(rule.rank_max);
}

void check_count(const Call& call) {
  if (call.row().call.variadic()) {
    if (call.size() == 0 || call.size() > max_tensor_count)
      call.fail("got " + std::to_string(call.size()) + " operands, expected 1 to " +
                std::to_string(max_tensor_count));
    return;
  }
  if (call.size() > call.row().operands().size())
    call.fail("got " + std::to_string(call.size()) + " operands, expected at most " +
              std::to_string(call.row().operands().size()));
}

void check_operand(const Call& call, std::size_t index) {
  const OperandRule& rule = call.rule(index);
  if (!call.has(index)) {
    if (!rule.optional) call.fail(call.name(index) + " is missing");
    return;
  }
  const OperandDescriptor& operand = call.operand(index);
  if (!rule.types.has(operand.data_type))
    call.fail(call.name(index) + " is " + std::string(to_string(operand.data_type)) +
              ", expected " + rule.types.text());
  const std::size_t like = rule.variadic ? 0 : rule.same_as;
  if (like != OperandRule::independent && call.operand(like).data_type != operand.data_type)
    call.fail(call.name(index) + " is " + std::string(to_string(operand.data_type)) +
              ", expected " + std::string(to_string(call.operand(like).data_type)) + " as " +
              call.name(like));
  if (operand.shape.size() < rule.rank_min || operand.shape.size() > rule.rank_max)
    call.fail(call.name(index) + " has rank " + std::to_string(operand.shape.size()) +
              ", expected " + rank_range(rule));
}

/// Web IDL's conversions: a `double` is finite, an enumeration has one of its values.
struct CheckField {
  const Call& call;
  OptionsAre options;

  void operator()(std::string_view name, double value) const {
    if (options == OptionsAre::given && !std::isfinite(value))
      call.fail(std::string(name) + " is " + std::to_string(value) + ", expected a finite number");
  }
  void operator()(std::string_view name, const std::vector<float>& values) const {
    for (const float value : values) (*this)(name, static_cast<double>(value));
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<std::vector<T>>& values) const {
    if (!values) return;
    for (const T& value : *values) (*this)(name, value);
  }
  template <class T>
  void operator()(std::string_view name, const T& value) const {
    if constexpr (std::is_enum_v<T>)
      if (static_cast<std::size_t>(value) >= spellings<T>.size())
        call.fail(std::string(name) + " is not a value of its enumeration");
  }
};

void check_attributes(const Call& call, const Attributes& attributes, OptionsAre options) {
  if (attributes.index() != call.row().attributes) call.fail("got another operator's attributes");
  std::visit(
      [&](const auto& alternative) {
        for_each_field(alternative, CheckField{call, options});
      },
      attributes);
}

/// The problem of a result, or nullopt. Its symbols are those of operands, or derived from such:
/// other numbers above the largest size come from attributes.
std::optional<std::string> result_problem(Operands operands, OperandDescriptor result) {
  const auto known = [&](std::uint32_t symbol) {
    return std::ranges::any_of(operands, [&](const OperandDescriptor* operand) {
      if (operand == nullptr) return false;
      return std::ranges::find(operand->shape, symbol) != operand->shape.end() ||
             (symbol == derived && has_symbols(operand->shape));
    });
  };
  for (auto& dimension : result.shape)
    if (is_symbol(dimension) && known(dimension)) dimension = 1;
  return descriptor_problem(result);
}

DataType result_type(const Call& call, const OperandRule& rule, const Attributes& attributes) {
  if (call.row().type) return call.row().type(attributes);
  if (rule.same_as != OperandRule::independent) return call.operand(rule.same_as).data_type;
  return rule.types.members().front();
}

}  // namespace

std::vector<OperandDescriptor> infer(const Row& row, Operands operands,
                                     const Attributes& attributes, std::string_view label,
                                     OptionsAre options) {
  const Call call(row, operands, attributes, label);
  check_count(call);
  const auto count = row.call.variadic() ? operands.size() : row.operands().size();
  for (std::size_t i = 0; i < count; ++i) check_operand(call, i);
  check_attributes(call, attributes, options);

  std::vector<Shape> shapes = row.shape(call);
  ensure(row.results()[0].variadic || shapes.size() <= row.results().size(),
         "a shape rule has no more shapes than its row results");
  std::vector<OperandDescriptor> results;
  for (Shape& shape : shapes) {
    const OperandRule& rule = row.results()[row.results()[0].variadic ? 0 : results.size()];
    const DataType type = result_type(call, rule, attributes);
    if (!rule.types.has(type))
      call.fail("result '" + std::string(rule.name) + "' would be " + std::string(to_string(type)) +
                ", expected " + rule.types.text());
    results.push_back({type, std::move(shape)});
    if (const auto problem = result_problem(operands, results.back()))
      call.fail("result '" + std::string(rule.name) + "': " + *problem);
  }
  return results;
}

}  // namespace polychron::ops
