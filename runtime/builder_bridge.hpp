// The bridge from a GraphBuilder to its context.
#pragma once

#include <memory>

#include "ops/graph.hpp"
#include "polychron/context.hpp"
#include "polychron/graph_builder.hpp"

namespace polychron::detail {

/// Throws invalid_state (context_lost) if the context is destroyed (lost).
void check_context_alive(const Context& context);

/// ContextOptions::strict.
bool is_strict(const Context& context);

/// The bytes of a constant tensor, shared. Throws type_error (a tensor of another context, or not
/// constant), invalid_state (destroyed).
ops::ConstantBytes constant_tensor_bytes(const Context& context, const Tensor& tensor);

/// Hands a finished description to the context's compiler. Never throws.
Future<Graph> submit_build(const Context& context, std::shared_ptr<const ops::Graph> graph,
                           const BuildOptions& options);

}  // namespace polychron::detail
