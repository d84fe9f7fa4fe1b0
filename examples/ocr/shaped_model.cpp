#include "examples/ocr/shaped_model.hpp"

#include <algorithm>
#include <utility>

namespace ocr {

using polychron::Buffer;
using polychron::Error;
using polychron::ErrorKind;
using polychron::Future;
using polychron::Shape;

ShapedGraph::ShapedGraph(polychron::Context context, const polychron::onnx::Model& model,
                         const Shape& shape, const std::string& label)
    : context_(std::move(context)), input_shape_(shape) {
  polychron::GraphBuilder builder(context_);
  const auto& input = model.summary().inputs.front().name;
  const auto outputs = polychron::onnx::import_model(model, builder, {{{input, shape}}});
  building_ = builder.build(outputs, {label + " " + polychron::to_string(shape)});
}

const polychron::Graph& ShapedGraph::graph() {
  if (!graph_) graph_ = building_.get();
  return graph_;
}

const Shape& ShapedGraph::output_shape() { return graph().outputs().front().second.shape; }

/// Two pairs, used in turn. That is enough for any number of runs: a context does what it is told
/// in the order in which it is told, so a read gets its own run's result even if the tensors have
/// been given to the next run already.
const ShapedGraph::Tensors& ShapedGraph::next_tensors() {
  auto& tensors = tensors_[runs_++ % tensors_.size()];
  if (!tensors.output) {
    const auto& [input_name, input] = graph().inputs().front();
    const auto& [output_name, output] = graph().outputs().front();
    auto input_tensor = context_.create_tensor(
        {input, /*readable=*/false, /*writable=*/true, graph_.label() + " " + input_name});
    auto output_tensor = context_.create_tensor(
        {output, /*readable=*/true, /*writable=*/false, graph_.label() + " " + output_name});
    tensors = {input_tensor.get(), output_tensor.get()};
  }
  return tensors;
}

Future<Buffer> ShapedGraph::run(Buffer&& input) {
  const auto& tensors = next_tensors();
  context_.write_tensor(tensors.input, std::move(input));
  context_.dispatch(graph(), {{graph_.inputs().front().first, tensors.input}},
                    {{graph_.outputs().front().first, tensors.output}});
  return context_.read_tensor(tensors.output);
}

ShapedModel::ShapedModel(polychron::Context context, const std::filesystem::path& path,
                         std::string label, std::size_t max_graphs)
    : context_(std::move(context)),
      model_(polychron::onnx::load(path)),
      label_(std::move(label)),
      max_graphs_(max_graphs) {
  const auto& summary = model_.summary();
  if (summary.inputs.size() != 1 || summary.outputs.size() != 1)
    throw Error(ErrorKind::bad_data, "expected a model with one input and one output")
        .with_object("model '" + path.string() + "'");
}

ShapedGraph& ShapedModel::graph_for(const Shape& shape) {
  const auto known = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const auto& graph) { return graph.input_shape() == shape; });
  if (known != graphs_.end()) {
    graphs_.splice(graphs_.begin(), graphs_, known);
  } else {
    graphs_.emplace_front(context_, model_, shape, label_);
    if (graphs_.size() > max_graphs_) graphs_.pop_back();
  }
  return graphs_.front();
}

}  // namespace ocr
