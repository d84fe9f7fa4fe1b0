#include "actors/engine/caller_runs.hpp"

#include <caf/logger.hpp>
#include <optional>
#include <utility>

#include "base/invariant.hpp"
#include "kernels/threads.hpp"
#include "messages/shared/library_thread.hpp"

namespace polychron::engine {

namespace {

/// With which context a thread waited last.
struct LastWait {
  const void* with = nullptr;  ///< compared only
  bool before_call = false;    ///< the thread has not called since
  Machine::Time end{};
};
thread_local LastWait last_wait;

}  // namespace

/// The execution unit of a job that a caller runs.
class CallerRuns::Unit final : public caf::execution_unit {
 public:
  Unit(CallerRuns& of, Caller<Machine>& caller)
      : caf::execution_unit(&of.system_), caller_(caller) {
    ensure(active == nullptr, "no handler runs within another");
    system().inc_detached_threads();
    active = this;
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit() override {
    active = nullptr;
    // Left by CAF where an actor was spawned; the system would wait until this thread ends.
    if (caf::logger::current_logger() != nullptr) caf::logger::set_current_actor_system(nullptr);
    system().dec_detached_threads();  // from here on it may be gone
  }

  void exec_later(caf::resumable* job) override { caller_.made_runnable(job); }
  bool keeps(Slot& slot, caf::resumable* job) { return caller_.made_runnable(slot, job); }

  static thread_local Unit* active;

 private:
  Caller<Machine>& caller_;
  const msg::CarriesActors carries_;
  const kernels::OnCallersThread modes_;
};

thread_local CallerRuns::Unit* CallerRuns::Unit::active = nullptr;

CallerRuns::CallerRuns(caf::actor_system& system, std::shared_ptr<ThreadPool> pool)
    : system_(system), pool_(std::move(pool)) {}

CallerRuns::~CallerRuns() = default;

void CallerRuns::set_context(caf::actor_addr context) {
  context_ = std::move(context);
  context_job_ =
      dynamic_cast<const caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(context_));
  ensure(context_job_ != nullptr, "a context is scheduled");
}

void CallerRuns::Calls::exec_later(caf::resumable* job) {
  if (last_wait.with == &of_ && std::exchange(last_wait.before_call, false))
    of_.pool_->queue().defer(job, nullptr, &of_);
  else
    of_.pool_->queue().push(job);
}

void CallerRuns::work_until(const std::atomic<bool>& settled) {
  if (msg::carries_actors() || caf::logger::current_logger() != nullptr) return;
  const bool returns = last_wait.with == this && Machine::now() - last_wait.end <= poll_interval;
  Caller<Machine> caller(pool_->queue(), this, context_job_);
  // From its first job on, as the holder of a job knows that the system is there.
  std::optional<Unit> unit;
  const auto run = [&](caf::resumable* job, bool one) {
    if (!unit) unit.emplace(*this, caller);
    const auto messages = one ? std::size_t{1} : pool_->messages_a_turn();
    const bool more = job->resume(&*unit, messages) == caf::resumable::resume_later;
    if (!more) caf::intrusive_ptr_release(job);
    return more;
  };
  caller.work_until([&] { return settled.load(std::memory_order_acquire); }, returns, run);
  last_wait = {this, true, Machine::now()};
}

bool CallerRuns::here() noexcept { return Unit::active != nullptr; }

bool CallerRuns::keeps(Slot& slot, caf::resumable* job) noexcept {
  return Unit::active != nullptr && Unit::active->keeps(slot, job);
}

}  // namespace polychron::engine
