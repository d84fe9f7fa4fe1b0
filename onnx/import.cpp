// import_model(): binds the inputs, then adds node after node.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "onnx/bindings.hpp"
#include "onnx/importer.hpp"
#include "onnx/node.hpp"
#include "onnx/problem.hpp"
#include "onnx/tensor_value.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

void take_constants(const Summary& summary, const ImportOptions& options, Scope& scope) {
  for (const auto& [name, value] : options.constants) {
    const auto input = std::ranges::find(summary.inputs, name, &ValueInfo::name);
    const bool fits = input->type == value.type || (input->type == "bool" && value.type == "uint8");
    if (!fits) wrong_constant(name, "it is " + value.type + ", expected " + input->type);
    try {
      auto literal = literal_of(value);
      literal.type = element_type(input->type);
      scope.put(name, Tensor::of(std::move(literal)));
    } catch (const Error& error) {
      wrong_constant(name, error.message());
    }
  }
}

/// The graph's inputs as tensors.
void make_inputs(const ModelState& model, Importer& importer, const ImportOptions& options,
                 Scope& scope) {
  const Bindings bindings(model.summary(), with_given(model.summary(), options));
  take_constants(model.summary(), options, scope);
  for (const auto& input : model.summary().inputs) {
    if (options.constants.contains(input.name)) continue;
    if (!input.data_type)
      unsupported("input " + quote(input.name) + ": WebNN has no type " + input.type);
    const auto shape = bindings.resolve(input);
    const auto type = element_type(input.type);
    if (const auto given = options.operands.find(input.name); given != options.operands.end()) {
      if (given->second.data_type() != *input.data_type)
        wrong_operand(input.name, "it is " + std::string(to_string(given->second.data_type())) +
                                      ", expected " + std::string(to_string(*input.data_type)));
      auto tensor = Tensor::of(given->second);
      tensor.type = type;
      scope.put(input.name, std::move(tensor));
      continue;
    }
    if (count(shape) == 0) {
      // WebNN has no empty tensors; the content of an empty one is known.
      scope.put(input.name, Tensor::of(make_literal(type, shape, Buffer())));
      continue;
    }
    auto tensor = Tensor::of(importer.builder.input(input.name, {*input.data_type, shape}));
    tensor.type = type;
    if (type == ElementType::float64)
      importer.warn("input " + quote(input.name) +
                    " is double: WebNN has none, so it is rounded to float32");
    scope.put(input.name, std::move(tensor));
  }
}

/// WebNN requires outputs to be results of operators, so inputs, constants and second names are
/// copied.
NamedOperands make_outputs(const ModelState& model, Importer& importer, Scope& scope) {
  NamedOperands outputs;
  for (const auto& output : model.summary().outputs) {
    auto& tensor = scope.at(output.name);
    if (tensor.sequence) unsupported("output " + quote(output.name) + " is a sequence of tensors");
    // A loop that never runs may return a value that its caller left out.
    if (!tensor.operand && !tensor.literal)
      malformed("output " + quote(output.name) + " has no value");
    if (!tensor.operand)
      tensor.operand = located("output " + quote(output.name),
                               [&] { return make_constant(importer, *tensor.literal); });
    if (!tensor.result) tensor.operand = importer.builder.identity(*tensor.operand, {output.name});
    outputs.emplace_back(output.name, *tensor.operand);
  }
  return outputs;
}

}  // namespace

}  // namespace detail

NamedOperands import_model(const Model& model, GraphBuilder& builder,
                           const ImportOptions& options) {
  return polychron::detail::with_errors([&] {
    const auto& state = detail::ModelState::of(model);
    detail::Importer importer(state, builder, options);
    detail::Scope scope(state.body(state.graph()).constants);
    detail::make_inputs(state, importer, options, scope);
    importer.add_main(scope);
    return detail::make_outputs(state, importer, scope);
  });
}

}  // namespace polychron::onnx
