// A model with free dimensions, served as WebNN has it: one graph for each shape of its input.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <list>
#include <string>

#include "polychron/onnx.hpp"
#include "polychron/polychron.hpp"

namespace ocr {

/// A graph for one input shape, with the tensors that it is used with. Used by one thread.
class ShapedGraph {
 public:
  /// Starts to build the graph, and returns; the context's compiler does the work meanwhile.
  ShapedGraph(polychron::Context context, const polychron::onnx::Model& model,
              const polychron::Shape& shape, const std::string& label);

  const polychron::Shape& input_shape() const noexcept { return input_shape_; }
  /// Waits for the graph.
  const polychron::Shape& output_shape();

  /// Runs the graph on `input`, whose bytes move into a tensor. Returns without waiting for the
  /// result; any number of runs may be on their way.
  polychron::Future<polychron::Buffer> run(polychron::Buffer&& input);

 private:
  struct Tensors {
    polychron::Tensor input, output;
  };
  const polychron::Graph& graph();
  const Tensors& next_tensors();

  polychron::Context context_;
  polychron::Shape input_shape_;
  polychron::Future<polychron::Graph> building_;
  polychron::Graph graph_;
  std::array<Tensors, 2> tensors_;
  std::size_t runs_ = 0;
};

/// A model and its graphs, of which it keeps the most recently used. Used by one thread.
class ShapedModel {
 public:
  /// Loads the model. Throws polychron::Error: as onnx::load(); bad_data if it does not have
  /// exactly one input and one output.
  ShapedModel(polychron::Context context, const std::filesystem::path& path, std::string label,
              std::size_t max_graphs);

  /// The graph for `shape`; a new one is being built when this returns. Valid until max_graphs
  /// other shapes were asked for. Throws polychron::Error: as onnx::import_model().
  ShapedGraph& graph_for(const polychron::Shape& shape);

 private:
  polychron::Context context_;
  polychron::onnx::Model model_;
  std::string label_;
  std::size_t max_graphs_;
  std::list<ShapedGraph> graphs_;  ///< most recently used first
};

}  // namespace ocr
