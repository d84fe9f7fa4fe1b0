// The task of a kernel: an operator, its operands with their layouts, and the post-operations that
// it applies to the result before storing it.
//
// A Problem is a plain value: passes build it, implementations read it, tests make it up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/internal.hpp"
#include "ops/graph.hpp"

namespace polychron::kernels {

/// How a value's elements lie in memory. `plain` is row-major and serves every rank and type. The
/// blocked layouts are for float32 values of rank 4 with the dimensions batch, channels, height,
/// width. They keep 8 or 16 channels together and pad the last block with zeros.
enum class Layout : std::uint8_t { plain, blocked8, blocked16 };

std::string_view to_string(Layout layout) noexcept;

/// The number of channels in a block of `layout`; 1 for plain.
constexpr std::uint32_t channel_block(Layout layout) noexcept {
  return layout == Layout::blocked16 ? 16U : layout == Layout::blocked8 ? 8U : 1U;
}

/// Bytes that a value takes in memory, including the padding of blocks.
std::size_t storage_bytes(const OperandDescriptor& descriptor, Layout layout) noexcept;

/// An operand or result of a Problem. `constant` is set for operands whose bytes are known at build
/// time.
struct Slot {
  OperandDescriptor descriptor;
  Layout layout = Layout::plain;
  ops::ConstantBytes constant;
  bool present = true;  ///< false: an optional operand that the graph does not have
  /// A transpose that moves nothing: dimension i of the operator's view is dimension order[i] of
  /// the memory, which is row-major. Empty: no transpose. Only for operands and results of
  /// products.
  std::vector<std::uint32_t> order = {};
  /// Elements between neighbours along each dimension of the view, if this is a slice of a larger
  /// value. Empty: see steps_of(). Only for operands and results of products.
  std::vector<std::int64_t> strides = {};

  /// True if the slot is row-major and not a slice.
  bool lies_plain() const noexcept {
    return layout == Layout::plain && order.empty() && strides.empty();
  }
};

/// Elements between neighbours along each dimension of a slot in plain layout, as its operator sees
/// them.
std::vector<std::int64_t> steps_of(const Slot& slot);

/// An operator that is applied to a result in place, in float32 or wider. `operands` are the
/// numbers of the Problem's inputs that are its further operands. They broadcast to the result.
struct PostOp {
  ops::OpId op{};
  Attributes attributes;
  std::vector<std::uint32_t> operands = {};
};

/// The first `own_inputs` inputs are the operator's own; the others belong to post-operations.
struct Problem {
  ops::OpId op{};
  Attributes attributes;
  std::string label;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  std::vector<PostOp> post_ops;
  std::size_t own_inputs = 0;
};

/// A convolution over a picture of one column, as one over a picture of one row, which has the same
/// bytes: kernels compute neighbours in a row together. Any other problem stays as it is.
Problem as_row(const Problem& problem);

/// The operator's name: the specification's, or an internal one such as "swish", "reorder" or
/// "copy".
std::string_view operator_name(ops::OpId op) noexcept;

/// "[conv_3] conv2d float32 [1, 3, 48, 320] -> ...": for descriptions of plans and for errors.
std::string to_string(const Problem& problem);

}  // namespace polychron::kernels
