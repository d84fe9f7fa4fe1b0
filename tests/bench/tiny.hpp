// Shared by the benchmarks of small parts: a graph that does next to nothing, and tensors for it.
#pragma once

#include "polychron/polychron.hpp"

namespace bench {

inline const polychron::OperandDescriptor four{polychron::DataType::float32, {4}};

/// c = a + b, four numbers each.
struct Tiny {
  explicit Tiny(int lanes = 1) : context(runtime.create_context(options(lanes)).get()) {
    polychron::GraphBuilder builder(context);
    const auto sum = builder.add(builder.input("a", four), builder.input("b", four));
    graph = builder.build({{"c", sum}}).get();
    inputs = {{"a", tensor()}, {"b", tensor()}};
    outputs = {{"c", tensor()}};
  }
  polychron::Tensor tensor() { return context.create_tensor({four, true, true, {}}).get(); }
  void dispatch() { context.dispatch(graph, inputs, outputs); }
  /// Returns when every dispatch so far is over.
  void wait() { static_cast<void>(context.read_tensor(outputs[0].second).get()); }

  polychron::Runtime runtime;
  polychron::Context context;
  polychron::Graph graph;
  polychron::NamedTensors inputs, outputs;

 private:
  static polychron::ContextOptions options(int lanes) {
    polychron::ContextOptions options;
    options.lanes = lanes;
    return options;
  }
};

}  // namespace bench
