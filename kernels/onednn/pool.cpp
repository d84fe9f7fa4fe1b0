// Pooling and resample2d.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {

KernelResult prepare_pool(const Problem& problem) {
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!is_float32(in)) return refuse("float32 only");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  const bool nhwc = a.layout == InputOperandLayout::nhwc;
  const auto picture = [&](const Slot& slot) {
    if (!nhwc) return describe(slot);
    const Shape& s = slot.descriptor.shape;
    return memory::desc({s[0], s[3], s[1], s[2]}, memory::data_type::f32, memory::format_tag::nhwc);
  };
  const memory::desc source = picture(in), target = picture(out);
  const memory::dims from = source.dims(), to = target.dims();
  memory::dims window{from[2], from[3]}, strides, dilations, before, after;
  if (a.window_dimensions) window = {(*a.window_dimensions)[0], (*a.window_dimensions)[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    strides.push_back(a.strides[i]);
    dilations.push_back(memory::dim{a.dilations[i]} - 1);
    before.push_back(a.padding[2 * i]);
    // Rounding up reads beyond the padding, output sizes given may leave some of it out.
    const memory::dim extent = (window[i] - 1) * a.dilations[i] + 1;
    after.push_back((to[2 + i] - 1) * strides[i] + extent - from[2 + i] - before[i]);
    if (after[i] >= extent) return refuse("a window outside the input");
  }
  return guarded([&]() -> KernelResult {
    const auto algorithm =
        problem.op == ops::op("maxPool2d") ? dnnl::algorithm::pooling_max : average_without_padding;
    const auto pd = describe_primitive<Pooling>(caller_scratch(), inference, algorithm, source,
                                                target, strides, window, dilations, before, after);
    auto kernel = std::make_unique<PrimitiveKernel>(Pooling(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

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

}  // namespace polychron::kernels::onednn
