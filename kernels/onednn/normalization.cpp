// layerNormalization, for GPUs: on a processor our own loops take all that these take.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"

namespace polychron::kernels::onednn {
namespace {

KernelResult prepare_layer_normalization(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& a = std::get<LayerNormalizationAttributes>(problem.attributes);
  const Shape& shape = problem.inputs[0].descriptor.shape;
  // The library normalises the last dimension. Several last dimensions become one.
  memory::dim rows = 1, columns = 1;
  const std::size_t first = a.axes ? shape.size() - a.axes->size() : 1;
  for (std::size_t i = 0; a.axes && i < a.axes->size(); ++i)
    if ((*a.axes)[i] != first + i) return refuse("axes other than the last, in order");
  for (std::size_t i = 0; i < shape.size(); ++i) (i < first ? rows : columns) *= shape[i];
  if (first >= shape.size()) return refuse("no axes");
  const bool scale = problem.inputs.size() > 1 && problem.inputs[1].present;
  const bool bias = problem.inputs.size() > 2 && problem.inputs[2].present;
  auto flags = dnnl::normalization_flags::none;
  if (scale) flags |= dnnl::normalization_flags::use_scale;
  if (bias) flags |= dnnl::normalization_flags::use_shift;
  return guarded([&]() -> KernelResult {
    const memory::desc desc = plain({rows, columns}), vector = plain({columns});
    const auto pd =
        describe_layer_normalization(caller_scratch(), desc, static_cast<float>(a.epsilon), flags);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::layer_normalization_forward(pd),
                                                    pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, desc, 0);
    if (scale) kernel->add_input(DNNL_ARG_SCALE, vector, 1);
    if (bias) kernel->add_input(DNNL_ARG_SHIFT, vector, 2);
    kernel->add_output(DNNL_ARG_DST, desc);
    kernel->allow_in_place(0);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace

std::span<const Entry> normalization_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("layerNormalization"), prepare_layer_normalization}};
  return entries;
}

}  // namespace polychron::kernels::onednn
