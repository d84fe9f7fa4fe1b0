// The conditions under which an operation may start at its turn.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/cancellation_state.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

using Clock = std::chrono::steady_clock;
/// The clock of a context's actors.
using Now = std::function<Clock::time_point()>;
/// Latest start, on the context's clock.
using Deadline = std::optional<Clock::time_point>;
using CancellationRef = std::shared_ptr<polychron::detail::CancellationState>;

/// Both act only before the operation has started.
struct Conditions {
  Deadline deadline;
  CancellationRef cancellation;
};

/// The error that keeps an operation from starting at `now`, or nullopt.
inline std::optional<Error> unmet(const Conditions& conditions, const Now& now) {
  if (conditions.cancellation && conditions.cancellation->cancelled())
    return Error(ErrorKind::aborted, "it was cancelled");
  if (conditions.deadline && now() > *conditions.deadline)
    return Error(ErrorKind::timed_out, "its deadline had passed");
  return std::nullopt;
}

}  // namespace polychron::msg
