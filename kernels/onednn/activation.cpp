// Activations: the library's functions with parameters, and softmax.
#include <limits>

#include "kernels/epilogue.hpp"
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"

namespace polychron::kernels::onednn {
namespace {

using dnnl::algorithm;
using ops::op;

Eltwise with(algorithm algorithm, double alpha = 0, double beta = 0) {
  return {algorithm, static_cast<float>(alpha), static_cast<float>(beta)};
}

/// A function that takes alpha, and beta if there is one, from A.
template <class A, algorithm algorithm>
std::vector<Eltwise> parametrized(const Attributes& attributes) {
  const A& a = std::get<A>(attributes);
  if constexpr (requires { a.beta; })
    return {with(algorithm, a.alpha, a.beta)};
  else
    return {with(algorithm, a.alpha)};
}

std::vector<Eltwise> clamp(const Attributes& attributes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto& a = std::get<ClampAttributes>(attributes);
  return {
      {algorithm::eltwise_clip, bound_of(a.min_value, -infinity), bound_of(a.max_value, infinity)}};
}

/// With a factor of 0 the library returns the summand alone, also for infinity and NaN (2.6.3).
std::vector<Eltwise> linear(const Attributes& attributes) {
  const auto& a = std::get<LinearAttributes>(attributes);
  if (static_cast<float>(a.alpha) == 0) return {};
  return {with(algorithm::eltwise_linear, a.alpha, a.beta)};
}

std::vector<Eltwise> hard_sigmoid(const Attributes& attributes) {
  const auto& a = std::get<HardSigmoidAttributes>(attributes);
  return {with(algorithm::eltwise_linear, a.alpha, a.beta), with(algorithm::eltwise_clip, 0, 1)};
}

// Without softplus: the library's error is 8e-7, more than its value below -14 (2.6.3, 3.7.2).
constexpr Function library_functions[] = {
    {op("clamp"), clamp},
    {op("elu"), parametrized<EluAttributes, algorithm::eltwise_elu>},
    {op("gelu"), [](const Attributes&) { return gelu(); }},
    {op("hardSigmoid"), hard_sigmoid},
    {op("hardSwish"), [](const Attributes&) { return std::vector{hard_swish()}; }},
    {op("leakyRelu"), parametrized<LeakyReluAttributes, algorithm::eltwise_relu>},
    {op("linear"), linear},
    {op("relu"), function<algorithm::eltwise_relu>},
    {op("sigmoid"), function<algorithm::eltwise_logistic>},
    {op("tanh"), function<algorithm::eltwise_tanh>},
    {op_swish, parametrized<LinearAttributes, algorithm::eltwise_swish>},
};

KernelResult prepare_softmax(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
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

constexpr Entry softmax[] = {{op("softmax"), prepare_softmax}};
}  // namespace

std::span<const Function> activation_functions() noexcept { return library_functions; }
std::span<const Entry> activation_entries() noexcept {
  static constexpr auto entries =
      joined(entries_of(library_functions, prepare_function), std::to_array(softmax));
  return entries;
}

}  // namespace polychron::kernels::onednn
