#include "kernels/processor.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace polychron::kernels {
namespace {

struct Limit {
  std::string_view name;
  Vectors vectors;
  dnnl::cpu_isa library;
  std::int64_t highway;  ///< the widest of Highway's targets; smaller numbers are wider ones
};
constexpr std::array limits{
    Limit{"sse41", Vectors::sse41, dnnl::cpu_isa::sse41, HWY_SSE4},
    Limit{"avx2", Vectors::avx2, dnnl::cpu_isa::avx2, HWY_AVX2},
    Limit{"avx512", Vectors::avx512, dnnl::cpu_isa::avx512_core, HWY_AVX3},
};

std::string_view value_of_variable() {
  const char* const value = std::getenv(vectors_variable);
  return value == nullptr ? "" : value;
}

/// Limits the libraries, and returns what oneDNN then uses. A program that has used oneDNN before
/// has fixed that.
Vectors find_vectors() {
  const auto asked = std::ranges::find(limits, value_of_variable(), &Limit::name);
  if (asked != limits.end()) dnnl::set_max_cpu_isa(asked->library);
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto found = std::find_if(limits.rbegin(), limits.rend() - 1, [&](const Limit& limit) {
    const auto needed = static_cast<unsigned>(limit.library);
    return (used & needed) == needed;
  });
  if (found->vectors != Vectors::avx512) hwy::DisableTargets(found->highway - 1);
  return found->vectors;
}

bool find_four_products() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (vectors() == Vectors::avx512) return __builtin_cpu_supports("avx512vnni") != 0;
  return vectors() == Vectors::avx2 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
         (a >> 4 & 1) != 0;  // AVX-VNNI
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}

}  // namespace

bool has_four_products() {
  static const bool there = find_four_products();
  return there;
}

Vectors vectors() {
  static const Vectors found = find_vectors();
  return found;
}

std::optional<std::string> wrong_vectors() {
  const std::string_view value = value_of_variable();
  if (value.empty() || std::ranges::find(limits, value, &Limit::name) != limits.end())
    return std::nullopt;
  return "the environment variable " + std::string(vectors_variable) + " is '" +
         std::string(value) + "'; known are sse41, avx2, avx512";
}

}  // namespace polychron::kernels
