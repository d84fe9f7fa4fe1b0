// Data movement: layouts, transpose and concat.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/primitive_kernel.hpp"

namespace polychron::kernels::onednn {
namespace {

/// The strides of a transpose's input along the result's dimensions.
memory::dims transposed(const Problem& problem) {
  const auto& permutation = std::get<TransposeAttributes>(problem.attributes).permutation;
  const memory::dims from = row_major(to_dims(problem.inputs[0].descriptor.shape));
  memory::dims strides;
  for (std::size_t i = 0; i < from.size(); ++i)
    strides.push_back(from[permutation ? (*permutation)[i] : from.size() - 1 - i]);
  return strides;
}

/// Copies float32 values from `source` to `target`.
KernelResult reorder(const memory::desc& source, const memory::desc& target) {
  const dnnl::reorder::primitive_desc pd(engine(), source, engine(), target, caller_scratch());
  auto kernel = std::make_unique<PrimitiveKernel>(dnnl::reorder(pd), pd.scratchpad_desc());
  kernel->add_input(DNNL_ARG_FROM, source, 0);
  kernel->add_output(DNNL_ARG_TO, target);
  return KernelResult(std::move(kernel));
}

KernelResult prepare_reorder(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!is_float32(in)) return refuse("float32 only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  return guarded([&]() -> KernelResult {
    if (problem.op == op_reorder) return reorder(describe(in), describe(out));
    if (in.layout != Layout::plain || out.layout != Layout::plain)
      return refuse("plain layout only");
    if (in.descriptor.shape.size() > 6) return refuse("rank up to 6 only");
    const memory::desc target = describe(out);
    return reorder({dims_of(target), memory::data_type::f32, transposed(problem)}, target);
  });
}

KernelResult prepare_concat(const Problem& problem) {
  const auto axis = static_cast<int>(std::get<ConcatAttributes>(problem.attributes).axis);
  const Slot& out = problem.outputs[0];
  if (!is_float32(out)) return refuse("float32 only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (out.descriptor.shape.size() > 6) return refuse("rank up to 6 only");
  std::vector<memory::desc> sources;
  for (const Slot& slot : problem.inputs) {
    if (slot.layout != out.layout) return refuse("one layout only");
    sources.push_back(describe(slot));
  }
  return guarded([&]() -> KernelResult {
    const memory::desc target = describe(out);
    const auto pd = describe_concat(caller_scratch(), target, axis, sources);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::concat(pd), pd.scratchpad_desc());
    for (std::size_t i = 0; i < sources.size(); ++i)
      kernel->add_input(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), sources[i], i);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace

std::span<const Entry> movement_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("concat"), prepare_concat},
                                      {ops::op("transpose"), prepare_reorder},
                                      {op_reorder, prepare_reorder}};
  return entries;
}

}  // namespace polychron::kernels::onednn
