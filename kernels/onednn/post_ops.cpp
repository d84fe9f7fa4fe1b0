#include "kernels/onednn/post_ops.hpp"

#include <algorithm>

#include "kernels/fusion.hpp"
#include "kernels/integer_convolution.hpp"
#include "kernels/integer_product.hpp"

namespace polychron::kernels::onednn {

std::optional<std::string> not_plain(const Problem& problem) {
  if (!is_float32(problem.inputs[0])) return "float32 only";
  if (!problem.post_ops.empty()) return "no post-operations";
  if (problem.inputs[0].layout != Layout::plain || problem.outputs[0].layout != Layout::plain)
    return "plain layout only";
  return std::nullopt;
}

std::vector<Eltwise> eltwise_of(ops::OpId id, const Attributes& attributes) {
  for (const auto functions : {elementwise_functions(), activation_functions()})
    for (const Function& function : functions)
      if (function.op == id) return function.of(attributes);
  return {};
}

std::optional<dnnl::algorithm> binary_of(ops::OpId id) noexcept {
  for (const Operation& operation : elementwise_operations())
    if (operation.op == id) return operation.algorithm;
  return std::nullopt;
}

namespace {

/// True if the library reads vectors along channels as whole operands from the second picture on.
/// It does so after element-wise operators on pictures of one pixel (2.6.3).
bool loses_vectors(const Problem& problem) {
  const Shape& shape = problem.outputs[0].descriptor.shape;
  return binary_of(problem.op) && shape.size() > 2 && shape[0] > 1 &&
         std::all_of(shape.begin() + 2, shape.end(), [](std::uint32_t n) { return n == 1; });
}

}  // namespace

Broadcast broadcast_of(const Problem& problem, const Shape& operand) {
  const Shape& shape = problem.outputs[0].descriptor.shape;
  const std::size_t channel_axis = onednn::channel_axis(problem);
  if (operand == shape) return Broadcast::none;
  if (*element_count(operand) == 1) return Broadcast::scalar;
  if (operand.size() > shape.size() || channel_axis >= shape.size()) return Broadcast::other;
  const std::size_t shift = shape.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const bool channel = i + shift == channel_axis;
    if (operand[i] != (channel ? shape[i + shift] : 1U)) return Broadcast::other;
  }
  if (loses_vectors(problem)) return Broadcast::other;
  return Broadcast::channel;
}

/// oneDNN's generated code keeps one set of parameters for each function (seen in 2.6.3). A second
/// linear, clip or leaky relu with other parameters would use those of the first.
bool can_join(const Problem& problem, std::size_t count, ops::OpId id,
              const Attributes& attributes) {
  const auto functions = eltwise_of(id, attributes);
  if (functions.empty() ||
      (binary_of(problem.op) && !std::all_of(functions.begin(), functions.end(), exact_alone)))
    return false;
  for (const PostOp& post_op : std::span(problem.post_ops).first(count)) {
    if (!post_op.operands.empty()) continue;
    for (const Eltwise& a : eltwise_of(post_op.op, post_op.attributes))
      for (const Eltwise& b : functions)
        if (a.algorithm == b.algorithm && (a.alpha != b.alpha || a.beta != b.beta)) return false;
  }
  return true;
}

bool is_product(ops::OpId id) noexcept { return is(id, ops::Family::matrix); }

std::size_t channel_axis(const Problem& problem) {
  return is_product(problem.op) ? problem.outputs[0].descriptor.shape.size() - 1 : 1;
}

std::optional<PostOps> translate(const Problem& problem, const memory::desc& desc,
                                 std::size_t first) {
  PostOps result;
  dnnl::post_ops list;
  const memory::dims dims = dims_of(desc);
  const bool product = is_product(problem.op);
  // The primitive may have fewer dimensions than the operator.
  const std::size_t channels = product ? dims.size() - 1 : 1;
  for (std::size_t i = first; i < problem.post_ops.size(); ++i) {
    const PostOp& post_op = problem.post_ops[i];
    if (post_op.operands.empty()) {
      if (!can_join(problem, i, post_op.op, post_op.attributes)) return std::nullopt;
      for (const Eltwise& function : eltwise_of(post_op.op, post_op.attributes))
        append_eltwise(list, function);
      continue;
    }
    const auto algorithm = binary_of(post_op.op);
    const std::uint32_t index = post_op.operands[0];
    const Slot& slot = problem.inputs[index];
    if (!algorithm || post_op.operands.size() != 1 || !is_float32(slot)) return std::nullopt;
    memory::dims operand_dims(dims.size(), 1);
    const Broadcast broadcast = broadcast_of(problem, slot.descriptor.shape);
    switch (broadcast) {
      case Broadcast::none:
        operand_dims = dims;
        break;
      case Broadcast::scalar:
        break;
      case Broadcast::channel:
        operand_dims[channels] = dims[channels];
        break;
      case Broadcast::other:
        return std::nullopt;
    }
    const bool whole = broadcast == Broadcast::none;
    if (!whole && slot.layout != Layout::plain) return std::nullopt;
    // For a part of a product's rows, the operand is the same part with the same strides.
    const memory::desc operand = whole && !product                ? describe(slot)
                                 : whole && !slot.strides.empty() ? desc
                                                                  : plain(operand_dims);
    result.operands.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(list.len()) | DNNL_ARG_SRC_1, operand, index});
    list.append_binary(*algorithm, operand);
  }
  result.attributes.set_post_ops(list);
  return result;
}

void PostOps::add_to(PrimitiveKernel& kernel) const {
  for (const Operand& operand : operands)
    kernel.add_input(operand.arg, operand.desc, operand.index);
}

}  // namespace polychron::kernels::onednn

namespace polychron::kernels {

using namespace onednn;

namespace {

bool ends_integers(Problem product, ops::OpId id, const Attributes& attributes,
                   std::span<const Slot> operands) {
  PostOp next{id, attributes};
  for (const Slot& operand : operands) {
    next.operands.push_back(static_cast<std::uint32_t>(product.inputs.size()));
    product.inputs.push_back(operand);
  }
  product.post_ops.push_back(std::move(next));
  return integer_operands(product) || integer_convolution(product);
}

}  // namespace

bool can_follow(const Problem& problem, ops::OpId id, const Attributes& attributes,
                std::span<const Slot> operands) {
  if (!is_float32(problem.outputs[0])) return false;
  if (problem.op == op_integer_product || problem.op == op_integer_convolution)
    return ends_integers(problem, id, attributes, operands);
  if (!is(problem.op, ops::Family::convolution) && !is_product(problem.op) &&
      !binary_of(problem.op))
    return false;
  if (way_of(problem) == by_scattering) return false;
  if (operands.empty()) return can_join(problem, problem.post_ops.size(), id, attributes);
  if (!binary_of(id) || operands.size() != 1 || !is_float32(operands[0])) return false;
  return broadcast_of(problem, operands[0].descriptor.shape) != Broadcast::other;
}

}  // namespace polychron::kernels
