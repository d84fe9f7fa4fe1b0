#include "runtime/local_port.hpp"

#include "messages/shared/library_thread.hpp"

namespace polychron::detail {

LocalPort::~LocalPort() {
  // In a forked child its actors stay: their end would tell others by locks and conditions that
  // threads which are not there may have been in.
  if (fork_generation() != generation_)
    caf::intrusive_ptr_add_ref(caf::actor_cast<caf::actor_control_block*>(actor_));
}

template <class Make>
void LocalPort::send(const Make& make) const {
  auto* const door =
      environment_->helping && !msg::carries_actors() ? environment_->helping->door() : nullptr;
  actors::mail(actor_, caf::message_priority::normal, {0, door}, environment_->tap, make);
}

void LocalPort::submit(msg::Call&& call, msg::LocalPart&& local) {
  if (fork_generation() != generation_) throw Error(forked_error());
  try {
    send([&] { return msg::submit{std::move(call), std::move(local)}; });
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "no memory for a message to the context");
  }
}

void LocalPort::submit_end(msg::Call call) noexcept {
  if (fork_generation() != generation_) return;  // there is nobody to hear it
  actors::until_there_is_memory([&] { send([&] { return msg::submit{call, {}}; }); });
}

void LocalPort::end(LostReason reason, const char* message) noexcept {
  if (fork_generation() != generation_) return;
  // Resolved here, so that this thread's next call already sees it, and what is queued is not
  // carried out.
  actors::until_there_is_memory([&] { environment_->lose(reason, message); });
  actors::until_there_is_memory([&] {
    actors::mail(actor_, caf::message_priority::high, {}, environment_->tap, [] {
      return msg::submit{msg::DestroyContext{}, {}};
    });
  });
}

msg::Place LocalPort::enter(Door door, const msg::Conditions& conditions) {
  switch (door) {
    case Door::operations:
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
  if (fork_generation() == generation_) environment_->tell(level, message);
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
