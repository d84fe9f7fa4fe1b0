#include "tests/fuzz/site.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace fuzz {

using namespace polychron;

namespace {

constexpr std::uint64_t memory_limit = 64U << 20;

/// Ends before main() does: CAF has thread-local state that the runtime must not outlive.
struct World {
  Runtime runtime;
  std::optional<Context> context;
};

World& world() {
  static World instance;
  return instance;
}

/// True if every step of the plan and every tensor is small. A step's text tells its shapes.
bool is_small(const Graph& graph) {
  constexpr std::size_t most_bytes = small * 64;
  if (graph.plan().size() > 128) return false;
  if (graph.memory().arena > most_bytes || graph.memory().constants > most_bytes) return false;
  for (const auto* descriptors : {&graph.inputs(), &graph.outputs()})
    for (const auto& [name, descriptor] : *descriptors)
      if (element_count(descriptor.shape).value_or(small + 1) > small) return false;
  return true;
}

void run(const Graph& graph, std::span<const std::uint8_t> pattern) {
  NamedBuffers inputs, outputs;
  for (const auto& [name, descriptor] : graph.inputs())
    inputs.emplace_back(name, filled(byte_length(descriptor).value(), pattern));
  for (const auto& [name, descriptor] : graph.outputs())
    outputs.emplace_back(name, Buffer(byte_length(descriptor).value()));
  const auto result = context().compute(graph, std::move(inputs), std::move(outputs)).get();
  if (!result.status) return check_refusal(result.status.error());
  if (result.outputs.size() != graph.outputs().size()) finding("not every output came back");
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    if (result.outputs[i].second.size() != byte_length(graph.outputs()[i].second))
      finding("output '" + result.outputs[i].first + "' came back in another size");
}

}  // namespace

void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

Context& context() {
  auto& [runtime, context] = world();
  if (!context) {
    ContextOptions options;
    options.label = "fuzz";
    options.memory_limit = memory_limit;
    context = runtime.create_context(options).get();
  }
  return *context;
}

void check_refusal(const Error& error) {
  switch (error.root().kind()) {
    case ErrorKind::type_error:
    case ErrorKind::invalid_state:
    case ErrorKind::not_supported:
    case ErrorKind::out_of_memory:
    case ErrorKind::bad_data:
      return;
    default:
      finding("an error of kind " + std::string(to_string(error.root().kind())) + ": " +
              error.what());
  }
}

void build_and_run(GraphBuilder& builder, const NamedOperands& outputs,
                   std::span<const std::uint8_t> pattern) {
  Graph graph;
  try {
    graph = builder.build(outputs, {"fuzzed"}).get();
  } catch (const Error& error) {
    return check_refusal(error);
  }
  if (graph.outputs().size() != outputs.size()) finding("the graph has not the outputs asked for");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (graph.outputs()[i].first != outputs[i].first)
      finding("output '" + outputs[i].first + "' became '" + graph.outputs()[i].first + "'");
    if (graph.outputs()[i].second != outputs[i].second.descriptor())
      finding("output '" + outputs[i].first + "' has another shape or type");
  }
  if (is_small(graph)) run(graph, pattern);
}

Buffer filled(std::size_t size, std::span<const std::uint8_t> pattern) {
  Buffer buffer(size);
  if (pattern.empty()) return buffer;
  for (std::size_t i = 0; i < size; ++i) buffer.data()[i] = std::byte{pattern[i % pattern.size()]};
  return buffer;
}

}  // namespace fuzz
