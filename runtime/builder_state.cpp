#include "runtime/builder_state.hpp"

#include <algorithm>
#include <set>

#include "base/invariant.hpp"
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/infer.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"
#include "runtime/builder_bridge.hpp"

namespace polychron::detail {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::type_error, message);
}

}  // namespace

BuilderState::BuilderState(const Context& context) : context_(context) {
  check_context_alive(context_);
}

void BuilderState::check_descriptor(const std::string& what,
                                    const OperandDescriptor& descriptor) const {
  if (const auto problem = ops::descriptor_problem(descriptor, is_strict(context_)))
    refuse(what + ": " + *problem);
}

void BuilderState::check_open() const {
  if (stage_ == Stage::built)
    throw Error(ErrorKind::invalid_state, "the graph builder has been built already");
  if (stage_ == Stage::destroyed)
    throw Error(ErrorKind::invalid_state, "the graph builder is destroyed");
  check_context_alive(context_);
}

ops::ValueId BuilderState::add_value(ops::Value value) {
  ensure(values_.size() < ops::no_value, "a builder has fewer values than numbers for them");
  values_.push_back(std::move(value));
  return static_cast<ops::ValueId>(values_.size() - 1);
}

void BuilderState::check_input(const std::string& name) const {
  if (name.empty()) refuse("input: the name is empty");
  if (std::ranges::find(inputs_, name, &decltype(inputs_)::value_type::first) != inputs_.end())
    refuse("input '" + name + "': there is an input of that name already");
}

Operand BuilderState::add_input(std::string name, const OperandDescriptor& descriptor) {
  check_open();
  check_input(name);
  check_descriptor("input '" + name + "'", descriptor);
  return declare_input(std::move(name), descriptor);
}

Operand BuilderState::add_dynamic_input(std::string name, const InputDescriptor& descriptor) {
  check_open();
  check_input(name);
  if (!has_dynamic_dimensions(context_))
    throw Error(ErrorKind::not_supported,
                "input '" + name + "': expected a context with the feature 'dynamic-dimensions'");
  auto symbols = symbols_;
  OperandDescriptor with_symbols{descriptor.data_type, {}};
  for (const auto& dimension : descriptor.shape) {
    const auto place = name + "_axis" + std::to_string(with_symbols.shape.size());
    with_symbols.shape.push_back(dimension.is_dynamic() ? symbols.of(dimension, place)
                                                        : dimension.size);
    if (!dimension.is_dynamic() && ops::is_symbol(dimension.size))
      refuse("input '" + name + "' has a dimension of " + std::to_string(dimension.size) +
             ", expected 1 to 2147483647");
  }
  check_descriptor("input '" + name + "'",
                   {with_symbols.data_type, ops::least(with_symbols.shape)});
  symbols_ = std::move(symbols);
  return declare_input(std::move(name), std::move(with_symbols));
}

Operand BuilderState::declare_input(std::string name, OperandDescriptor descriptor) {
  const auto value = add_value({ops::Value::Kind::input, std::move(descriptor), nullptr});
  inputs_.emplace_back(std::move(name), value);
  return operand(value);
}

void BuilderState::check_constant(const OperandDescriptor& descriptor, std::size_t bytes) const {
  check_open();
  check_descriptor("constant", descriptor);
  const auto expected = byte_length(descriptor);
  if (bytes != expected)
    refuse("constant " + to_string(descriptor) + ": got " + std::to_string(bytes) +
           " bytes, expected " + std::to_string(*expected));
}

Operand BuilderState::add_constant(const OperandDescriptor& descriptor, ops::ConstantBytes bytes) {
  check_constant(descriptor, bytes->size());
  return operand(add_value({ops::Value::Kind::constant, descriptor, std::move(bytes)}));
}

Operand BuilderState::add_constant(const Tensor& constant_tensor) {
  check_open();
  auto bytes = constant_tensor_bytes(context_, constant_tensor);
  const auto& descriptor = constant_tensor.descriptor();
  return operand(add_value({ops::Value::Kind::constant, descriptor, std::move(bytes), true}));
}

