#include "apps/tool/conformance/case_writer.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <variant>

#include "ops/number.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::conformance {

namespace {

json written(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value == 0 && std::signbit(value)) return "-0";
  return value;
}
json written(float value) { return written(static_cast<double>(value)); }
json written(float16 value) { return written(static_cast<double>(value)); }
json written(bool value) { return value; }
/// Each 64-bit integer is a BigInt.
template <std::integral T>
json written(T value) {
  if constexpr (sizeof(T) == 8) return std::to_string(value) + "n";
  return value;
}
json written(const Number& number) {
  return std::visit([](auto value) { return written(value); }, number);
}
template <class E>
requires std::is_enum_v<E> json written(E value) {
  return spellings<E>[static_cast<std::size_t>(value)];
}
template <class T>
json written(const std::vector<T>& list) {
  json items = json::array();
  for (const auto& item : list) items.push_back(written(item));
  return items;
}
/// A missing value is null, and left out.
template <class T>
json written(const std::optional<T>& value) {
  return value ? written(*value) : json();
}

/// Names of the graph's values: its own for inputs and outputs.
std::vector<std::string> names_of(const ops::Graph& graph) {
  std::vector<std::string> names(graph.values.size());
  for (const auto& [name, value] : graph.outputs) names[value] = name;
  for (const auto& [name, value] : graph.inputs) names[value] = name;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty())
      names[i] = (graph.values[i].kind == ops::Value::Kind::constant ? "constant" : "value") +
                 std::to_string(i);
  return names;
}

/// In the method's order: the required arguments, then the options.
json call_of(const ops::Node& node, const std::vector<std::string>& names) {
  const ops::Row& row = ops::row(node.op);
  json arguments = json::array(), options = json::object();
  const auto argue = [&](std::string_view name, json value) {
    arguments.push_back({{std::string(name), std::move(value)}});
  };
  if (row.call.variadic()) {
    json list = json::array();
    for (const auto value : node.inputs) list.push_back(names[value]);
    argue(row.operands()[0].name, std::move(list));
  } else {
    for (std::size_t i = 0; i < row.operands().size(); ++i) {
      const auto& rule = row.operands()[i];
      if (i >= node.inputs.size() || node.inputs[i] == ops::no_value) continue;
      if (rule.optional)
        options[std::string(rule.name)] = names[node.inputs[i]];
      else
        argue(rule.name, names[node.inputs[i]]);
    }
  }
  const json fields = fields_of(node.attributes);
  std::visit(
      [&]<class A>(const A& attributes) {
        for_each_field(attributes, [&](std::string_view name, const auto&) {
          const auto found = fields.find(std::string(name));
          if (found == fields.end()) return;
          if (is_required<A>(name))
            argue(name, *found);
          else
            options[std::string(name)] = *found;
        });
      },
      node.attributes);
  if (!options.empty()) argue("options", std::move(options));
  json outputs = json::array();
  for (const auto value : node.outputs) outputs.push_back(names[value]);
  if (row.results().size() == 1 && !row.results()[0].variadic) outputs = json(outputs[0]);
  return {{"name", row.name}, {"arguments", std::move(arguments)}, {"outputs", outputs}};
}

}  // namespace

json fields_of(const Attributes& attributes) {
  json fields = json::object();
  std::visit(
      [&](const auto& alternative) {
        for_each_field(alternative, [&](std::string_view name, const auto& field) {
          if (auto value = written(field); !value.is_null())
            fields[std::string(name)] = std::move(value);
        });
      },
      attributes);
  if (const auto* split = std::get_if<SplitAttributes>(&attributes); split && split->equal_parts)
    fields["splits"] = split->splits.at(0);
  return fields;
}

json operand_of(const OperandDescriptor& descriptor, std::span<const std::byte> bytes) {
  json data = json::array();
  const auto count = *element_count(descriptor.shape);
  if (is_packed(descriptor.data_type)) {
    for (std::size_t i = 0; i < count; ++i) {
      const int bits = std::to_integer<int>(bytes[i / 2] >> i % 2 * 4) & 0x0f;
      data.push_back(descriptor.data_type == DataType::int4 && bits > 7 ? bits - 16 : bits);
    }
  } else {
    ops::with_element(descriptor.data_type, [&]<class T>(T value) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        data.push_back(written(value));
      }
    });
  }
  return {{"dataType", to_string(descriptor.data_type)},
          {"shape", descriptor.shape},
          {"data", std::move(data)}};
}

json case_of(const ops::Graph& graph, std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<const std::byte>> outputs, const CaseNotes& notes) {
  const auto names = names_of(graph);
  json given = json::object(), expected = json::object(), calls = json::array();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto& [name, value] = graph.inputs[i];
    given[name] = operand_of(graph.values[value].descriptor, inputs[i]);
  }
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const auto& value = graph.values[i];
    if (value.kind != ops::Value::Kind::constant) continue;
    given[names[i]] = operand_of(value.descriptor, value.constant->bytes());
    given[names[i]]["constant"] = true;
  }
  for (const auto& node : graph.nodes) calls.push_back(call_of(node, names));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto& [name, value] = graph.outputs[i];
    expected[name] = operand_of(graph.values[value].descriptor, outputs[i]);
  }
  return {{"name", notes.name},
          {"source", notes.source},
          {"inputs", std::move(given)},
          {"operators", std::move(calls)},
          {"outputs", std::move(expected)},
          {"tolerance", {{"metric", notes.metric}, {"value", notes.tolerance}}}};
}

}  // namespace polychron::conformance
