// averagePool2d; and maxPool2d, for engines without kernels of our own.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/primitive_kernel.hpp"
#include "kernels/window_range.hpp"

namespace polychron::kernels::onednn {
namespace {

using ops::op;

/// True if every window along one dimension of the picture covers an element of the input.
bool reach_the_input(memory::dim from, memory::dim windows, memory::dim stride, memory::dim before,
                     memory::dim window, memory::dim dilation) {
  for (memory::dim i = 0; i < windows; ++i) {
    const memory::dim first = i * stride - before;
    // The first element of the window that is not before the input.
    const memory::dim skipped = first < 0 ? (-first + dilation - 1) / dilation : 0;
    if (skipped >= window || first + skipped * dilation >= from) return false;
  }
  return true;
}

KernelResult prepare_pool(const Problem& problem, dnnl::algorithm algorithm) {
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!is_float32(in)) return refuse("float32 only");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  const memory::desc source = picture(in, a.layout), target = picture(out, a.layout);
  const memory::dims from = dims_of(source), to = dims_of(target);
  if (!windows_stay_near(a, static_cast<std::uint32_t>(from[2]),
                         static_cast<std::uint32_t>(from[3])))
    return refuse("windows far beyond the picture");
  memory::dims window{from[2], from[3]}, strides, dilations, before, after;
  if (a.window_dimensions) window = {(*a.window_dimensions)[0], (*a.window_dimensions)[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    strides.push_back(a.strides[i]);
    dilations.push_back(memory::dim{a.dilations[i]} - 1);
    before.push_back(a.padding[2 * i]);
    // Windows may read beyond the padding if the output size is rounded up. A given output size may
    // also leave out some of the padding.
    const memory::dim extent = (window[i] - 1) * a.dilations[i] + 1;
    after.push_back((to[2 + i] - 1) * strides[i] + extent - from[2 + i] - before[i]);
    // oneDNN refuses these.
    if (after[i] >= extent ||
        !reach_the_input(from[2 + i], to[2 + i], strides[i], before[i], window[i], a.dilations[i]))
      return refuse("a window outside the input");
  }
  return guarded([&]() -> KernelResult {
    const auto pd = describe_primitive<Pooling>(caller_scratch(), inference, algorithm, source,
                                                target, strides, window, dilations, before, after);
    auto kernel = std::make_unique<PrimitiveKernel>(Pooling(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

KernelResult prepare_average(const Problem& problem) {
  return prepare_pool(problem, average_without_padding);
}

}  // namespace

KernelResult prepare_max_pool(const Problem& problem) {
  return prepare_pool(problem, dnnl::algorithm::pooling_max);
}

std::span<const Entry> pooling_entries() noexcept {
  static constexpr Entry entries[] = {{op("averagePool2d"), prepare_average}};
  return entries;
}

}  // namespace polychron::kernels::onednn
