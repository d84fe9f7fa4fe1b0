// Element-wise operators of one or two operands, in any layout.
#include "kernels/fusion.hpp"
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"

namespace polychron::kernels::onednn {
namespace {

using dnnl::algorithm;
using ops::op;

// Without exp, which turns NaN into infinity, and log, which treats subnormal numbers as the
// smallest normal one (2.6.3).
constexpr Function plain_functions[] = {
    {op("abs"), function<algorithm::eltwise_abs>},
    {op("neg"),
     [](const Attributes&) {
       // Adds -0, because adding 0 would turn the negative of 0 into 0.
       return std::vector<Eltwise>{{algorithm::eltwise_linear, -1, -0.0F}};
     }},
    {op("sqrt"), function<algorithm::eltwise_sqrt>},
};

constexpr Operation operations[] = {
    {op("add"), algorithm::binary_add}, {op("div"), algorithm::binary_div},
    {op("max"), algorithm::binary_max}, {op("min"), algorithm::binary_min},
    {op("mul"), algorithm::binary_mul}, {op("sub"), algorithm::binary_sub},
};

/// All elements of a value as one row, including the padding of blocks. Functions need no shape.
memory::desc row_of(const Slot& slot) {
  const std::size_t bytes = storage_bytes(slot.descriptor, slot.layout);
  return plain({static_cast<memory::dim>(bytes / sizeof(float))});
}

/// The second operand of a binary primitive. It has the first one's rank; its layout is plain or
/// the same.
std::optional<memory::desc> broadcast_desc(const Slot& slot, const Slot& result) {
  if (slot.layout == result.layout && slot.layout != Layout::plain) return describe(slot);
  if (slot.layout != Layout::plain) return std::nullopt;
  if (slot.descriptor.shape == result.descriptor.shape && result.layout != Layout::plain)
    return std::nullopt;
  memory::dims dims = to_dims(slot.descriptor.shape);
  const std::size_t rank = std::max<std::size_t>(1, result.descriptor.shape.size());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return plain(dims);
}

}  // namespace

KernelResult prepare_function(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!is_float32(in)) return refuse("float32 only");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  const auto chain = eltwise_of(problem.op, problem.attributes);
  if (chain.size() != 1) return refuse("not one of oneDNN's functions");
  if (!exact_alone(chain[0])) return refuse("oneDNN's function is not exact enough, or drops NaN");
  // A function that changes 0 would spoil the padding of blocks, which has to stay 0.
  const bool padded =
      storage_bytes(in.descriptor, in.layout) != storage_bytes(in.descriptor, Layout::plain);
  return guarded([&]() -> KernelResult {
    const memory::desc desc = padded ? describe(in) : row_of(in);
    const auto pd = describe_eltwise(caller_scratch(), desc, chain[0]);
    auto kernel =
        std::make_unique<PrimitiveKernel>(dnnl::eltwise_forward(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, desc, 0);
    kernel->add_output(DNNL_ARG_DST, desc);
    kernel->allow_in_place(0);
    return KernelResult(std::move(kernel));
  });
}

namespace {

KernelResult prepare_operation(const Problem& problem) {
  const auto operation = binary_of(problem.op);
  if (!is_float32(problem.inputs[0]) || !is_float32(problem.inputs[1]))
    return refuse("float32 only");
  // Only the second operand may broadcast. Commutative operators may swap their operands.
  const Slot& out = problem.outputs[0];
  const bool swap =
      commutes(problem.op) && problem.inputs[0].descriptor.shape != out.descriptor.shape;
  const Slot& first = problem.inputs[swap ? 1 : 0];
  if (first.descriptor.shape != out.descriptor.shape || first.layout != out.layout)
    return refuse("the first operand broadcasts or has another layout");
  // On processors with 16 lanes the library's code for blocks of 8 writes beyond its result
  // (2.6.3).
  if (out.layout != Layout::plain && out.layout != picture_layout())
    return refuse("blocks of the processor's own size only");
  const auto second = broadcast_desc(problem.inputs[swap ? 0 : 1], out);
  if (!second) return refuse("the second operand has another layout");
  return guarded([&]() -> KernelResult {
    const memory::desc desc = describe(out);
    const auto post_ops = translate(problem, desc);
    if (!post_ops) return refuse("a post-operation that oneDNN does not have");
    const auto pd =
        describe_primitive<dnnl::binary>(post_ops->attributes, *operation, desc, *second, desc);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::binary(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC_0, desc, swap ? 1 : 0);
    kernel->add_input(DNNL_ARG_SRC_1, *second, swap ? 0 : 1);
    kernel->add_output(DNNL_ARG_DST, desc);
    post_ops->add_to(*kernel);
    // If channels do not fill the last block, the library clears that block's result before it
    // reads the operand. It does so for post-operations and for operands without channels (2.6.3).
    if (out.layout == Layout::plain || out.descriptor.shape[1] % channel_block(out.layout) == 0)
      kernel->allow_in_place(swap ? 1 : 0);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace

std::span<const Function> elementwise_functions() noexcept { return plain_functions; }
std::span<const Operation> elementwise_operations() noexcept { return operations; }
std::span<const Entry> elementwise_entries() noexcept {
  static constexpr auto entries = joined(entries_of(plain_functions, prepare_function),
                                         entries_of(operations, prepare_operation));
  return entries;
}

}  // namespace polychron::kernels::onednn
