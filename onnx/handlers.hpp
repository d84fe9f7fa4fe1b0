// The table of operators: for each name the function that adds it to the graph.
#pragma once

#include <span>
#include <string_view>

#include "onnx/node.hpp"

namespace polychron::onnx::detail {

/// Reads the node's inputs and attributes, and sets its outputs: to operands, or to literals when
/// all that matters is known. Differences between opsets are settled inside.
using Handler = void (*)(Node& node);

struct Row {
  std::string_view name;
  Handler handle;
};

/// The handler of one of ONNX's own operators, or nullptr.
Handler find_handler(std::string_view name) noexcept;

// The rows, by family: a file each in operators/.
std::span<const Row> activation_rows() noexcept;
std::span<const Row> convolution_rows() noexcept;
std::span<const Row> elementwise_rows() noexcept;
std::span<const Row> indexing_rows() noexcept;
std::span<const Row> matrix_rows() noexcept;
std::span<const Row> movement_rows() noexcept;
std::span<const Row> normalization_rows() noexcept;
std::span<const Row> pooling_rows() noexcept;
std::span<const Row> reduction_rows() noexcept;
std::span<const Row> resampling_rows() noexcept;
std::span<const Row> shape_rows() noexcept;

}  // namespace polychron::onnx::detail
