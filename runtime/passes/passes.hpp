// The passes over a plan's graph, in the order in which optimize() runs them; a file each.
#pragma once

#include "runtime/plan_graph.hpp"

namespace polychron::runtime {

/// All passes.
void optimize(PlanGraph& graph, int threads);

/// reshape, identity and other operators that move nothing become views.
void make_views(PlanGraph& graph);

}  // namespace polychron::runtime
