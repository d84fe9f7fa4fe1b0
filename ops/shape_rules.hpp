// The shape rules: one per family of operators, in the words of the specification's algorithms.
// Implementations are in ops/shape_rules/, a file per family; a row says in words what its rule
// does.
#pragma once

#include <string_view>
#include <vector>

#include "ops/row.hpp"

namespace polychron::ops {

// -- elementwise, activation --------------------------------------------------------------------
std::vector<Shape> same_shape(const Call& call);
inline constexpr std::string_view same_words = "the first operand's";
std::vector<Shape> broadcast_shape(const Call& call);
inline constexpr std::string_view broadcast_words = "the operands', broadcast to each other";
std::vector<Shape> clamp_shape(const Call& call);
std::vector<Shape> softmax_shape(const Call& call);

// -- matrix, convolution, pooling, resampling ---------------------------------------------------
std::vector<Shape> matmul_shape(const Call& call);
std::vector<Shape> gemm_shape(const Call& call);
std::vector<Shape> conv2d_shape(const Call& call);
std::vector<Shape> conv_transpose2d_shape(const Call& call);
std::vector<Shape> pool2d_shape(const Call& call);
std::vector<Shape> resample2d_shape(const Call& call);

// -- normalization, reduction -------------------------------------------------------------------
std::vector<Shape> batch_normalization_shape(const Call& call);
std::vector<Shape> instance_normalization_shape(const Call& call);
std::vector<Shape> layer_normalization_shape(const Call& call);
std::vector<Shape> reduce_shape(const Call& call);
std::vector<Shape> arg_min_max_shape(const Call& call);
std::vector<Shape> cumulative_sum_shape(const Call& call);
std::vector<Shape> top_k_shape(const Call& call);

// -- movement, indexing -------------------------------------------------------------------------
std::vector<Shape> concat_shape(const Call& call);
std::vector<Shape> expand_shape(const Call& call);
std::vector<Shape> pad_shape(const Call& call);
std::vector<Shape> reshape_shape(const Call& call);
std::vector<Shape> slice_shape(const Call& call);
std::vector<Shape> split_shape(const Call& call);
std::vector<Shape> transpose_shape(const Call& call);
std::vector<Shape> reverse_shape(const Call& call);
std::vector<Shape> tile_shape(const Call& call);
std::vector<Shape> gather_shape(const Call& call);
std::vector<Shape> gather_elements_shape(const Call& call);
std::vector<Shape> gather_nd_shape(const Call& call);
std::vector<Shape> scatter_elements_shape(const Call& call);
std::vector<Shape> scatter_nd_shape(const Call& call);

// -- quantization, recurrent --------------------------------------------------------------------
std::vector<Shape> blockwise_shape(const Call& call);
std::vector<Shape> gru_shape(const Call& call);
std::vector<Shape> gru_cell_shape(const Call& call);
std::vector<Shape> lstm_shape(const Call& call);
std::vector<Shape> lstm_cell_shape(const Call& call);

// -- data types that an attribute decides -------------------------------------------------------
DataType cast_type(const Attributes& attributes);
DataType arg_min_max_type(const Attributes& attributes);

}  // namespace polychron::ops
