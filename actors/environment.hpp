// What all actors of a context share, handed to them when they are spawned.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/team.hpp"
#include "messages/conditions.hpp"
#include "messages/shared/admission.hpp"
#include "messages/shared/alarm.hpp"
#include "messages/shared/budget.hpp"
#include "messages/shared/census.hpp"
#include "messages/shared/counters.hpp"
#include "messages/shared/helping.hpp"
#include "messages/shared/log.hpp"
#include "messages/shared/lost.hpp"
#include "messages/shared/progress.hpp"
#include "messages/shared/tap.hpp"

namespace polychron::actors {

/// Nothing here is written after the context has been spawned, but for what is thread-safe in
/// itself.
struct Environment {
  Environment(std::string context_label, std::size_t lane_count,
              std::shared_ptr<msg::Observer> observer)
      : label(std::move(context_label)),
        source(label.empty() ? "context" : "context '" + label + "'"),
        tap(std::move(observer)),
        lanes(lane_count) {}

  /// "tensor of context 'main'".
  std::string name_of(const char* kind) const {
    return std::string(kind) + " of context" + (label.empty() ? "" : " '" + label + "'");
  }

  /// The context is gone: every call is refused from here on, and nothing queued is carried out.
  /// `by`, `ticket`: as msg::Observer::loses has them.
  void lose(LostReason reason, std::string_view message, msg::ActorId by = 0,
            msg::Ticket ticket = 0) const noexcept {
    const bool first = lost->resolve(reason, message);
    if (first)
      if (auto* const observer = tap.observer()) observer->loses(by, ticket);
    for (auto* const door : admissions()) door->close();
    const bool ended = reason == LostReason::destroyed || reason == LostReason::runtime_shutdown;
    if (first) tell(ended ? LogLevel::info : LogLevel::error, message);
  }

  /// Whether it is gone, where an actor leaves something undone for that: while somebody listens,
  /// this look and the loss get an order.
  bool find_lost() const noexcept {
    return tap.observer() == nullptr ? lost->lost() : lost->look();
  }

  void tell(LogLevel level, std::string_view message) const noexcept {
    if (log->takes(level)) log->tell(level, source, message);
  }

  const std::string label;   ///< the context's
  const std::string source;  ///< what errors and the log call it
  std::shared_ptr<msg::Log> log = std::make_shared<msg::Log>(nullptr, LogLevel::error, nullptr);
  std::shared_ptr<kernels::Backend> backend;
  /// One a lane, which shares the work of one dispatch; none where one thread is to do it.
  std::vector<std::shared_ptr<kernels::Team>> teams;
  std::shared_ptr<kernels::Team> team(std::size_t lane) const {
    return teams.empty() ? nullptr : teams[lane];
  }
  std::shared_ptr<msg::Census> census;
  std::shared_ptr<msg::LostSignal> lost;
  std::shared_ptr<msg::Callbacks> callbacks;
  std::shared_ptr<msg::Helping> helping;  ///< null if those who wait do not help
  std::shared_ptr<msg::Budget> budget;
  std::shared_ptr<msg::Admission> admission;  ///< of operations
  std::shared_ptr<msg::Admission> queries;    ///< of questions for a tensor's error
  std::shared_ptr<msg::Admission> questions;  ///< of calls that must get through when that is full
  std::shared_ptr<msg::Admission> scopes;     ///< of error scopes that are open, or not yet settled
  std::shared_ptr<msg::Admission> reports;    ///< of thrown errors on their way to scopes
  std::shared_ptr<msg::Admission> refusals;   ///< of such that say just that a limit was met
  std::shared_ptr<msg::Admission> events;     ///< of errors on their way to the handler
  std::array<msg::Admission*, 7> admissions() const {
    return {admission.get(), queries.get(),  questions.get(), scopes.get(),
            reports.get(),   refusals.get(), events.get()};
  }
  std::shared_ptr<msg::Counters> counters;
  msg::Now now;
  msg::Meanwhile meanwhile;  ///< in a driven world only
  msg::Placement placement;  ///< of a replay; else empty
  bool detached =
      true;  ///< device and compiler on threads of their own; false under a test scheduler
  mutable msg::Tap tap;  ///< who listens, if anybody
  mutable std::vector<msg::LaneProgress> lanes;
  mutable msg::Alarm alarm;     ///< of actors that fail
  mutable msg::Busy compiling;  ///< with which graph; 0 for nothing
};
using EnvironmentRef = std::shared_ptr<const Environment>;

}  // namespace polychron::actors
