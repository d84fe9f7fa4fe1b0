// resample2d.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/primitive_kernel.hpp"

namespace polychron::kernels::onednn {
namespace {

KernelResult prepare_resample(const Problem& problem) {
  const auto& a = std::get<Resample2dAttributes>(problem.attributes);
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!is_float32(in)) return refuse("float32 only");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (a.axes != std::vector<std::uint32_t>{2, 3}) return refuse("axes 2 and 3 only");
  const bool nearest = a.mode == InterpolationMode::nearest_neighbor;
  for (const std::uint32_t axis : a.axes)
    // Halves are rounded the other way; whole factors have none.
    if (nearest && out.descriptor.shape[axis] % in.descriptor.shape[axis] != 0)
      return refuse("nearest neighbours by whole factors only");
  return guarded([&]() -> KernelResult {
    const memory::desc source = describe(in), target = describe(out);
    const auto pd = describe_primitive<dnnl::resampling_forward>(
        caller_scratch(), inference,
        nearest ? dnnl::algorithm::resampling_nearest : dnnl::algorithm::resampling_linear, source,
        target);
    auto kernel =
        std::make_unique<PrimitiveKernel>(dnnl::resampling_forward(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace

std::span<const Entry> resampling_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("resample2d"), prepare_resample}};
  return entries;
}

}  // namespace polychron::kernels::onednn
