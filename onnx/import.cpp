// import_model(): binds the inputs, then adds node after node.
#include <string>
#include <utility>

#include "onnx/bindings.hpp"
#include "onnx/importer.hpp"
#include "onnx/node.hpp"
#include "onnx/problem.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

/// The graph's inputs as tensors.
void make_inputs(const ModelState& model, Importer& importer, const ImportOptions& options,
                 Scope& scope) {
  const Bindings bindings(model.summary(), options.bindings);
  for (const auto& input : model.summary().inputs) {
    if (!input.data_type)
      unsupported("input " + quote(input.name) + ": WebNN has no type " + input.type);
    auto tensor =
        Tensor::of(importer.builder.input(input.name, {*input.data_type, bindings.resolve(input)}));
    tensor.type = model.element_type(input.name);
    if (tensor.type == ElementType::float64)
      importer.warn("input " + quote(input.name) +
                    " is double: WebNN has none, so it is rounded to float32");
    scope.put(input.name, std::move(tensor));
  }
}

/// WebNN wants outputs to be results of operators: inputs, constants and second names are copied.
NamedOperands make_outputs(const ModelState& model, GraphBuilder& builder, Scope& scope) {
  NamedOperands outputs;
  for (const auto& output : model.summary().outputs) {
    auto& tensor = scope.at(output.name);
    if (tensor.sequence) unsupported("output " + quote(output.name) + " is a sequence of tensors");
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
  detail::Importer importer(state, builder, options);
  detail::Scope scope(state.body(state.graph()).constants);
  detail::make_inputs(state, importer, options, scope);
  importer.add_main(scope);
  return detail::make_outputs(state, builder, scope);
}

}  // namespace polychron::onnx
