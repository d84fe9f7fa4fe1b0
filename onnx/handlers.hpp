// The table of operators: for each name the function that adds it to the graph.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "onnx/node.hpp"

namespace polychron::onnx::detail {

/// Reads the node's inputs and attributes, and sets its outputs: to operands, or to literals if all
/// relevant inputs are known. The handler itself deals with differences between opsets.
using Handler = void (*)(Node& node);

struct Row {
  std::string_view name;
  Handler handle;
};

/// The handler of an operator, or nullptr. Rows of other domains than ONNX's own have the domain
/// and a colon before the operator's name.
Handler find_handler(const std::string& domain, const std::string& name);

/// The names of another domain's operators that have a handler, sorted.
std::vector<std::string_view> operators_of(const std::string& domain);

// The rows of each family: one file each in operators/.
std::span<const Row> activation_rows() noexcept;
std::span<const Row> attention_rows() noexcept;
std::span<const Row> control_rows() noexcept;
std::span<const Row> conversion_rows() noexcept;
std::span<const Row> convolution_rows() noexcept;
std::span<const Row> dot_attention_rows() noexcept;
std::span<const Row> einsum_rows() noexcept;
std::span<const Row> elementwise_rows() noexcept;
std::span<const Row> function_rows() noexcept;
std::span<const Row> indexing_rows() noexcept;
std::span<const Row> integer_rows() noexcept;
std::span<const Row> loss_rows() noexcept;
std::span<const Row> matrix_rows() noexcept;
std::span<const Row> movement_rows() noexcept;
std::span<const Row> normalization_rows() noexcept;
std::span<const Row> order_rows() noexcept;
std::span<const Row> pooling_rows() noexcept;
std::span<const Row> quantization_rows() noexcept;
std::span<const Row> quantized_rows() noexcept;
std::span<const Row> recurrent_rows() noexcept;
std::span<const Row> reduction_rows() noexcept;
std::span<const Row> resampling_rows() noexcept;
std::span<const Row> sampling_rows() noexcept;
std::span<const Row> scatter_rows() noexcept;
std::span<const Row> selection_rows() noexcept;
std::span<const Row> sequence_rows() noexcept;
std::span<const Row> shape_rows() noexcept;
std::span<const Row> signal_rows() noexcept;
std::span<const Row> stateful_rows() noexcept;
std::span<const Row> text_rows() noexcept;
std::span<const Row> value_rows() noexcept;

}  // namespace polychron::onnx::detail
