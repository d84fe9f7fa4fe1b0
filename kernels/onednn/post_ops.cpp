#include "kernels/onednn/post_ops.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "kernels/fusion.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

using dnnl::algorithm;
using ops::op;

float bound(const std::optional<Number>& number, float otherwise) {
  if (!number) return otherwise;
  return std::visit([](auto value) { return static_cast<float>(value); }, *number);
}

std::vector<Eltwise> one(algorithm algorithm, double alpha = 0, double beta = 0) {
  return {{algorithm, static_cast<float>(alpha), static_cast<float>(beta)}};
}

std::vector<Eltwise> parametrized(ops::OpId id, const Attributes& attributes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (id == op("clamp")) {
    const auto& a = std::get<ClampAttributes>(attributes);
    return one(algorithm::eltwise_clip, bound(a.min_value, -infinity),
               bound(a.max_value, infinity));
  }
  if (id == op("elu"))
    return one(algorithm::eltwise_elu, std::get<EluAttributes>(attributes).alpha);
  if (id == op("leakyRelu"))
    return one(algorithm::eltwise_relu, std::get<LeakyReluAttributes>(attributes).alpha);
  if (id == op("linear") || id == op_swish) {
    const auto& a = std::get<LinearAttributes>(attributes);
    return one(id == op_swish ? algorithm::eltwise_swish : algorithm::eltwise_linear, a.alpha,
               a.beta);
  }
  if (id == op("hardSigmoid")) {
    const auto& a = std::get<HardSigmoidAttributes>(attributes);
    return {one(algorithm::eltwise_linear, a.alpha, a.beta)[0],
            one(algorithm::eltwise_clip, 0, 1)[0]};
  }
  return {};
}

}  // namespace

std::vector<Eltwise> eltwise_of(ops::OpId id, const Attributes& attributes) {
  struct Plain {
    ops::OpId op;
    Eltwise eltwise;
  };
  static constexpr Plain known[] = {
      {op("abs"), {algorithm::eltwise_abs}},
      {op("exp"), {algorithm::eltwise_exp}},
      {op("gelu"), {algorithm::eltwise_gelu_erf}},
      {op("hardSwish"), hard_swish()},
      {op("log"), {algorithm::eltwise_log}},
      {op("neg"), {algorithm::eltwise_linear, -1, 0}},
      {op("relu"), {algorithm::eltwise_relu}},
      {op("sigmoid"), {algorithm::eltwise_logistic}},
      {op("softplus"), soft_relu()},
      {op("sqrt"), {algorithm::eltwise_sqrt}},
      {op("tanh"), {algorithm::eltwise_tanh}},
  };
  for (const Plain& plain : known)
    if (plain.op == id) return {plain.eltwise};
  return parametrized(id, attributes);
}

std::optional<algorithm> binary_of(ops::OpId id) noexcept {
  if (id == op("add")) return algorithm::binary_add;
  if (id == op("sub")) return algorithm::binary_sub;
  if (id == op("mul")) return algorithm::binary_mul;
  if (id == op("div")) return algorithm::binary_div;
  if (id == op("max")) return algorithm::binary_max;
  if (id == op("min")) return algorithm::binary_min;
  return std::nullopt;
}

namespace {

/// After element-wise operators, vectors along channels of one pixel are taken for whole operands
/// from the second picture on (2.6.3).
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

/// oneDNN's generated code keeps one set of parameters for each function (seen in 2.6.3): a second
/// linear, clip or leaky relu with other parameters than the first is computed with the first's.
bool can_join(std::span<const PostOp> before, ops::OpId id, const Attributes& attributes) {
  for (const PostOp& post_op : before) {
    if (post_op.operand != PostOp::no_operand) continue;
    for (const Eltwise& a : eltwise_of(post_op.op, post_op.attributes))
      for (const Eltwise& b : eltwise_of(id, attributes))
        if (a.algorithm == b.algorithm && (a.alpha != b.alpha || a.beta != b.beta)) return false;
  }
  return true;
}

bool is_product(ops::OpId id) noexcept { return id == op("matmul") || id == op("gemm"); }

std::size_t channel_axis(const Problem& problem) {
  return is_product(problem.op) ? problem.outputs[0].descriptor.shape.size() - 1 : 1;
}

std::optional<PostOps> translate(const Problem& problem, const memory::desc& desc,
                                 std::size_t first) {
  PostOps result;
  dnnl::post_ops list;
  const memory::dims dims = desc.dims();
  const bool product = is_product(problem.op);
  // Of the dimensions that the primitive sees, which may be fewer than the operator's.
  const std::size_t channels = product ? dims.size() - 1 : 1;
  for (std::size_t i = first; i < problem.post_ops.size(); ++i) {
    const PostOp& post_op = problem.post_ops[i];
    if (post_op.operand == PostOp::no_operand) {
      const auto functions = eltwise_of(post_op.op, post_op.attributes);
      const auto before = std::span(problem.post_ops).first(i);
      if (functions.empty() || !can_join(before, post_op.op, post_op.attributes))
        return std::nullopt;
      for (const Eltwise& function : functions) append_eltwise(list, function);
      continue;
    }
    const auto algorithm = binary_of(post_op.op);
    const Slot& slot = problem.inputs[post_op.operand];
    if (!algorithm || !is_float32(slot)) return std::nullopt;
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
    const memory::desc operand = whole && !product ? describe(slot) : plain(operand_dims);
    result.operands.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(list.len()) | DNNL_ARG_SRC_1, operand, post_op.operand});
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
using ops::op;

bool can_follow(const Problem& problem, ops::OpId id, const Attributes& attributes,
                const Slot* operand) {
  if (!is_float32(problem.outputs[0])) return false;
  const bool picture = problem.op == op("conv2d") || problem.op == op("convTranspose2d");
  if (!picture && !is_product(problem.op) && !binary_of(problem.op)) return false;
  if (operand == nullptr)
    return !eltwise_of(id, attributes).empty() && can_join(problem.post_ops, id, attributes);
  if (!binary_of(id) || !is_float32(*operand)) return false;
  return broadcast_of(problem, operand->descriptor.shape) != Broadcast::other;
}

bool is_ordered(ops::OpId id) noexcept { return id == op("sub") || id == op("div"); }

bool computes_in_blocks(ops::OpId id, const Attributes& attributes) {
  return binary_of(id) || eltwise_of(id, attributes).size() == 1;
}

}  // namespace polychron::kernels