std::vector<OperandDescriptor> BuilderState::infer(const ops::Row& row, ops::Operands operands,
                                                   const ops::Node& node) {
  if (symbols_.empty()) return ops::infer(row, operands, node.attributes, node.label);
  std::vector<OperandDescriptor> results;
  try {
    results = ops::infer(row, operands, node.attributes, node.label);
  } catch (const Error& error) {
    throw Error(error.kind(), symbols_.with_names(error.message()));
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    for (std::size_t axis = 0; axis < results[i].shape.size(); ++axis)
      if (auto& size = results[i].shape[axis]; size == ops::derived)
        size = symbols_.add(std::string(row.name) + "#" + std::to_string(nodes_.size()) + "." +
                            std::to_string(i) + "[" + std::to_string(axis) + "]");
  return results;
}

std::vector<Operand> BuilderState::add_operator(std::string_view name,
                                                std::span<const Operand* const> operands,
                                                Attributes attributes, std::string_view label) {
  check_open();
  const ops::Row* row = ops::find(name);
  if (row == nullptr) refuse("there is no operator '" + std::string(name) + "'");
  if (row->is_extension() && is_strict(context_))
    refuse("the specification has no operator '" + std::string(name) +
           "', and the context is strict: expected one of the specification's");
  ops::Node node{ops::id(*row), {}, {}, std::move(attributes), std::string(label)};
  const ops::Call call(*row, {}, node.attributes, node.label);
  std::vector<const OperandDescriptor*> descriptors;
  for (const Operand* operand : operands) {
    if (operand != nullptr && !owns(*operand))
      call.fail(call.name(descriptors.size()) +
                " belongs to another builder, expected one of this builder's");
    descriptors.push_back(operand == nullptr ? nullptr : &descriptor(operand->value_));
    node.inputs.push_back(operand == nullptr ? ops::no_value : operand->value_);
  }
  if (std::holds_alternative<std::monostate>(node.attributes)) {
    node.attributes = default_attributes(row->attributes);
    const auto required = required_field(node.attributes);
    if (!required.empty()) call.fail(std::string(required) + " is missing, and has no default");
  }
  auto results = infer(*row, descriptors, node);
  ensure(!results.empty(), "an operator has a result");
  std::vector<Operand> result_operands;
  for (auto& descriptor : results) {
    node.outputs.push_back(add_value({ops::Value::Kind::result, std::move(descriptor), nullptr}));
    result_operands.push_back(operand(node.outputs.back()));
  }
  nodes_.push_back(std::move(node));
  return result_operands;
}

Shape BuilderState::symbols_of(const Operand& x, const std::vector<Dimension>& dimensions,
                               std::string_view label) const {
  check_open();
  Shape shape;
  for (const auto& dimension : dimensions) {
    shape.push_back(dimension.size);
    bool found = !dimension.is_dynamic() && !ops::is_symbol(dimension.size);
    if (dimension.is_dynamic() && owns(x))
      for (const auto candidate : descriptor(x.value_).shape)
        if (ops::is_symbol(candidate) && symbols_.name(candidate) == dimension.name) {
          shape.back() = candidate;
          found = true;
        }
    if (!found && owns(x))
      refuse((label.empty() ? "" : "[" + std::string(label) + "] ") + "reshape: the new shape is " +
             to_string(dimensions) + ", expected sizes and dynamic dimensions of the operand, " +
             to_string(x.dimensions()));
  }
  return shape;
}

void BuilderState::check_outputs(const NamedOperands& outputs) const {
  if (outputs.empty()) refuse("build: got no outputs, expected at least one");
  std::set<std::string_view> names;
  for (const auto& [name, operand] : outputs) {
    if (name.empty()) refuse("build: the name of an output is empty");
    if (!names.insert(name).second) refuse("build: output '" + name + "' is given twice");
    if (!owns(operand)) refuse("build: output '" + name + "' belongs to another builder");
    if (values_[operand.value_].kind != ops::Value::Kind::result)
      refuse("build: output '" + name +
             "' is an input or a constant, expected an operator's result");
  }
}

/// The part of the graph that `outputs` need, with renumbered values.
std::shared_ptr<const ops::Graph> BuilderState::describe(const NamedOperands& outputs,
                                                         const std::string& label) const {
  std::vector<bool> needed(values_.size(), false);
  for (const auto& output : outputs) needed[output.second.value_] = true;
  const auto is_needed = [&](ops::ValueId value) { return needed[value]; };
  std::vector<bool> kept(nodes_.size(), false);
  for (auto i = nodes_.size(); i-- > 0;) {
    kept[i] = std::ranges::any_of(nodes_[i].outputs, is_needed);
    if (!kept[i]) continue;
    for (const auto value : nodes_[i].outputs) needed[value] = true;
    for (const auto value : nodes_[i].inputs)
      if (value != ops::no_value) needed[value] = true;
  }

  auto graph = std::make_shared<ops::Graph>();
  graph->label = label;
  std::vector<ops::ValueId> numbers(values_.size(), ops::no_value);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!needed[i]) continue;
    numbers[i] = static_cast<ops::ValueId>(graph->values.size());
    graph->values.push_back(values_[i]);
  }
  const auto renumber = [&](std::vector<ops::ValueId>& values) {
    for (auto& value : values)
      if (value != ops::no_value) {
        value = numbers[value];
        ensure(value != ops::no_value, "a kept operator's values are kept");
      }
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!kept[i]) continue;
    graph->nodes.push_back(nodes_[i]);
    renumber(graph->nodes.back().inputs);
    renumber(graph->nodes.back().outputs);
  }
  for (const auto& [name, value] : inputs_)
    if (needed[value]) graph->inputs.emplace_back(name, numbers[value]);
  for (const auto& [name, operand] : outputs)
    graph->outputs.emplace_back(name, numbers[operand.value_]);
  ensure(graph->outputs.size() == outputs.size(), "a graph has the outputs that it is built for");
  return graph;
}

