// softmax, layerNormalization and reductions.
#include <algorithm>

#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

std::optional<std::string> unsupported(const Problem& problem) {
  if (!is_float32(problem.inputs[0])) return "float32 only";
  if (!problem.post_ops.empty()) return "no post-operations";
  if (problem.inputs[0].layout != Layout::plain) return "plain layout only";
  return std::nullopt;
}

std::optional<dnnl::algorithm> reduction_of(ops::OpId id) {
  using ops::op;
  if (id == op("reduceMean")) return dnnl::algorithm::reduction_mean;
  if (id == op("reduceSum")) return dnnl::algorithm::reduction_sum;
  if (id == op("reduceMax")) return dnnl::algorithm::reduction_max;
  if (id == op("reduceMin")) return dnnl::algorithm::reduction_min;
  return std::nullopt;
}

}  // namespace

KernelResult prepare_softmax(const Problem& problem) {
  if (const auto reason = unsupported(problem)) return refuse(*reason);
  const auto axis = static_cast<int>(std::get<SoftmaxAttributes>(problem.attributes).axis);
  return guarded([&]() -> KernelResult {
    const memory::desc desc = describe(problem.inputs[0]);
    const auto pd = describe_primitive<Softmax>(
        caller_scratch(), inference, dnnl::algorithm::softmax_accurate, desc, desc, axis);
    auto kernel = std::make_unique<PrimitiveKernel>(Softmax(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, desc, 0);
    kernel->add_output(DNNL_ARG_DST, desc);
    kernel->allow_in_place(0);
    return KernelResult(std::move(kernel));
  });
}

KernelResult prepare_layer_normalization(const Problem& problem) {
  if (const auto reason = unsupported(problem)) return refuse(*reason);
  const auto& a = std::get<LayerNormalizationAttributes>(problem.attributes);
  const Shape& shape = problem.inputs[0].descriptor.shape;
  // The library normalises the last dimension; several last dimensions are one to it.
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

KernelResult prepare_reduction(const Problem& problem) {
  if (const auto reason = unsupported(problem)) return refuse(*reason);
  const auto algorithm = reduction_of(problem.op);
  if (!algorithm) return refuse("not one of oneDNN's reductions");
  const auto& axes = std::get<ReduceAttributes>(problem.attributes).axes;
  const Shape& shape = problem.inputs[0].descriptor.shape;
  if (shape.empty() || shape.size() > 5) return refuse("rank 1 to 5 only");
  memory::dims to = to_dims(shape);
  for (std::uint32_t i = 0; i < shape.size(); ++i)
    if (!axes || std::find(axes->begin(), axes->end(), i) != axes->end()) to[i] = 1;
  if (to == to_dims(shape)) return refuse("nothing to reduce");
  return guarded([&]() -> KernelResult {
    const memory::desc source = describe(problem.inputs[0]), target = plain(to);
    const auto pd = describe_primitive<dnnl::reduction>(caller_scratch(), *algorithm, source,
                                                        target, 0.0F, 0.0F);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::reduction(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace polychron::kernels::onednn
