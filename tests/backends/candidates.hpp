// The backends that the suite of promises takes, one after the other.
#pragma once

#include <atomic>
#include <cstdint>
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
  /// Bytes that the device's own memory still has. Null if its memory is the host's.
  std::atomic<std::int64_t>* device_memory = nullptr;
  std::function<void(bool)> lose{};  ///< makes the device fail, or not; empty if that cannot be
  std::string absent{};              ///< why it cannot be had here; empty if it can
  std::size_t kept_bytes =
      ~0UL;  ///< first bytes of a storage that are kept; the others may be zeros
  std::string computes_nothing{};   ///< why outputs are not compared; empty if they are
  std::string computes_by_label{};  ///< why only graphs known by label run; empty if all do
  std::string allocates{};          ///< why execute() may allocate; empty if it may not
  std::string copies_adopted{};     ///< why surrender() gives another Buffer; empty if the same
  std::string one_thread{};         ///< why its calls may not overlap; empty if they may
  std::string takes_any_size{};     ///< why sizes are not checked; empty if they are
  bool submits = false;             ///< its device works by itself
  std::string throws{};             ///< why it throws bad_alloc; empty if it does not
};

/// cpu, gpu, null, symbolic, and those that wrap another: checked, fault, replay. Only the planted
/// one if the environment names a defect: see planted_backend.hpp.
std::vector<Candidate> candidates();

}  // namespace polychron::testing
