// The passes over a plan's graph, in the order in which optimize() runs them. Each has a file.
//
// A pass looks for patterns in float32 and rewrites them in place. widen_float16 turns float16 into
// float32 first; integers stay unchanged.
//
// The rule: a pass changes a result by no more than the operators' tolerance, for any input and any
// constant, including NaN, infinities and subnormal numbers. It therefore does not add constants to
// each other, and does not add to a product before rounding it. It joins two factors only where one
// product overflows and vanishes as two would. It has one freedom: what moves into the weights of a
// convolution or product, and what becomes one activation, may keep an intermediate number that
// would overflow or vanish in float32.
#pragma once

#include "kernels/cpu/plan_graph.hpp"

namespace polychron::kernels {

/// Runs all passes, each as often as it is useful.
void optimize(PlanGraph& graph);

/// Joins an exact product of 8-bit integers into one step. Comes before optimize(), which would
/// make floats of its constants, and is no part of it, as only our own loops have such an operator.
void recognise_integer_products(PlanGraph& graph);

/// Joins an exact convolution of 8-bit integers with a constant filter into one step, as above.
/// So does a float32 convolution between dequantized values, where sums become exact.
void recognise_integer_convolutions(PlanGraph& graph);

/// Joins ONNX's DynamicQuantizeLinear into one step of our own loops.
void recognise_dynamic_quantization(PlanGraph& graph);

/// Joins a product and its matrix of 4-bit or 8-bit integers into one step that keeps the matrix
/// packed. Comes before optimize(), which would expand the matrix.
void recognise_packed_products(PlanGraph& graph);

/// Joins an attention over cached and new keys into one step, which reads the part of the cache
/// that the mask lets through. Comes before optimize(), which would change its products.
void join_cached_attention(PlanGraph& graph);

/// Joins a division by the root of a row's mean square, and the scale behind it, into one step.
/// Comes before optimize() and is no part of it, as only our own loops have such an operator.
void recognise_rms_normalization(PlanGraph& graph);

/// Joins a rotary embedding into one step, as above.
void recognise_rotary_embedding(PlanGraph& graph);

/// Computes nodes whose inputs are all constant.
void fold_constants(PlanGraph& graph);

/// Computes `value` now, if constants make it in at most `depth` cheap steps. Returns its bytes, or
/// null. Takes what it makes from `bytes`. `uses` may be older than nodes that were removed.
ops::ConstantBytes folded(PlanGraph& graph, const Uses& uses, ops::ValueId value,
                          std::uint64_t& bytes, std::size_t depth = 16);

/// Gathers rows of a quantized table before they are dequantized.
void gather_first(PlanGraph& graph);

/// Computes operators in float32 that are slow in float16.
void widen_float16(PlanGraph& graph);

/// Turns scalar arithmetic into linear(alpha, beta), joins products, and drops those without
/// effect.
void simplify_scalars(PlanGraph& graph);

/// Splits a gemm into a product, a factor and an addition if no kernel does all of them.
void split_gemm(PlanGraph& graph);

/// Turns decomposed hardSigmoid, hardSwish, swish and gelu into one operator.
void recognise_activations(PlanGraph& graph);

/// Turns a decomposed layerNormalization into one operator.
void recognise_layer_normalization(PlanGraph& graph);

/// Folds batchNormalization, linear and per-channel arithmetic into the constant weights and bias
/// of the convolution or product before it.
void fold_affine(PlanGraph& graph);

/// Fuses element-wise operators, as post-operations, into the node whose result they take.
void fuse_post_ops(PlanGraph& graph);

/// Turns transposed convolutions without overlap into 1x1 convolutions and a depth-to-space.
void split_transposed_convolutions(PlanGraph& graph);

/// Lets products read and write transposed values where they lie.
void absorb_transposes(PlanGraph& graph);

/// Joins two products and the softmax between them into one step, if our own loops compute it. Not
/// part of optimize(), because no other implementation has such an operator.
void join_attention(PlanGraph& graph);

/// Joins operators that work element by element into one step, which walks through the data once.
/// Not part of optimize(), because only our own loops have such an operator.
void join_chains(PlanGraph& graph);

/// Chooses the layout of pictures, and inserts reorders where layouts meet.
void choose_layouts(PlanGraph& graph);

/// Turns reshape, identity and other operators that move nothing into views.
void make_views(PlanGraph& graph);

}  // namespace polychron::kernels
