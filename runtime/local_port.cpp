#include "runtime/local_port.hpp"

#include "messages/shared/library_thread.hpp"

namespace polychron::detail {

LocalPort::~LocalPort() {
  // In a forked child its actors stay: their end would tell others by locks and conditions that
  // threads which are not there may have been in.
  if (forked()) caf::intrusive_ptr_add_ref(caf::actor_cast<caf::actor_control_block*>(actor_));
}

void LocalPort::send(actors::Letter<msg::submit>&& letter) const {
  const auto& callers = environment_->caller_runs;
  auto* const unit = callers && !msg::carries_actors() ? callers->calls() : nullptr;
  letter.send(actor_, {0, unit}, environment_->tap);
}

void LocalPort::submit(msg::Call&& call, msg::LocalPart&& local) {
  if (forked()) throw Error(forked_error());
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
    if (!port_.forked()) port_.send(std::move(letter_));  // else there is nobody to hear it
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
  // Resolved here, so that this thread's next call already sees it, and what is queued is not
  // carried out.
  environment_->lose(reason, message);
  if (said_goodbye_.claim()) goodbye_.send(actor_, {}, environment_->tap);
}

void LocalPort::wait_for_callbacks(const msg::Conditions& conditions) {
  auto& backlog = environment_->lost->backlog();
  auto& admission = *environment_->admission;
  const auto most = admission.most();
  // A callback that calls would wait for itself; a driven world has one thread.
  if (backlog.below(most) || msg::Callbacks::on_its_thread() || environment_->meanwhile) return;
  if (admission.policy() == AdmissionPolicy::block)
    return backlog.wait_below(most, conditions, environment_->now);
  admission.count_refusal();
  throw Error(ErrorKind::quota_exceeded, "the callbacks of " + std::to_string(most) +
                                             " replies wait for the thread that runs callbacks, as "
                                             "many as operations may be in flight");
}

msg::Place LocalPort::enter(Door door, const msg::Conditions& conditions) {
  switch (door) {
    case Door::operations:
      wait_for_callbacks(conditions);
      return environment_->admission->enter(conditions);
    case Door::queries:
      return environment_->queries->enter();
    case Door::questions:
      return environment_->questions->enter();
    case Door::scopes:
      break;
  }
  return environment_->scopes->enter();
}

bool LocalPort::may_wait() const noexcept {
  auto& admission = *environment_->admission;
  // One place is the caller's own.
  if (admission.policy() == AdmissionPolicy::block || admission.in_flight() <= 1) return true;
  admission.count_refusal();
  return false;
}

void LocalPort::report(const Error& error) noexcept {
  if (lost()) return;
  // A limit that is met is met again at once by whoever tries again: one such report says it all.
  auto& door =
      error.kind() == ErrorKind::quota_exceeded ? environment_->refusals : environment_->reports;
  auto place = door->try_enter_now();
  if (!place) return msg::count(environment_->counters->unheard);
  try {
    submit(msg::Report{error}, {{}, std::move(place), nullptr});
  } catch (...) {
    msg::count(environment_->counters->unheard);
  }
}

void LocalPort::log(LogLevel level, std::string_view message) const noexcept {
  if (!forked()) environment_->tell(level, message);
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
