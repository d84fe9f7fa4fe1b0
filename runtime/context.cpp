// The calls of MLContext on the caller's side: check what never changes, then tell the context's
// actor.
#include "polychron/context.hpp"

#include <algorithm>

#include "ops/limits.hpp"
#include "runtime/calls.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<ContextHandle>& ContextHandle::of(const Context& context) {
  if (!context.handle_)
    throw Error(ErrorKind::type_error,
                "this Context refers to nothing: it was default-constructed");
  return context.handle_;
}

}  // namespace detail

using detail::ContextHandle;
using detail::rejecting;

const std::string& Context::label() const { return ContextHandle::of(*this)->environment->label; }

void Context::push_error_scope(ErrorFilter filter) {
  const auto& context = ContextHandle::of(*this);
  context->check_alive();
  context->send(msg::push_scope{filter});
}

Future<std::optional<Error>> Context::pop_error_scope() {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    context->check_alive();
    const auto reply = context->promise<std::optional<Error>>();
    auto future = reply.future();
    context->send(msg::pop_scope{reply});
    return future;
  });
}

void Context::on_uncaptured_error(std::function<void(const Error&)> handler) {
  ContextHandle::of(*this)->send(msg::set_handler{std::move(handler)});
}

ContextStats Context::stats() const {
  const auto& environment = *ContextHandle::of(*this)->environment;
  const auto& counters = *environment.counters;
  ContextStats stats;
  stats.writes = counters.writes;
  stats.reads = counters.reads;
  stats.dispatches = counters.dispatches;
  stats.computes = counters.computes;
  stats.exports = counters.exports;
  stats.builds = counters.builds;
  stats.completed = counters.completed;
  stats.failed = counters.failed;
  stats.not_run = counters.not_run;
  stats.in_flight = environment.admission->in_flight();
  stats.peak_in_flight = environment.admission->peak();
  stats.blocked = environment.admission->blocked();
  stats.refused = environment.admission->refused();
  stats.copies = counters.copies;
  stats.copied_bytes = counters.copied_bytes;
  stats.tensors = counters.tensors;
  stats.graphs = counters.graphs;
  stats.bytes = environment.budget->used();
  stats.peak_bytes = environment.budget->peak();
  for (std::uint32_t lane = 0; lane < environment.lanes.size(); ++lane)
    if (const auto running = environment.lanes[lane].running())
      stats.running.push_back({running->operation, running->ticket, lane});
  return stats;
}

Future<std::vector<PendingOperation>> Context::pending() {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    context->check_alive();
    const auto reply = context->promise<std::vector<PendingOperation>>();
    auto future = reply.future();
    context->send(msg::ask_pending{reply});
    return future;
  });
}

const OpSupportLimits& Context::op_support_limits() const {
  ContextHandle::of(*this);
  return ops::support_limits();
}

void Context::destroy() {
  const auto& context = ContextHandle::of(*this);
  // Resolved here, so that this thread's next call already sees it.
  context->environment->lost->resolve({LostReason::destroyed, "the context was destroyed"});
  context->environment->admission->close();
  context->send(msg::destroy_context{});
}

Future<LostInfo> Context::lost() const {
  return ContextHandle::of(*this)->environment->lost->watch();
}

}  // namespace polychron
