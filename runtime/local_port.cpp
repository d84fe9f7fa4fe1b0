#include "runtime/local_port.hpp"

#include "messages/shared/library_thread.hpp"

namespace polychron::detail {

LocalPort::~LocalPort() {
  // In a forked child the actors leak, and with them the environment: ending them would use locks
  // and conditions that threads of the parent may have held, and join threads that are not there.
  if (forked()) caf::intrusive_ptr_add_ref(caf::actor_cast<caf::actor_control_block*>(actor_));
}

void LocalPort::send(actors::Letter<msg::submit>&& letter) const {
  const auto& callers = environment_->caller_runs;
  auto* const unit = callers && !msg::carries_actors() ? callers->calls() : nullptr;
  letter.send(actor_, {0, unit}, environment_->gate);
}

void LocalPort::submit(msg::Call&& call, msg::LocalPart&& local) {
  process_.check();
  with_errors([&] {
    send({caf::message_priority::normal, [&] {
            return msg::submit{std::move(call), std::move(local)};
          }});
  });
}

class LocalPort::LocalEnding final : public Port::Ending {
 public:
  LocalEnding(const LocalPort& port, msg::Call&& call)
      : port_(port), letter_(caf::message_priority::normal, [&] {
          return msg::submit{std::move(call), {}};
        }) {}
  void send() noexcept override {
    // In a forked child no actor can receive it.
    if (!port_.forked()) port_.send(std::move(letter_));
  }

 private:
  const LocalPort& port_;
  actors::Letter<msg::submit> letter_;
};

std::unique_ptr<Port::Ending> LocalPort::prepare_end(msg::Call&& call) {
  return std::make_unique<LocalEnding>(*this, std::move(call));
}

void LocalPort::end(LostReason reason, const char* message) noexcept {
  if (forked()) return;
  // Lose it on this thread, so that its next call already sees the loss, and queued operations
  // never run.
  environment_->lose(reason, message);
  if (said_goodbye_.claim()) goodbye_.send(actor_, {}, environment_->gate);
}

void LocalPort::wait_for_callbacks(const msg::Conditions& conditions) {
  auto& backlog = environment_->lost->backlog();
  auto& admission = *environment_->admission;
  const auto most = admission.most();
  // A callback must not wait for its own thread; a simulated world has only one thread.
  if (backlog.below(most) || msg::Callbacks::on_its_thread() || environment_->meanwhile) return;
  if (admission.policy() == AdmissionPolicy::block)
    return backlog.wait_below(most, conditions, environment_->now);
  admission.count_refusal();
  throw Error(ErrorKind::quota_exceeded, "the callbacks of " + std::to_string(most) +
                                             " replies wait for the thread that runs callbacks, as "
                                             "many as operations may be in flight");
}

msg::Permit LocalPort::enter_operation(const msg::Conditions& conditions) {
  auto& admission = *environment_->admission;
  auto* const observer = environment_->gate.observer();
  if (observer == nullptr) [[likely]]
    return admission.enter(conditions);
  if (auto permit = admission.try_enter_now()) return permit;
  struct Wait {
    msg::Observer& observer;
    const std::int64_t begun;
    ~Wait() { observer.waited(msg::CallerWait::permit, begun); }
  } const wait{*observer, observer->now()};  // also if it ends in an error
  return admission.enter(conditions);
}

msg::Permit LocalPort::enter(AdmissionClass admission, const msg::Conditions& conditions) {
  switch (admission) {
    case AdmissionClass::operations:
      wait_for_callbacks(conditions);
      return enter_operation(conditions);
    case AdmissionClass::queries:
      return environment_->queries->enter();
    case AdmissionClass::questions:
      return environment_->questions->enter();
    case AdmissionClass::scopes:
      break;
  }
  return environment_->scopes->enter();
}

bool LocalPort::may_wait() const noexcept {
  auto& admission = *environment_->admission;
  // One permit is the caller's own.
  if (admission.policy() == AdmissionPolicy::block || admission.in_flight() <= 1) return true;
  admission.count_refusal();
  return false;
}

void LocalPort::report(const Error& error) noexcept {
  if (lost()) return;
  // At most one quota_exceeded report is queued at a time, so that a client retrying in a loop
  // cannot flood the error scopes.
  auto& admission =
      error.kind() == ErrorKind::quota_exceeded ? environment_->refusals : environment_->reports;
  auto permit = admission->try_enter_now();
  if (!permit) return msg::count(environment_->counters->unheard);
  try {
    submit(msg::Report{error}, {{}, std::move(permit), nullptr});
  } catch (...) {
    msg::count(environment_->counters->unheard);
  }
}

void LocalPort::log(LogLevel level, std::string_view message) const noexcept {
  if (!forked()) environment_->write_log(level, message);
}

ContextStats LocalPort::stats() const {
  const auto& environment = *environment_;
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
  stats.unheard = counters.unheard;
  stats.in_flight = environment.admission->in_flight();
  stats.peak_in_flight = std::max(environment.admission->peak(), stats.in_flight);
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

}  // namespace polychron::detail
