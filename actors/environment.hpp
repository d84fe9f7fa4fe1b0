// What all actors of a context share, handed to them when they are spawned.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "actors/admission.hpp"
#include "actors/census.hpp"
#include "actors/counters.hpp"
#include "actors/lost.hpp"
#include "actors/progress.hpp"
#include "kernels/backend.hpp"
#include "messages/budget.hpp"
#include "messages/conditions.hpp"
#include "messages/ids.hpp"

namespace polychron::actors {

/// Nothing here is written after the context has been spawned, but for what is thread-safe in
/// itself.
struct Environment {
  Environment(std::string context_label, std::size_t lane_count)
      : label(std::move(context_label)), lanes(lane_count) {}

  /// "tensor of context 'main'".
  std::string name_of(const char* kind) const {
    return std::string(kind) + " of context" + (label.empty() ? "" : " '" + label + "'");
  }

  const std::string label;  ///< the context's
  std::shared_ptr<kernels::Backend> backend;
  std::shared_ptr<Census> census;
  std::shared_ptr<LostSignal> lost;
  std::shared_ptr<msg::Budget> budget;
  std::shared_ptr<Admission> admission;
  std::shared_ptr<Counters> counters;
  msg::Now now;
  int threads = 1;  ///< that one dispatch may use
  bool detached =
      true;  ///< device and compiler on threads of their own; false under a test scheduler
  mutable std::vector<LaneProgress> lanes;
  mutable std::atomic<msg::GraphId> compiling{0};  ///< 0 for nothing
};
using EnvironmentRef = std::shared_ptr<const Environment>;

}  // namespace polychron::actors
