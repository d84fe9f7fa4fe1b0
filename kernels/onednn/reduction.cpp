// Reductions along axes.
#include <algorithm>

#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"

namespace polychron::kernels::onednn {
namespace {

using dnnl::algorithm;
using ops::op;

constexpr Operation reductions[] = {
    {op("reduceMax"), algorithm::reduction_max},
    {op("reduceMean"), algorithm::reduction_mean},
    {op("reduceMin"), algorithm::reduction_min},
    {op("reduceSum"), algorithm::reduction_sum},
};

KernelResult prepare_reduction(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto* known = std::ranges::find(reductions, problem.op, &Operation::op);
  const auto& axes = std::get<ReduceAttributes>(problem.attributes).axes;
  const Shape& shape = problem.inputs[0].descriptor.shape;
  if (shape.empty() || shape.size() > 5) return refuse("rank 1 to 5 only");
  memory::dims to = to_dims(shape);
  for (std::uint32_t i = 0; i < shape.size(); ++i)
    if (!axes || std::find(axes->begin(), axes->end(), i) != axes->end()) to[i] = 1;
  if (to == to_dims(shape)) return refuse("nothing to reduce");
  return guarded([&]() -> KernelResult {
    const memory::desc source = describe(problem.inputs[0]), target = plain(to);
    const auto pd = describe_primitive<dnnl::reduction>(caller_scratch(), known->algorithm, source,
                                                        target, 0.0F, 0.0F);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::reduction(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

}  // namespace

std::span<const Entry> reduction_entries() noexcept {
  static constexpr auto entries = entries_of(reductions, prepare_reduction);
  return entries;
}

}  // namespace polychron::kernels::onednn
