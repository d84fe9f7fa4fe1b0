#include "kernels/gpu/rows.hpp"

#include <algorithm>

#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"

namespace polychron::kernels::gpu {
namespace {

using dnnl::algorithm;
using onednn::memory;
using onednn::PrimitiveKernel;
using ops::op;

/// Dimensions that the library's OpenCL kernels take. With more they compute wrong numbers or write
/// beyond their memory, and do not refuse (2.6.3).
constexpr std::size_t most_dimensions = 6;

bool is_too_deep(const std::vector<Slot>& slots) {
  return std::any_of(slots.begin(), slots.end(), [](const Slot& slot) {
    return slot.present && slot.descriptor.shape.size() > most_dimensions;
  });
}

/// Work items that the library's kernels put into a sub-group.
constexpr std::size_t library_sub_group = 16;

/// A function of the library for which the processor has a better kernel. The library may turn NaN
/// into a number here: see docs/devices.md.
KernelResult prepare_function(const Problem& problem) {
  if (const auto reason = onednn::not_plain(problem)) return refuse(*reason);
  auto chain = onednn::eltwise_of(problem.op, problem.attributes);
  if (problem.op == op("exp")) chain = {{algorithm::eltwise_exp}};
  if (problem.op == op("log")) chain = {{algorithm::eltwise_log}};
  if (chain.size() != 1) return refuse("not one of oneDNN's functions");
  return onednn::guarded([&]() -> KernelResult {
    const memory::desc desc = onednn::describe(problem.inputs[0]);
    const auto pd = onednn::describe_eltwise(onednn::caller_scratch(), desc, chain[0]);
    auto kernel =
        std::make_unique<PrimitiveKernel>(dnnl::eltwise_forward(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, desc, 0);
    kernel->add_output(DNNL_ARG_DST, desc);
    return KernelResult(std::move(kernel));
  });
}

struct Reduction {
  ops::OpId op;
  algorithm way;
};
constexpr Reduction reductions[] = {{op("reduceMax"), algorithm::reduction_max},
                                    {op("reduceMean"), algorithm::reduction_mean},
                                    {op("reduceMin"), algorithm::reduction_min},
                                    {op("reduceProduct"), algorithm::reduction_mul},
                                    {op("reduceSum"), algorithm::reduction_sum}};

KernelResult prepare_reduction(const Problem& problem) {
  if (const auto reason = onednn::not_plain(problem)) return refuse(*reason);
  const auto* const row = std::find_if(std::begin(reductions), std::end(reductions),
                                       [&](const Reduction& r) { return r.op == problem.op; });
  const auto& axes = std::get<ReduceAttributes>(problem.attributes).axes;
  const memory::desc source = onednn::describe(problem.inputs[0]);
  memory::dims dims = onednn::dims_of(source);
  if (dims.size() > 5) return refuse("rank up to 5 only");
  if (axes && axes->empty()) return refuse("no axes");
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!axes || std::find(axes->begin(), axes->end(), i) != axes->end()) dims[i] = 1;
  const memory::desc target = onednn::plain(dims);
  if (source == target) return refuse("nothing to reduce");
  return onednn::guarded([&]() -> KernelResult {
    const auto pd = onednn::describe_primitive<dnnl::reduction>(onednn::caller_scratch(), row->way,
                                                                source, target, 0.0F, 0.0F);
    auto kernel = std::make_unique<PrimitiveKernel>(dnnl::reduction(pd), pd.scratchpad_desc());
    kernel->add_input(DNNL_ARG_SRC, source, 0);
    kernel->add_output(DNNL_ARG_DST, target);
    return KernelResult(std::move(kernel));
  });
}

/// Operators for which the processor's rows of oneDNN do not suffice.
constexpr Entry more_rows[] = {
    {op("clamp"), prepare_function},      {op("elu"), prepare_function},
    {op("exp"), prepare_function},        {op("leakyRelu"), prepare_function},
    {op("log"), prepare_function},        {op("relu"), prepare_function},
    {op("sigmoid"), prepare_function},    {op("maxPool2d"), onednn::prepare_max_pool},
    {op("reduceMax"), prepare_reduction}, {op("reduceMean"), prepare_reduction},
    {op("reduceMin"), prepare_reduction}, {op("reduceProduct"), prepare_reduction},
    {op("reduceSum"), prepare_reduction},
};

/// The rows of an operator, best first.
std::vector<Entry> rows_of(ops::OpId id) {
  std::vector<Entry> rows;
  for (const Implementation& row : implementations(id))
    if (row.name == "onednn") rows.push_back(row);
  for (const Entry& row : more_rows)
    if (row.op == id) rows.push_back(row);
  return rows;
}

bool is_recurrent(ops::OpId id) {
  constexpr ops::OpId recurrent[] = {op("gru"), op("gruCell"), op("lstm"), op("lstmCell")};
  return std::find(std::begin(recurrent), std::end(recurrent), id) != std::end(recurrent);
}

/// The library's fast kernels of Intel's GPUs share work in a sub-group. Its reference kernels,
/// which run on the device too, do not.
bool needs_sub_groups(const PrimitiveKernel& kernel) {
  return kernel.implementation().find("ref") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<PrimitiveKernel>> prepare(const Gpu& gpu, const Problem& problem) {
  // The rows of these combine several primitives with loops of the host.
  if (is_recurrent(problem.op))
    return Error(ErrorKind::not_supported, "recurrent networks run on the host");
  if (is_too_deep(problem.inputs) || is_too_deep(problem.outputs))
    return Error(ErrorKind::not_supported, "rank up to 6 only");
  const onednn::EngineScope scope(gpu.engine);
  std::string reasons;
  for (const Entry& row : rows_of(problem.op)) {
    auto kernel = row.prepare(problem);
    auto* const primitive = kernel ? dynamic_cast<PrimitiveKernel*>(kernel->get()) : nullptr;
    std::string reason;
    if (!kernel)
      reason = kernel.error().message();
    else if (primitive == nullptr)
      reason = "more than one primitive";
    else if (needs_sub_groups(*primitive) && gpu.sub_group_size < library_sub_group)
      reason = std::string(primitive->implementation()) +
               " needs sub-groups of 16 work items, the device has " +
               std::to_string(gpu.sub_group_size);
    else
      return std::unique_ptr<PrimitiveKernel>((kernel->release(), primitive));
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  return Error(ErrorKind::not_supported, reasons.empty() ? "oneDNN has no primitive" : reasons);
}

std::vector<ops::OpId> operators() {
  std::vector<ops::OpId> all;
  for (const ops::Row& row : ops::rows())
    if (!is_recurrent(ops::id(row)) && !rows_of(ops::id(row)).empty()) all.push_back(ops::id(row));
  return all;
}

}  // namespace polychron::kernels::gpu
