// On what condition an operation starts, when its turn has come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/cancellation_state.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

using Clock = std::chrono::steady_clock;
/// Where the actors of a context take the time from.
using Now = std::function<Clock::time_point()>;
/// Latest start, on the context's clock.
using Deadline = std::optional<Clock::time_point>;
using CancellationRef = std::shared_ptr<polychron::detail::CancellationState>;

/// Both act only before the operation has started.
struct Conditions {
  Deadline deadline;
  CancellationRef cancellation;
};

/// Why what has not started at `now` must not start, if it must not.
inline std::optional<Error> unmet(const Conditions& conditions, const Now& now) {
  if (conditions.cancellation && conditions.cancellation->cancelled())
    return Error(ErrorKind::aborted, "it was cancelled");
  if (conditions.deadline && now() > *conditions.deadline)
    return Error(ErrorKind::timed_out, "its deadline had passed");
  return std::nullopt;
}

}  // namespace polychron::msg
