// import_model(): binds the inputs, then adds node after node.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "onnx/handlers.hpp"
#include "onnx/model.hpp"
#include "onnx/problem.hpp"
#include "onnx/tensor_value.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

/// Knows which number each free dimension stands for. Symbols may be bound by name, or follow from
/// an input's bound shape.
class Bindings {
 public:
  Bindings(const Summary& summary, const std::map<std::string, Shape>& given) {
    std::set<std::string> symbols;
    for (const auto& input : summary.inputs) {
      names_.insert(input.name);
      if (!input.dimensions) continue;
      for (const auto& dimension : *input.dimensions)
        if (!dimension.symbol.empty()) symbols.insert(dimension.symbol);
    }
    for (const auto& [name, shape] : given) {
      if (names_.contains(name)) {
        shapes_.emplace(name, shape);
      } else if (symbols.contains(name)) {
        if (shape.size() != 1) wrong("symbol " + quote(name) + " takes one number");
        bind(name, shape.front(), "its binding");
      } else {
        wrong("there is no input and no free dimension " + quote(name) + " to bind");
      }
    }
    for (const auto& input : summary.inputs) take_symbols(input);
  }

  /// The shape of `input`. Throws if a dimension is still free.
  Shape resolve(const ValueInfo& input) const {
    const auto bound = shapes_.find(input.name);
    if (bound != shapes_.end()) return bound->second;
    const auto where = "input " + quote(input.name);
    if (!input.dimensions) wrong(where + " has no shape in the model: bind it by its name");
    Shape shape;
    for (const auto& dimension : *input.dimensions) {
      const auto symbol = values_.find(dimension.symbol);
      if (!dimension.value && symbol == values_.end())
        wrong(where + " is " + to_string(input) + ": dimension " + std::to_string(shape.size()) +
              " is free, bind the input or the symbol");
      shape.push_back(dimension.value ? *dimension.value : symbol->second);
    }
    return shape;
  }

 private:
  [[noreturn]] static void wrong(const std::string& why) {
    throw Error(ErrorKind::type_error, why);
  }

  void bind(const std::string& symbol, std::uint32_t value, const std::string& by) {
    const auto [known, is_new] = values_.emplace(symbol, value);
    if (!is_new && known->second != value)
      wrong("dimension " + quote(symbol) + " would be both " + std::to_string(known->second) +
            " and, by " + by + ", " + std::to_string(value));
  }

  void take_symbols(const ValueInfo& input) {
    const auto bound = shapes_.find(input.name);
    if (bound == shapes_.end() || !input.dimensions) return;
    const auto& shape = bound->second;
    const auto where = "input " + quote(input.name);
    const auto mismatch = where + " is " + to_string(input) + ", not " + to_string(shape);
    if (shape.size() != input.dimensions->size()) wrong(mismatch);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto& dimension = (*input.dimensions)[i];
      if (dimension.value && *dimension.value != shape[i]) wrong(mismatch);
      if (!dimension.symbol.empty()) bind(dimension.symbol, shape[i], "the shape of " + where);
    }
  }

  std::set<std::string> names_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::uint32_t> values_;
};

[[noreturn]] void wrong_constant(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::type_error, "constant " + quote(name) + ": " + why);
}

/// The bindings, and the shapes of constants among them.
std::map<std::string, Shape> with_constants(const Summary& summary, const ImportOptions& options) {
  auto bindings = options.bindings;
  for (const auto& [name, value] : options.constants) {
    if (std::ranges::find(summary.inputs, name, &ValueInfo::name) == summary.inputs.end())
      wrong_constant(name, "there is no such input");
    if (const auto [bound, is_new] = bindings.emplace(name, value.shape);
        !is_new && bound->second != value.shape)
      wrong_constant(name, "it has shape " + to_string(value.shape) + " and is bound to " +
                               to_string(bound->second));
  }
  return bindings;
}

void take_constants(const Summary& summary, const ImportOptions& options, Tensors& tensors) {
  for (const auto& [name, value] : options.constants) {
    const auto input = std::ranges::find(summary.inputs, name, &ValueInfo::name);
    const bool fits = input->type == value.type || (input->type == "bool" && value.type == "uint8");
    if (!fits) wrong_constant(name, "it is " + value.type + ", expected " + input->type);
    try {
      auto& literal = tensors[name].literal.emplace(literal_of(value));
      literal.type = element_type(input->type);
    } catch (const Error& error) {
      wrong_constant(name, error.message());
    }
  }
}

Tensors make_inputs(const ModelState& model, GraphBuilder& builder, const ImportOptions& options) {
  const Bindings bindings(model.summary(), with_constants(model.summary(), options));
  Tensors tensors;
  for (const auto& [name, literal] : model.constants()) tensors[name].literal = literal;
  take_constants(model.summary(), options, tensors);
  for (const auto& input : model.summary().inputs) {
    if (options.constants.contains(input.name)) continue;
    if (!input.data_type)
      unsupported("input " + quote(input.name) + ": WebNN has no type " + input.type);
    const auto shape = bindings.resolve(input);
    if (count(shape) == 0)  // WebNN has no empty tensors; what it has in it is known
      tensors[input.name].literal = make_literal(element_type(input.type), shape, Buffer());
    else
      tensors[input.name].operand = builder.input(input.name, {*input.data_type, shape});
  }
  return tensors;
}

/// Adds the node; tells about it when that fails. A builder that finds an argument wrong means that
/// ONNX allows what WebNN does not: models that ONNX forbids are rare, and look the same from here.
void add_node(const proto::NodeProto& message, std::int64_t opset, GraphBuilder& builder,
              Tensors& tensors) {
  Node node(message, opset, builder, tensors);
  const auto where = "operator " + quote(message.op_type()) + " (node " + quote(node.label()) +
                     ", opset " + std::to_string(opset) + ")";
  if (!own_domain(message.domain()))
    unsupported(where + ": operators of domain " + quote(message.domain()) + " are not known");
  const auto handle = find_handler(message.op_type());
  if (!handle) unsupported(where + ": the operator is not known");
  try {
    handle(node);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::type_error)
      throw Error(ErrorKind::not_supported, where + ": WebNN refuses it").caused_by(error);
    if (error.kind() == ErrorKind::invalid_state || error.kind() == ErrorKind::out_of_memory) throw;
    throw Error(error.kind(), where + ": " + error.message());
  }
  for (const auto& name : message.output())
    if (!name.empty() && !tensors.contains(name))
      unsupported(where + ": WebNN has no such output as " + quote(name));
}

/// WebNN wants outputs to be results of operators: inputs, constants and second names are copied.
NamedOperands make_outputs(const ModelState& model, GraphBuilder& builder, Tensors& tensors) {
  NamedOperands outputs;
  for (const auto& output : model.summary().outputs) {
    auto& tensor = tensors.at(output.name);
    if (!tensor.operand) tensor.operand = make_constant(builder, *tensor.literal);
    if (!tensor.result) tensor.operand = builder.identity(*tensor.operand, {output.name});
    outputs.emplace_back(output.name, *tensor.operand);
  }
  return outputs;
}

}  // namespace

}  // namespace detail

NamedOperands import_model(const Model& model, GraphBuilder& builder,
                           const ImportOptions& options) {
  const auto& state = detail::ModelState::of(model);
  auto tensors = detail::make_inputs(state, builder, options);
  for (const auto* node : state.live_nodes())
    detail::add_node(*node, state.summary().opset, builder, tensors);
  return detail::make_outputs(state, builder, tensors);
}

}  // namespace polychron::onnx
