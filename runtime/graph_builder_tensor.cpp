// GraphBuilder's operators on whole tensors: each names its row of the operator table, which does
// the rest.
#include "polychron/graph_builder.hpp"
#include "runtime/add_operator.hpp"

namespace polychron {

using detail::add_one;
using detail::attributes_of;
using detail::given;
using detail::state_of;
using ops::op;

// -- matrices, convolution, pooling, resampling ------------------------------------------------

Operand GraphBuilder::conv2d(const Operand& input, const Operand& filter,
                             const Conv2dOptions& options) {
  return add_one(state_, op("conv2d"), {&input, &filter, given(options.bias)},
                 attributes_of(options), options.label);
}
Operand GraphBuilder::conv_transpose2d(const Operand& input, const Operand& filter,
                                       const ConvTranspose2dOptions& options) {
  return add_one(state_, op("convTranspose2d"), {&input, &filter, given(options.bias)},
                 attributes_of(options), options.label);
}
Operand GraphBuilder::gemm(const Operand& a, const Operand& b, const GemmOptions& options) {
  return add_one(state_, op("gemm"), {&a, &b, given(options.c)}, attributes_of(options),
                 options.label);
}
Operand GraphBuilder::matmul(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("matmul"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::average_pool2d(const Operand& input, const Pool2dOptions& options) {
  return add_one(state_, op("averagePool2d"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::max_pool2d(const Operand& input, const Pool2dOptions& options) {
  return add_one(state_, op("maxPool2d"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::resample2d(const Operand& input, const Resample2dOptions& options) {
  return add_one(state_, op("resample2d"), {&input}, attributes_of(options), options.label);
}

// -- normalisation and reduction ---------------------------------------------------------------

Operand GraphBuilder::batch_normalization(const Operand& input, const Operand& mean,
                                          const Operand& variance,
                                          const BatchNormalizationOptions& options) {
  return add_one(state_, op("batchNormalization"),
                 {&input, &mean, &variance, given(options.scale), given(options.bias)},
                 attributes_of(options), options.label);
}
Operand GraphBuilder::instance_normalization(const Operand& input,
                                             const InstanceNormalizationOptions& options) {
  return add_one(state_, op("instanceNormalization"),
                 {&input, given(options.scale), given(options.bias)}, attributes_of(options),
                 options.label);
}
Operand GraphBuilder::layer_normalization(const Operand& input,
                                          const LayerNormalizationOptions& options) {
  return add_one(state_, op("layerNormalization"),
                 {&input, given(options.scale), given(options.bias)}, attributes_of(options),
                 options.label);
}
Operand GraphBuilder::reduce_l1(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceL1"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_l2(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceL2"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_log_sum(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceLogSum"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_log_sum_exp(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceLogSumExp"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_max(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceMax"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_mean(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceMean"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_min(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceMin"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_product(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceProduct"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_sum(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceSum"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::reduce_sum_square(const Operand& input, const ReduceOptions& options) {
  return add_one(state_, op("reduceSumSquare"), {&input}, attributes_of(options), options.label);
}

// -- shape and data movement -------------------------------------------------------------------

Operand GraphBuilder::concat(const std::vector<Operand>& inputs, std::uint32_t axis,
                             const OperatorOptions& options) {
  std::vector<const Operand*> operands;
  for (const Operand& input : inputs) operands.push_back(&input);
  auto results = state_of(state_).add_node(ops::row(op("concat")), operands, ConcatAttributes{axis},
                                           options.label);
  return std::move(results.front());
}
Operand GraphBuilder::expand(const Operand& input, const Shape& new_shape,
                             const OperatorOptions& options) {
  return add_one(state_, op("expand"), {&input}, ExpandAttributes{new_shape}, options.label);
}
Operand GraphBuilder::gather(const Operand& input, const Operand& indices,
                             const GatherOptions& options) {
  return add_one(state_, op("gather"), {&input, &indices}, attributes_of(options), options.label);
}
Operand GraphBuilder::pad(const Operand& input, const std::vector<std::uint32_t>& beginning_padding,
                          const std::vector<std::uint32_t>& ending_padding,
                          const PadOptions& options) {
  return add_one(state_, op("pad"), {&input},
                 PadAttributes{beginning_padding, ending_padding, options.mode, options.value},
                 options.label);
}
Operand GraphBuilder::reshape(const Operand& input, const Shape& new_shape,
                              const OperatorOptions& options) {
  return add_one(state_, op("reshape"), {&input}, ReshapeAttributes{new_shape}, options.label);
}
Operand GraphBuilder::slice(const Operand& input, const std::vector<std::uint32_t>& starts,
                            const std::vector<std::uint32_t>& sizes, const SliceOptions& options) {
  return add_one(state_, op("slice"), {&input}, SliceAttributes{starts, sizes, options.strides},
                 options.label);
}
std::vector<Operand> GraphBuilder::split(const Operand& input, std::uint32_t parts,
                                         const SplitOptions& options) {
  const Operand* operand = &input;
  return state_of(state_).add_node(ops::row(op("split")), {&operand, 1},
                                   SplitAttributes{{parts}, true, options.axis}, options.label);
}
std::vector<Operand> GraphBuilder::split(const Operand& input,
                                         const std::vector<std::uint32_t>& sizes,
                                         const SplitOptions& options) {
  const Operand* operand = &input;
  return state_of(state_).add_node(ops::row(op("split")), {&operand, 1},
                                   SplitAttributes{sizes, false, options.axis}, options.label);
}
Operand GraphBuilder::transpose(const Operand& input, const TransposeOptions& options) {
  return add_one(state_, op("transpose"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::where(const Operand& condition, const Operand& true_value,
                            const Operand& false_value, const OperatorOptions& options) {
  return add_one(state_, op("where"), {&condition, &true_value, &false_value}, {}, options.label);
}

}  // namespace polychron
