// Activations that oneDNN computes less exactly than WebNN asks.
#include <cmath>

#include "kernels/direct/direct.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

struct HardSwish {
  float operator()(float x) const {
    float height = x + 3.0F;
    height = height < 0.0F ? 0.0F : height;
    height = height > 6.0F ? 6.0F : height;
    return x * (height / 6.0F);  // without overflow
  }
};

struct Softplus {
  float operator()(float x) const {
    return (x < 0.0F ? 0.0F : x) + std::log1p(std::exp(-std::fabs(x)));
  }
};

template <class F>
KernelResult prepare(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  if (type != DataType::float32) return refuse("float32 only");
  return make_kernel(
      [count = *element_count(shape)](const Arguments& arguments) {
        const auto* in = reinterpret_cast<const float*>(arguments.inputs[0]);
        auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
        with_vectors([&] {
          POLYCHRON_INDEPENDENT_STEPS
          for (std::size_t i = 0; i < count; ++i) out[i] = F{}(in[i]);
        });
      },
      0);
}

}  // namespace

std::span<const Entry> activation_entries() noexcept {
  static constexpr Entry entries[] = {{op("hardSwish"), prepare<HardSwish>},
                                      {op("softplus"), prepare<Softplus>}};
  return entries;
}

}  // namespace polychron::kernels::direct
