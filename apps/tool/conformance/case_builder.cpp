#include "apps/tool/conformance/case_builder.hpp"

#include <algorithm>
#include <vector>

#include "apps/tool/conformance/attributes.hpp"
#include "ops/table.hpp"

namespace polychron::conformance {

namespace {

/// Calls `f`. If it throws Malformed, adds the place to the message.
template <class F>
auto located(const std::string& where, F&& f) {
  try {
    return f();
  } catch (const Malformed& problem) {
    throw Malformed(where + ": " + problem.what());
  }
}

const json& list(const json& object, const char* key) {
  const auto& value = member(object, key);
  if (!value.is_array()) throw Malformed("'" + std::string(key) + "' is no list");
  return value;
}

const json& dictionary(const json& object, const char* key) {
  const auto& value = member(object, key);
  if (!value.is_object()) throw Malformed("'" + std::string(key) + "' is no object");
  return value;
}

}  // namespace

CaseBuilder::CaseBuilder(const Context& context, const json& test) : builder_(context) {
  for (const auto& [name, operand] : dictionary(test, "inputs").items())
    located("input " + excerpt(name), [&, &name = name, &operand = operand] {
      const auto descriptor = descriptor_of(operand);
      const bool constant = operand.contains("constant") && flag_of(operand.at("constant"));
      auto bytes = bytes_of(operand);  // of inputs too: errors in them are reported here
      operands_.emplace(name, constant ? builder_.constant(descriptor, std::move(bytes))
                                       : builder_.input(name, descriptor));
    });
  for (const auto& call : list(test, "operators")) add(call);
}

Graph CaseBuilder::build(const json& outputs) {
  NamedOperands named;
  for (const auto& [name, expected] : outputs.items()) named.emplace_back(name, operand(name));
  return builder_.build(named).get();
}

const Operand& CaseBuilder::operand(const json& name) const {
  const auto found = operands_.find(text_of(name));
  if (found == operands_.end()) throw Malformed("there is no operand " + excerpt(name));
  return found->second;
}

void CaseBuilder::add(const json& call) {
  const auto name = text_of(member(call, "name"));
  const ops::Row* row = ops::find(name);
  if (row == nullptr) throw UnknownOperator(name + " is not in the operator table");
  std::vector<const Operand*> operands(row->operands().size(), nullptr);
  auto attributes = default_attributes(row->attributes);
  std::string label;
  const auto set = [&](const std::string& key, const json& value) {
    if (key == "label") return label = text_of(value), void();
    const auto rules = row->operands();
    const auto rule = std::ranges::find(rules, key, &ops::OperandRule::name);
    if (rule == rules.end()) {
      if (!set_field(attributes, key, value)) throw Malformed("there is no such parameter");
    } else if (row->call.variadic()) {
      if (!value.is_array()) throw Malformed("expected a list of operands");
      operands.clear();
      for (const auto& item : value) operands.push_back(&operand(item));
    } else {
      operands[static_cast<std::size_t>(rule - rules.begin())] = &operand(value);
    }
  };
  const auto set_located = [&](const std::string& key, const json& value) {
    located(name + ", parameter " + excerpt(key), [&] { set(key, value); });
  };
  for (const auto& argument : list(call, "arguments")) {
    if (!argument.is_object()) throw Malformed(name + ": an argument is no object");
    for (const auto& [key, value] : argument.items()) {
      if (key != "options") {
        set_located(key, value);
        continue;
      }
      if (!value.is_object()) throw Malformed(name + ": 'options' is no object");
      for (const auto& [option, option_value] : value.items()) set_located(option, option_value);
    }
  }
  const auto results = builder_.apply(name, operands, std::move(attributes), label);
  located(name, [&] { name_results(results, member(call, "outputs")); });
}

void CaseBuilder::name_results(const std::vector<Operand>& results, const json& names) {
  const auto count = names.is_array() ? names.size() : 1;
  if (count != results.size())
    throw Malformed("'outputs' has " + std::to_string(count) + " names for " +
                    std::to_string(results.size()) + " results");
  for (std::size_t i = 0; i < count; ++i)
    operands_.insert_or_assign(text_of(names.is_array() ? names[i] : names), results[i]);
}

}  // namespace polychron::conformance
