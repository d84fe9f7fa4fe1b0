#include "runtime/passes/passes.hpp"

namespace polychron::runtime {

void optimize(PlanGraph& graph, int /*threads*/) {
  graph.sweep();
  make_views(graph);
}

}  // namespace polychron::runtime
