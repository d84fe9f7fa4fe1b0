// Reductions along any axes, of every type except float16, which a pass widens before. Also the
// table of all operators that work along an axis.
#include <algorithm>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/folds.hpp"
#include "kernels/direct/reduce.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

using Compute = void (*)(const Reduction&, const Arguments&);

template <class F, class T>
void reduce(const Reduction& reduction, const Arguments& arguments) {
  with_vectors([&] {
    reduction.run<F>(reinterpret_cast<const T*>(arguments.inputs[0]),
                     reinterpret_cast<T*>(arguments.outputs[0]));
  });
}

template <class F>
Compute floats(DataType type) {
  return type == DataType::float32 ? reduce<F, float> : nullptr;
}
/// Integers of 32 and 64 bits, as unsigned ones.
template <template <class> class F>
Compute wide(DataType type) {
  if (type == DataType::float32) return reduce<F<float>, float>;
  if (type == DataType::float16) return nullptr;
  return byte_size(type) == 8 ? reduce<F<std::uint64_t>, std::uint64_t>
                              : reduce<F<std::uint32_t>, std::uint32_t>;
}
Compute magnitudes(DataType type) {
  const bool is_unsigned = type == DataType::uint32 || type == DataType::uint64;
  return is_unsigned ? wide<Sum>(type) : wide<Magnitudes>(type);
}
template <bool largest>
Compute extreme(DataType type) {
  Compute compute = nullptr;
  ops::with_element(type, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, float16>) compute = reduce<Extreme<T, largest>, T>;
  });
  return compute;
}

struct Line {
  ops::OpId op;
  Compute (*compute)(DataType type);
};

constexpr Line lines[] = {
    {op("reduceL1"), magnitudes},
    {op("reduceL2"), floats<Norm>},
    {op("reduceLogSum"), floats<Logarithm>},
    {op("reduceMax"), extreme<true>},
    {op("reduceMean"), floats<Mean>},
    {op("reduceMin"), extreme<false>},
    {op("reduceProduct"), wide<Product>},
    {op("reduceSum"), wide<Sum>},
    {op("reduceSumSquare"), wide<Squares>},
};

KernelResult prepare_reduction(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const auto compute = std::ranges::find(lines, problem.op, &Line::op)->compute(type);
  if (compute == nullptr || is_packed(type)) return refuse("not of this type");
  const Reduction reduction(shape, std::get<ReduceAttributes>(problem.attributes).axes);
  return make_kernel(
      [reduction, compute](const Arguments& arguments) { compute(reduction, arguments); });
}

}  // namespace

std::span<const Entry> reduction_entries() noexcept {
  static constexpr auto entries = joined(
      entries_of(lines, prepare_reduction),
      std::array{Entry{op("argMin"), prepare_arg_min_max}, Entry{op("argMax"), prepare_arg_min_max},
                 Entry{op("cumulativeSum"), prepare_cumulative_sum},
                 Entry{op("topK"), prepare_top_k}});
  return entries;
}

}  // namespace polychron::kernels::direct
