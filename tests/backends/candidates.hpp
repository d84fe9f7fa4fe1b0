// The backends that the suite of promises takes, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace polychron::testing {

/// A backend, and the promises that do not apply to it. A reason is printed where one is skipped.
struct Candidate {
  std::string name;
  std::function<std::shared_ptr<kernels::Backend>()> make;
  std::string absent{};  ///< why it cannot be had here; empty if it can
  std::size_t kept_bytes =
      ~0UL;  ///< first bytes of a storage that are kept; the others may be zeros
  std::string computes_nothing{};   ///< why outputs are not compared; empty if they are
  std::string computes_by_label{};  ///< why only graphs known by label run; empty if all do
  std::string allocates{};          ///< why execute() may allocate; empty if it may not
  std::string copies_adopted{};     ///< why surrender() gives another Buffer; empty if the same
  std::string one_thread{};         ///< why its calls may not overlap; empty if they may
  std::string takes_any_size{};     ///< why sizes are not checked; empty if they are
};

/// cpu, gpu, null, symbolic, and those that wrap another: checked, fault, replay.
std::vector<Candidate> candidates();

}  // namespace polychron::testing
