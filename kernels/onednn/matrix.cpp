// matmul, gemm, and convolutions of pictures of one pixel. A matmul with one matrix is one product
// of all rows of the batch. A constant matrix is packed once. A vector that is added afterwards
// becomes the primitive's bias.
#include <algorithm>

#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

/// The operands as the primitive sees them.
struct Product {
  memory::desc a, b, c;
  bool flat = false;  ///< true: all rows of the batch, in two dimensions
};

memory::desc strided(const memory::dims& dims, const memory::dims& strides) {
  return {dims, memory::data_type::f32, strides};
}

/// The slot with dimensions of 1 before its shape, and with its strides in memory.
memory::desc batched(const Slot& slot, std::size_t rank) {
  memory::dims dims = to_dims(slot.descriptor.shape);
  memory::dims strides = steps_of(slot);
  const memory::dim whole = static_cast<memory::dim>(*element_count(slot.descriptor.shape));
  dims.insert(dims.begin(), rank - dims.size(), 1);
  strides.insert(strides.begin(), rank - strides.size(), whole);
  return strided(dims, strides);
}

/// A matrix, with rows and columns swapped if `transposed`.
memory::desc matrix(const Slot& slot, bool transposed) {
  memory::dims dims = to_dims(slot.descriptor.shape);
  memory::dims strides = steps_of(slot);
  if (transposed) {
    std::swap(dims[0], dims[1]);
    std::swap(strides[0], strides[1]);
  }
  return strided(dims, strides);
}

/// All rows of a batch as one matrix. Their stride is uniform, because a part with some of the
/// columns has these columns in every row.
memory::desc flattened(const Slot& slot) {
  const Shape& shape = slot.descriptor.shape;
  const auto steps = steps_of(slot);
  const std::size_t rank = shape.size();
  const memory::dim columns = shape.back();
  const auto count = static_cast<memory::dim>(*element_count(shape));
  return strided({count / columns, columns}, {steps[rank - 2], steps[rank - 1]});
}

Product product_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<GemmAttributes>(&problem.attributes))
    return {matrix(problem.inputs[0], gemm->a_transpose),
            matrix(problem.inputs[1], gemm->b_transpose), matrix(problem.outputs[0], false), true};
  const bool ordered = !problem.inputs[0].order.empty() || !problem.inputs[1].order.empty() ||
                       !problem.outputs[0].order.empty();
  const Shape& b = problem.inputs[1].descriptor.shape;
  if (!ordered && std::all_of(b.begin(), b.end() - 2, [](auto dim) { return dim == 1; }))
    return {flattened(problem.inputs[0]), flattened(problem.inputs[1]),
            flattened(problem.outputs[0]), true};
  const std::size_t rank = problem.outputs[0].descriptor.shape.size();
  return {batched(problem.inputs[0], rank), batched(problem.inputs[1], rank),
          batched(problem.outputs[0], rank), false};
}

/// The vector that the first post-operation adds to every row; null if it does something else.
const Slot* bias_of(const Problem& problem, const Product& product) {
  if (!product.flat || problem.post_ops.empty()) return nullptr;
  const PostOp& first = problem.post_ops[0];
  if (first.op != ops::op("add") || first.operands.size() != 1) return nullptr;
  const Slot& slot = problem.inputs[first.operands[0]];
  const Shape& shape = problem.outputs[0].descriptor.shape;
  if (shape.back() == 1 || !is_float32(slot)) return nullptr;
  return broadcast_of(problem, slot.descriptor.shape) == Broadcast::channel ? &slot : nullptr;
}

KernelResult prepare(const Problem& problem) {
  const Product product = product_of(problem);
  if (!keeps_to_strides(product.a, product.c)) return refuse("a row or column of steps");
  const Slot& b_slot = problem.inputs[1];
  const Slot* bias_slot = bias_of(problem, product);
  const auto post_ops = translate(problem, product.c, bias_slot ? 1 : 0);
  if (!post_ops) return refuse("a post-operation that oneDNN does not have");
  const memory::desc bias = bias_slot ? plain({1, dims_of(product.c)[1]}) : memory::desc();
  const auto describe = [&](const memory::desc& b) {
    return describe_primitive<dnnl::matmul>(post_ops->attributes, product.a, b, bias, product.c);
  };
  auto pd = describe(product.b);
  if (b_slot.constant && product.flat) {
    const auto packed =
        describe({dims_of(product.b), memory::data_type::f32, memory::format_tag::any});
    // With a packed operand the library has only its reference for some products (2.6.3: a
    // transposed one).
    if (!is_reference(packed.impl_info_str()) || is_reference(pd.impl_info_str())) pd = packed;
  }
  auto kernel = std::make_unique<PrimitiveKernel>(dnnl::matmul(pd), pd.scratchpad_desc());
  kernel->add_input(DNNL_ARG_SRC, product.a, 0);
  kernel->add_operand(DNNL_ARG_WEIGHTS, pd.weights_desc(), product.b, b_slot, 1);
  if (bias_slot) kernel->add_input(DNNL_ARG_BIAS, bias, problem.post_ops[0].operands[0]);
  kernel->add_output(DNNL_ARG_DST, product.c);
  post_ops->add_to(*kernel);
  return KernelResult(std::move(kernel));
}

/// alpha * a * b + beta * c, as a product with post-operations.
KernelResult prepare_gemm(const Problem& problem) {
  const auto& a = std::get<GemmAttributes>(problem.attributes);
  Problem expanded = problem;
  std::vector<PostOp> first;
  if (a.alpha != 1) first.push_back({ops::op("linear"), LinearAttributes{a.alpha, 0}});
  if (problem.own_inputs > 2 && problem.inputs[2].present) {
    if (a.beta != 1) return refuse("beta other than 1");
    first.push_back({ops::op("add"), {}, {2}});
  }
  expanded.post_ops.insert(expanded.post_ops.begin(), first.begin(), first.end());
  return prepare(expanded);
}

}  // namespace

KernelResult prepare_product(const Problem& problem) {
  for (const Slot& slot : problem.inputs)
    if (slot.present && (!is_float32(slot) || slot.layout != Layout::plain))
      return refuse("float32 in plain layout only");
  return guarded([&]() -> KernelResult {
    return std::holds_alternative<GemmAttributes>(problem.attributes) ? prepare_gemm(problem)
                                                                      : prepare(problem);
  });
}

std::span<const Entry> matrix_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("gemm"), prepare_product},
                                      {ops::op("matmul"), prepare_product}};
  return entries;
}

}  // namespace polychron::kernels::onednn
