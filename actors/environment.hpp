// The state that all actors of a context share; each gets it when it is spawned.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/engine/caller_runs.hpp"
#include "kernels/backend.hpp"
#include "kernels/team.hpp"
#include "messages/conditions.hpp"
#include "messages/shared/actor_registry.hpp"
#include "messages/shared/admission.hpp"
#include "messages/shared/budget.hpp"
#include "messages/shared/counters.hpp"
#include "messages/shared/failure_monitor.hpp"
#include "messages/shared/lane_scratch.hpp"
#include "messages/shared/log.hpp"
#include "messages/shared/lost.hpp"
#include "messages/shared/observer_gate.hpp"
#include "messages/shared/progress.hpp"

namespace polychron::actors {

/// After the context is spawned only members that are thread-safe themselves change.
struct Environment {
  Environment(std::string context_label, std::size_t lane_count,
              std::shared_ptr<msg::Observer> observer)
      : label(std::move(context_label)),
        source(label.empty() ? "context" : "context '" + label + "'"),
        shared_gate(std::make_shared<msg::ObserverGate>(std::move(observer))),
        gate(*shared_gate),
        scratch(std::make_shared<msg::Scratch>(lane_count)),
        lanes(lane_count) {}

  /// "tensor of context 'main'".
  std::string name_of(const char* kind) const {
    return std::string(kind) + " of context" + (label.empty() ? "" : " '" + label + "'");
  }

  /// Loses the context: from now on every call is refused, and queued operations never run. `by`
  /// and `ticket` are those of msg::Observer::loses().
  void lose(LostReason reason, std::string_view message, msg::ActorId by = 0,
            msg::Ticket ticket = 0) const noexcept {
    const bool first = lost->resolve(reason, message);
    if (first)
      if (auto* const observer = gate.observer()) observer->loses(by, ticket);
    for (auto* const each : admissions()) each->close();
    const bool ended = reason == LostReason::destroyed || reason == LostReason::runtime_shutdown;
    if (first) write_log(ended ? LogLevel::info : LogLevel::error, message);
  }

  /// True if the context is gone, where an actor leaves something undone for that. While somebody
  /// listens, this look and the loss get an order.
  bool find_lost() const noexcept {
    return gate.observer() == nullptr ? lost->lost() : lost->look();
  }

  void write_log(LogLevel level, std::string_view message) const noexcept {
    if (log->takes(level)) log->tell(level, source, message);
  }

  const std::string label;   ///< the context's
  const std::string source;  ///< its name in errors and the log
  std::shared_ptr<msg::Log> log = std::make_shared<msg::Log>(nullptr, LogLevel::error, nullptr);
  std::shared_ptr<kernels::Backend> backend;
  /// One team for each lane, which shares the work of a dispatch; empty with one thread.
  std::vector<std::shared_ptr<kernels::Team>> teams;
  std::shared_ptr<kernels::Team> team(std::size_t lane) const {
    return teams.empty() ? nullptr : teams[lane];
  }
  std::shared_ptr<msg::ActorRegistry> registry;
  std::shared_ptr<msg::LostSignal> lost;
  std::shared_ptr<msg::Callbacks> callbacks;
  std::shared_ptr<engine::CallerRuns> caller_runs;  ///< null: those who wait only wait
  std::shared_ptr<msg::Budget> budget;
  std::shared_ptr<msg::Admission> admission;  ///< of operations
  std::shared_ptr<msg::Admission> queries;    ///< of queries of a tensor's error
  std::shared_ptr<msg::Admission> questions;  ///< of calls that must pass when `admission` is full
  std::shared_ptr<msg::Admission> scopes;     ///< of error scopes, open or unsettled
  std::shared_ptr<msg::Admission> reports;    ///< of thrown errors on their way to scopes
  std::shared_ptr<msg::Admission> refusals;   ///< of reports of quota_exceeded alone
  std::shared_ptr<msg::Admission> events;     ///< of errors on their way to the handler
  std::array<msg::Admission*, 7> admissions() const {
    return {admission.get(), queries.get(),  questions.get(), scopes.get(),
            reports.get(),   refusals.get(), events.get()};
  }
  std::shared_ptr<msg::Counters> counters;
  msg::Now now;
  msg::Meanwhile meanwhile;  ///< only in a simulated world
  msg::Placement placement;  ///< only in a replay
  bool detached =
      true;  ///< device and compiler on threads of their own; false under a test scheduler
  /// Pending replies and completions keep it, also beyond the context.
  const std::shared_ptr<msg::ObserverGate> shared_gate;
  msg::ObserverGate& gate;                      ///< the observer, if there is one
  const std::shared_ptr<msg::Scratch> scratch;  ///< of each lane
  mutable std::vector<msg::LaneProgress> lanes;
  mutable msg::FailureMonitor failures;  ///< reports failed actors
  mutable msg::Busy compiling;           ///< the graph being compiled; 0: none
};
using EnvironmentRef = std::shared_ptr<const Environment>;

}  // namespace polychron::actors
