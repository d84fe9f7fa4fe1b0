#include "tests/kernels/generated_call.hpp"

#include <algorithm>

#include "ops/infer.hpp"
#include "tests/kernels/generated_values.hpp"
#include "tests/ops/random_calls.hpp"

namespace polychron::tests {

using kernels::Layout;
using test::Random;

kernels::Problem GeneratedCall::problem() const {
  kernels::Problem problem;
  problem.op = ops::id(*row);
  problem.attributes = attributes;
  for (const auto& operand : operands)
    if (operand.present)
      problem.inputs.push_back({operand.descriptor, Layout::plain,
                                operand.constant
                                    ? std::make_shared<const Buffer>(Buffer::copy_of(operand.bytes))
                                    : nullptr,
                                true});
    else
      problem.inputs.push_back({{}, Layout::plain, nullptr, false});
  problem.own_inputs = problem.inputs.size();
  for (const auto& result : results)
    problem.outputs.push_back({result, Layout::plain, nullptr, true});
  return problem;
}

std::vector<Buffer> GeneratedCall::values() const {
  std::vector<Buffer> values;
  for (const auto& operand : operands)
    values.push_back(operand.present ? Buffer::copy_of(operand.bytes) : Buffer());
  return values;
}

std::shared_ptr<ops::Graph> GeneratedCall::graph() const {
  using Kind = ops::Value::Kind;
  auto graph = std::make_shared<ops::Graph>();
  const auto add = [&](ops::Value value) {
    graph->values.push_back(std::move(value));
    return static_cast<ops::ValueId>(graph->values.size() - 1);
  };
  ops::Node node{ops::id(*row), {}, {}, attributes, {}};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& operand = operands[i];
    node.inputs.push_back(ops::no_value);
    if (!operand.present) continue;
    if (operand.constant) {
      auto bytes = std::make_shared<const Buffer>(Buffer::copy_of(operand.bytes));
      node.inputs.back() = add({Kind::constant, operand.descriptor, std::move(bytes)});
    } else {
      node.inputs.back() = add({Kind::input, operand.descriptor, nullptr});
      graph->inputs.emplace_back("in" + std::to_string(i), node.inputs.back());
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    node.outputs.push_back(add({Kind::result, results[i], nullptr}));
    graph->outputs.emplace_back("out" + std::to_string(i), node.outputs.back());
  }
  graph->nodes.push_back(std::move(node));
  return graph;
}

bool GeneratedCall::infer() {
  std::vector<const OperandDescriptor*> pointers;
  for (const auto& operand : operands)
    pointers.push_back(operand.present ? &operand.descriptor : nullptr);
  try {
    results = ops::infer(*row, pointers, attributes, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

unsigned GeneratedCall::specials() const {
  unsigned found = no_special;
  for (const auto& operand : operands)
    if (operand.present) found |= specials_in(operand.descriptor, operand.bytes);
  return found;
}

std::string GeneratedCall::text() const {
  std::string list;
  for (const auto& operand : operands)
    list.append(list.empty() ? "" : ", ")
        .append(!operand.present
                    ? "-"
                    : (operand.constant ? "constant " : "") + to_string(operand.descriptor));
  return std::string(row->name) + "(" + list + ") of " + names_of(specials());
}

std::vector<std::vector<DataType>> type_choices(const ops::Row& row) {
  std::vector<std::vector<DataType>> choices{{}};
  const auto multiply = [&](ops::TypeSet types) {
    std::vector<std::vector<DataType>> product;
    for (const auto& choice : choices)
      for (const DataType type : types.members()) {
        product.push_back(choice);
        product.back().push_back(type);
      }
    choices = std::move(product);
  };
  for (const auto& rule : row.operands()) {
    if (rule.same_as == ops::OperandRule::independent)
      multiply(rule.types);
    else
      for (auto& choice : choices) choice.push_back(choice[rule.same_as]);
  }
  if (row.name == "cast") multiply(ops::type_sets::any);
  return choices;
}

std::size_t telling_operand(const ops::Row& row) {
  const auto rules = row.operands();
  return static_cast<std::size_t>(
      std::ranges::max_element(rules, {}, [](const auto& rule) { return rule.types.size(); }) -
      rules.begin());
}

GeneratedCall generate(const ops::Row& row, const std::vector<DataType>& types, Random& random) {
  auto made = test::random_call(row, random);
  GeneratedCall call{&row, std::move(made.attributes), {}, {}};
  if (auto* cast = std::get_if<CastAttributes>(&call.attributes)) cast->data_type = types.back();
  // Half of the calls have ordinary numbers only: one NaN may hide what is wrong elsewhere.
  const unsigned specials = random.coin() ? no_special : random.number(1, every_special);
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    const std::size_t place = row.call.variadic() ? 0 : i;
    const auto& rule = row.operands()[place];
    GeneratedOperand operand{{types[place], std::move(made.operands[i])}, {}, false, true};
    operand.present = !rule.optional || random.coin();
    operand.constant = random.number(0, 2) == 0;
    if (row.family == ops::Family::indexing && i == 1) {
      const auto& shape = call.operands[0].descriptor.shape;
      operand.bytes = index_bytes(operand.descriptor, *std::ranges::max_element(shape), random);
    } else {
      operand.bytes = number_bytes(operand.descriptor, range_of(row, i), specials, random);
    }
    call.operands.push_back(std::move(operand));
  }
  // The builder folds nothing: a graph without inputs is allowed, but tells little.
  if (std::ranges::all_of(call.operands, [](const auto& o) { return o.constant || !o.present; }))
    call.operands[0].constant = false;
  if (!call.infer()) throw std::logic_error("the generator made no call: " + call.text());
  return call;
}

}  // namespace polychron::tests
