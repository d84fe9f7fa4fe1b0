#include "observe/stress/symbolic_graph.hpp"

#include "ops/table.hpp"

namespace polychron::stress {

namespace {

// SplitMix64's finalizer (Steele, Lea, Flood 2014): every bit of the input affects every bit of the
// result.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// The coefficients of one output of a graph.
class Affine {
 public:
  Affine(std::string_view graph, std::size_t output) : addend_(mix(output + 1)) {
    for (const auto c : graph) addend_ = mix(addend_ ^ static_cast<unsigned char>(c));
  }
  std::uint64_t addend() const { return addend_; }
  /// Odd, so that different values of an input give different results.
  std::uint64_t multiplier(std::size_t input) const { return mix(addend_ + input + 1) | 1U; }

 private:
  std::uint64_t addend_;
};

std::shared_ptr<ops::Graph> graph_of_inputs(const std::string& label, std::size_t inputs) {
  auto graph = std::make_shared<ops::Graph>();
  graph->label = label;
  for (std::size_t i = 0; i < inputs; ++i) {
    graph->inputs.emplace_back("in" + std::to_string(i), graph->values.size());
    graph->values.push_back({ops::Value::Kind::input, value_descriptor, nullptr});
  }
  return graph;
}

ops::ValueId result(ops::Graph& graph) {
  graph.values.push_back({ops::Value::Kind::result, value_descriptor, nullptr});
  return static_cast<ops::ValueId>(graph.values.size() - 1);
}

ops::ValueId constant(ops::Graph& graph, std::uint64_t value) {
  auto bytes = Buffer::copy_of(std::span<const std::uint64_t>(&value, 1));
  graph.values.push_back({ops::Value::Kind::constant, value_descriptor,
                          std::make_shared<const Buffer>(std::move(bytes))});
  return static_cast<ops::ValueId>(graph.values.size() - 1);
}

ops::ValueId apply(ops::Graph& graph, ops::OpId op, ops::ValueId a, ops::ValueId b) {
  const auto out = result(graph);
  graph.nodes.push_back({op, {a, b}, {out}, {}, "n" + std::to_string(graph.nodes.size())});
  return out;
}

}  // namespace

std::uint64_t symbolic_result(std::string_view graph, std::size_t output,
                              std::span<const std::uint64_t> inputs) {
  const Affine affine(graph, output);
  auto value = affine.addend();
  for (std::size_t i = 0; i < inputs.size(); ++i) value += affine.multiplier(i) * inputs[i];
  return value;
}

std::shared_ptr<const ops::Graph> symbolic_graph(const std::string& label, std::size_t inputs) {
  auto graph = graph_of_inputs(label, inputs);
  graph->outputs.emplace_back("out", result(*graph));
  return graph;
}

std::shared_ptr<const ops::Graph> computed_graph(const std::string& label, std::size_t inputs) {
  using ops::op;
  auto graph = graph_of_inputs(label, inputs);
  const Affine affine(label, 0);
  auto sum = constant(*graph, affine.addend());
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto factor = constant(*graph, affine.multiplier(i));
    const auto product = apply(*graph, op("mul"), graph->inputs[i].second, factor);
    sum = apply(*graph, op("add"), product, sum);
  }
  graph->outputs.emplace_back("out", sum);
  return graph;
}

}  // namespace polychron::stress
