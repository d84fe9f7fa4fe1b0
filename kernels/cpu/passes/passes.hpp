// The passes over a plan's graph, in the order in which optimize() runs them; a file each.
//
// A pass looks for patterns and rewrites them in place, in float32 only: float16 becomes that
// first, integers stay as they are.
//
// The rule: a pass does not change a result by more than the operators' tolerance, for any input
// and any constant, NaN, infinities and subnormal numbers included. So it does not add constants to
// each other, and does not add to a product before that is rounded. It has one freedom: a number on
// the way to a result may be kept where it would overflow or underflow in float32.
#pragma once

#include "kernels/cpu/plan_graph.hpp"

namespace polychron::kernels {

/// All passes, each as often as it is useful.
void optimize(PlanGraph& graph);

/// Computes nodes whose inputs are all constant.
void fold_constants(PlanGraph& graph);

/// What is slow in float16 is computed in float32.
void widen_float16(PlanGraph& graph);

/// Scalar arithmetic becomes linear(alpha, beta); products join; those that change nothing go.
void simplify_scalars(PlanGraph& graph);

/// A gemm becomes a product and an addition where no kernel does both.
void split_gemm(PlanGraph& graph);

/// Decomposed hardSigmoid, hardSwish, swish and gelu become one operator.
void recognise_activations(PlanGraph& graph);

/// Decomposed layerNormalization becomes one operator.
void recognise_layer_normalization(PlanGraph& graph);

/// batchNormalization, linear and per-channel arithmetic after a convolution or product with
/// constant weights go into the weights and the bias.
void fold_affine(PlanGraph& graph);

/// Element-wise operators go into the node whose result they take, as post-operations.
void fuse_post_ops(PlanGraph& graph);

/// Transposed convolutions without overlap become 1x1 convolutions and a depth-to-space.
void split_transposed_convolutions(PlanGraph& graph);

/// Products read and write transposed values where they lie.
void absorb_transposes(PlanGraph& graph);

/// Two products and the softmax between become one step, where loops of our own compute it: no
/// operator of another implementation, so not a pass of optimize().
void join_attention(PlanGraph& graph);

/// Chooses the layout of pictures and puts reorders where layouts meet.
void choose_layouts(PlanGraph& graph);

/// reshape, identity and other operators that move nothing become views.
void make_views(PlanGraph& graph);

}  // namespace polychron::kernels
