#include "ops/shape_lines.hpp"

#include "ops/shape_rules.hpp"

namespace polychron::ops {

namespace {

struct ShapeLine {
  ShapeRule rule;
  std::string_view line;
};

constexpr ShapeLine lines[] = {
    {same_shape, "the first operand's"},
    {broadcast_shape, "the operands', broadcast to each other"},
    {clamp_shape, "the input's"},
    {softmax_shape, "the input's"},
    {matmul_shape,
     "[..., rows of a, columns of b]: a has as many columns as b has rows, and the dimensions "
     "before these are broadcast"},
    {gemm_shape, "[rows of a, columns of b], once these are transposed; c broadcasts to that"},
    {conv2d_shape,
     "the input's batch, the filter's output channels, and of height and width (size + padding "
     "- dilated window) / stride + 1, rounded down"},
    {conv_transpose2d_shape,
     "the input's batch, the filter's output channels times groups, and of height and width "
     "(size - 1) * stride + dilated window - padding + outputPadding, or outputSizes"},
    {pool2d_shape,
     "the input's batch and channels, and of height and width (size + padding - dilated window) "
     "/ stride + 1, rounded by outputShapeRounding, or outputSizes"},
    {resample2d_shape, "the input's, but along axes sizes, or size * scale rounded down"},
    {batch_normalization_shape, "the input's; each other operand has its size along axis"},
    {instance_normalization_shape,
     "the input's; scale and bias have as many elements as it has channels"},
    {layer_normalization_shape,
     "the input's; scale and bias have its sizes along axes, in their order"},
    {reduce_shape, "the input's without axes, or with 1 there if keepDimensions"},
    {arg_min_max_shape, "the input's without axis, or with 1 there if keepDimensions"},
    {cumulative_sum_shape, "the input's"},
    {top_k_shape, "the input's with k in the place of axis, which has at least k elements"},
    {concat_shape, "the inputs', which are equal but along axis; there their sum"},
    {expand_shape, "newShape, which the input's broadcasts to"},
    {pad_shape, "the input's plus both paddings, which have a number for each dimension"},
    {reshape_shape, "newShape, which has as many elements"},
    {slice_shape,
     "sizes / strides, rounded up; starts, sizes and strides have a number for each dimension, "
     "and starts + sizes stays within the input's"},
    {split_shape,
     "the input's, but along axis: there the equal parts of it, or splits, which add up to it"},
    {transpose_shape, "the input's in the order of permutation; without one, reversed"},
    {reverse_shape, "the input's"},
    {tile_shape, "the input's times repetitions, which has a number for each dimension"},
    {gather_shape, "the input's, with all of the indices' in the place of axis"},
    {gather_elements_shape, "the indices', which is the input's but along axis"},
    {gather_nd_shape,
     "the indices' without its last dimension, n; then the input's without its first n"},
    {scatter_elements_shape,
     "the input's; updates has the indices', which is the input's but along axis"},
    {scatter_nd_shape,
     "the input's; updates has the indices' without its last dimension, n, then the input's "
     "without its first n"},
    {blockwise_shape,
     "the input's; scale and zeroPoint have the same, of its rank, with dimensions that divide "
     "its: a block has one scale"},
    {gru_shape,
     "[directions, batch, hiddenSize], and of the sequence [steps, directions, batch, "
     "hiddenSize]; input [steps, batch, features], weight [directions, 3 * hiddenSize, "
     "features], recurrentWeight [directions, 3 * hiddenSize, hiddenSize], bias and "
     "recurrentBias [directions, 3 * hiddenSize]; the initial state as the last"},
    {gru_cell_shape,
     "[batch, hiddenSize]; input [batch, features], weight [3 * hiddenSize, features], "
     "recurrentWeight [3 * hiddenSize, hiddenSize], bias and recurrentBias [3 * hiddenSize]; "
     "the state as the next"},
    {lstm_shape,
     "[directions, batch, hiddenSize], and of the sequence [steps, directions, batch, "
     "hiddenSize]; input [steps, batch, features], weight [directions, 4 * hiddenSize, "
     "features], recurrentWeight [directions, 4 * hiddenSize, hiddenSize], bias and "
     "recurrentBias [directions, 4 * hiddenSize], peepholeWeight [directions, 3 * hiddenSize]; "
     "the initial states as the last"},
    {lstm_cell_shape,
     "[batch, hiddenSize]; input [batch, features], weight [4 * hiddenSize, features], "
     "recurrentWeight [4 * hiddenSize, hiddenSize], bias and recurrentBias [4 * hiddenSize], "
     "peepholeWeight [3 * hiddenSize]; the states as the next"},
};

}  // namespace

std::string_view shape_line(ShapeRule rule) {
  for (const auto& [known, line] : lines)
    if (known == rule) return line;
  return {};
}

}  // namespace polychron::ops
