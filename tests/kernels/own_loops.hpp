// Runs of a kernel of our own loops, in memory with protected pages around it.
#pragma once

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/cpu/cut_kernel.hpp"
#include "tests/kernels/fenced.hpp"

namespace polychron::tests {

/// The kernel for `problem`, which must be one of our own.
inline std::unique_ptr<kernels::Kernel> own_kernel_of(const kernels::Problem& problem) {
  std::string text;
  auto kernel = kernels::prepare_in_parts(problem, text);
  BOOST_REQUIRE_MESSAGE(kernel && text.starts_with("direct: "), to_string(problem));
  return kernel;
}

inline void run_whole(kernels::Bound& bound) { bound.run(); }
/// The last part first.
inline void run_parts(kernels::Bound& bound) {
  for (std::size_t part = bound.parts(); part-- > 0;) bound.run_part(part);
}

/// The `count` results of `run(bound)` or `run(bound, scratch memory)`. Inputs without bytes are
/// null. Results that are not written are NaN, or 77.
template <class T, class Run>
std::vector<T> run_fenced(const kernels::Kernel& kernel,
                          const std::vector<std::span<const std::byte>>& inputs, std::size_t count,
                          const std::string& what, const Run& run, bool at_end = true) {
  std::vector<std::unique_ptr<Fenced>> fenced;
  std::vector<const std::byte*> addresses;
  for (const auto bytes : inputs) {
    fenced.push_back(bytes.empty() ? nullptr : std::make_unique<Fenced>(bytes, at_end));
    addresses.push_back(bytes.empty() ? nullptr : fenced.back()->data());
  }
  constexpr bool is_real = std::numeric_limits<T>::has_quiet_NaN;
  std::vector<T> result(count, is_real ? std::numeric_limits<T>::quiet_NaN() : T{77});
  const Fenced output(std::as_bytes(std::span(result)), at_end);
  const Fenced scratch(std::vector<std::byte>(kernel.scratch_bytes(), std::byte{0xff}), true);
  const std::array<std::byte*, 1> outputs{output.data()};
  const kernels::Arguments arguments{addresses, outputs, scratch.data()};
  const auto bound = kernel.bind(arguments);
  if constexpr (std::is_invocable_v<Run, kernels::Bound&>)
    run(*bound);
  else
    run(*bound, std::span<const std::byte>(scratch.data(), kernel.scratch_bytes()));
  BOOST_TEST(output.rest_is_untouched(), what);
  std::memcpy(result.data(), output.data(), output.bytes().size());
  return result;
}

}  // namespace polychron::tests
