// isNaN and isInfinite, read from the bits.
#include <limits>

#include "kernels/direct/direct.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// Compares the bits without the sign: above `infinity` for NaN, equal for infinity.
template <class U>
void classify(const std::byte* in, std::byte* out, std::size_t count, U infinity, bool nan) {
  const auto* bits = reinterpret_cast<const U*>(in);
  auto* results = reinterpret_cast<std::uint8_t*>(out);
  constexpr auto magnitude = static_cast<U>(std::numeric_limits<U>::max() >> 1);
  if (nan)
    for (std::size_t i = 0; i < count; ++i) results[i] = (bits[i] & magnitude) > infinity ? 1 : 0;
  else
    for (std::size_t i = 0; i < count; ++i) results[i] = (bits[i] & magnitude) == infinity ? 1 : 0;
}

KernelResult prepare_predicate(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const bool nan = problem.op == ops::op("isNaN"), half = type == DataType::float16;
  if (!half && type != DataType::float32) return refuse("floats only");
  return make_kernel([nan, half, count = *element_count(shape)](const Arguments& arguments) {
    with_vectors([&] {
      if (half)
        classify<std::uint16_t>(arguments.inputs[0], arguments.outputs[0], count, 0x7c00U, nan);
      else
        classify<std::uint32_t>(arguments.inputs[0], arguments.outputs[0], count, 0x7f800000U, nan);
    });
  });
}

}  // namespace

std::span<const Entry> elementwise_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("isNaN"), prepare_predicate},
                                      {ops::op("isInfinite"), prepare_predicate}};
  return entries;
}

}  // namespace polychron::kernels::direct
