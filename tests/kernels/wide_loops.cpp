#include "tests/kernels/wide_loops.hpp"

#include <cmath>
#include <iostream>

#include "kernels/vectors.hpp"

namespace polychron::tests {

bool has_fused_loops() {
  if (kernels::has_fused_vectors()) return true;
  std::cout << "skipped: this processor cannot multiply and add in one instruction\n";
  return false;
}

std::size_t unlike(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return a.size() + b.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ? 0U : 1U;
  return count;
}
std::size_t unlike(const Buffer& a, const Buffer& b) {
  return unlike(a.as<float>(), b.as<float>());
}

}  // namespace polychron::tests
