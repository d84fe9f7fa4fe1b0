// The order of the passes: each prepares patterns for the next one.
#include "kernels/cpu/check.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {

namespace {

struct Pass {
  const char* name;
  void (*run)(PlanGraph& graph);
};

constexpr Pass passes[] = {
    {"fold_constants", fold_constants},
    {"gather_first", gather_first},
    {"widen_float16", widen_float16},
    {"simplify_scalars", simplify_scalars},
    {"split_gemm", split_gemm},
    {"recognise_layer_normalization", recognise_layer_normalization},
    {"recognise_activations", recognise_activations},
    {"simplify_scalars", simplify_scalars},
    {"fold_affine", fold_affine},
    {"fuse_post_ops", fuse_post_ops},
    {"split_transposed_convolutions", split_transposed_convolutions},
    {"absorb_transposes", absorb_transposes},
    {"choose_layouts", choose_layouts},
    {"make_views", make_views},
};

}  // namespace

void optimize(PlanGraph& graph) {
  graph.sweep();
  for (const Pass& pass : passes) {
    pass.run(graph);
    check_graph(graph, pass.name);
  }
}

}  // namespace polychron::kernels
