// The bridge from a GraphBuilder to its context.
#pragma once

#include <memory>

#include "messages/local_part.hpp"
#include "ops/graph.hpp"
#include "ops/symbols.hpp"
#include "polychron/context.hpp"
#include "polychron/graph_builder.hpp"

namespace polychron::detail {

/// Throws invalid_state (context_lost) if the context is destroyed (lost).
void check_context_alive(const Context& context);

/// ContextOptions::strict.
bool is_strict(const Context& context);

/// ContextOptions::features has "dynamic-dimensions".
bool has_dynamic_dimensions(const Context& context);

/// The bytes of a constant tensor, shared. Throws type_error (a tensor of another context, or not
/// constant), invalid_state (destroyed).
ops::ConstantBytes constant_tensor_bytes(const Context& context, const Tensor& tensor);

/// Hands a finished description to the context's compiler. Never throws.
Future<Graph> submit_build(const Context& context, std::shared_ptr<const ops::Graph> graph,
                           const BuildOptions& options);

/// A graph with dynamic dimensions, of a description with these symbols. Never throws.
Future<Graph> make_dynamic_graph(const Context& context, std::shared_ptr<const ops::Graph> graph,
                                 ops::Symbols symbols, const BuildOptions& options);

struct GraphHandle;
/// Sends a build that dispatches may follow at once. Its constants are counted already. Throws
/// out_of_memory.
Future<msg::Built> submit_early_build(const GraphHandle& handle,
                                      std::shared_ptr<const ops::Graph> graph, msg::Permit permit);

}  // namespace polychron::detail