Future<Graph> BuilderState::build(const NamedOperands& outputs, const BuildOptions& options) {
  std::shared_ptr<const ops::Graph> graph;
  try {
    with_errors([&] {
      check_open();
      check_outputs(outputs);
      if (options.most_shapes == 0) refuse("build: most_shapes is 0, expected 1 or more");
      graph = describe(outputs, options.label);
    });
  } catch (const Error& error) {
    return rejected<Future<Graph>>(error.with_operation("build", options.label));
  }
  close(Stage::built);
  const auto dynamic = [&](const auto& input) {
    return ops::has_symbols(graph->values[input.second].descriptor.shape);
  };
  if (std::ranges::any_of(graph->inputs, dynamic))
    return make_dynamic_graph(context_, std::move(graph), symbols_, options);
  return submit_build(context_, std::move(graph), options);
}

void BuilderState::destroy() {
  if (stage_ == Stage::open) close(Stage::destroyed);
}

void BuilderState::close(Stage stage) {
  stage_ = stage;
  nodes_.clear();
  for (auto& value : values_) value.constant.reset();
}

}  // namespace polychron::detail

namespace polychron {

// A moved-from operand has no owner.
const detail::BuilderState& Operand::owner() const {
  if (!owner_) detail::refuse(ErrorKind::type_error, "this operand has been moved away");
  return *owner_;
}

const OperandDescriptor& Operand::descriptor() const {
  const auto& descriptor = owner().descriptor(value_);
  if (ops::has_symbols(descriptor.shape))
    detail::refuse(ErrorKind::type_error, "this operand is " + to_string(dimensions()) +
                                              ", expected sizes: ask its dimensions()");
  return descriptor;
}

DataType Operand::data_type() const { return owner().descriptor(value_).data_type; }
const Shape& Operand::shape() const { return descriptor().shape; }
std::vector<Dimension> Operand::dimensions() const {
  return owner().symbols().dimensions(owner().descriptor(value_).shape);
}

}  // namespace polychron
