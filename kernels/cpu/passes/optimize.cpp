// The order of the passes: what one leaves behind is what the next looks for.
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {

void optimize(PlanGraph& graph) {
  graph.sweep();
  fold_constants(graph);
  simplify_scalars(graph);
  recognise_layer_normalization(graph);
  recognise_activations(graph);
  simplify_scalars(graph);
  factor_gates(graph);
  fold_affine(graph);
  fuse_post_ops(graph);
  split_transposed_convolutions(graph);
  absorb_transposes(graph);
  choose_layouts(graph);
  make_views(graph);
}

}  // namespace polychron::kernels
