#include "messages/shared/helping.hpp"

#include <array>
#include <caf/logger.hpp>
#include <chrono>
#include <thread>

#include "base/invariant.hpp"
#include "kernels/threads.hpp"
#include "messages/shared/library_thread.hpp"

namespace polychron::msg {

namespace {

using Clock = std::chrono::steady_clock;

/// For so long a helper that finds nothing to do looks again before it sleeps: others may be about
/// to settle what it waits for, or to leave it the next step, and sooner than it could be woken. It
/// is counted on, so that no thread is woken beside it, only as long as it does not give way.
constexpr auto patience = std::chrono::microseconds(20);
constexpr auto counted_on = std::chrono::microseconds(5);

/// Who waits for what comes late, or never, as for the loss of a context, does not work for others
/// until then: so often it looks for work, and so many operations it carries out, and then sleeps.
constexpr int most_looks = 16, most_operations = 64;

/// With several calls on their way, what is left of a lane's mail when one is answered is done at
/// once, rather than have the lane's thread woken for it: so many operations, while each takes less
/// than to wake it would.
constexpr int most_extra = 16;
constexpr auto longest_extra = most_extra * longest_little;

/// What has begun to run goes on for a few turns after the reply is there, rather than have others
/// woken for it.
constexpr std::size_t messages_a_turn = 64, last_turns = 16, messages_a_last_turn = 8;

/// What a thread has called and not waited for yet, and whether it waited for what was before that
/// as soon as it had called it: then it is expected to do so again.
struct Habit {
  const void* with = nullptr;  ///< with which context, compared only
  int calls = 0;
  Clock::time_point since{};  ///< the first of them
  bool waits = false;
};
thread_local Habit habit;

/// So few calls, in so short a time, before it waits.
constexpr int few = 8;
constexpr auto at_once = std::chrono::microseconds(50);

}  // namespace

/// A thread while it helps, and what it has in its hands.
class Helping::Helper final : public caf::execution_unit {
 public:
  explicit Helper(Helping& helping) : caf::execution_unit(&helping.system_), helping_(helping) {
    ensure(active == nullptr, "no handler runs within another");
    helping_.system_.inc_detached_threads();
    active = this;
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() override {
    active = nullptr;
    while (count_ > 0) helping_.force_->push(pop());
    // It was put there before, and is not for those who look.
    if (lane_.job != nullptr) lane_.lane->post->put(lane_.job, OwnThread::Post::For::the_thread);
    // Left by CAF where an actor was spawned; the system would wait until this thread ends.
    if (caf::logger::current_logger() != nullptr) caf::logger::set_current_actor_system(nullptr);
    helping_.system_.dec_detached_threads();  // from here on it may be gone
  }

  /// Until `settled` or nothing is left to do. False if what comes next is not a helper's.
  bool work(const std::atomic<bool>& settled, const Found& first, int& operations_left) {
    take(first);
    int extra_left = habit.with == &helping_ && habit.waits ? most_extra : 0;
    for (std::size_t turns_left = last_turns + 2 * static_cast<std::size_t>(extra_left);;) {
      const bool over = settled.load(std::memory_order_acquire);
      if (count_ > 0) {
        if (over && turns_left-- == 0) return true;
        run(pop(), over ? messages_a_last_turn : messages_a_turn);
      } else if (over && (lane_.job == nullptr || extra_left == 0)) {
        return true;
      } else if (lane_.job != nullptr) {
        if (over && extras_took_too_long()) return true;
        // A lane that has not started yet cannot say.
        const auto& next_length = lane_.lane->next_length;
        const auto length = next_length ? next_length() : Length::unknown;
        if (length == Length::unknown || (over && length != Length::little)) return over;
        if (operations_left == 0) return over;
        --(over ? extra_left : operations_left);
        run_lane();
      } else if (const auto found = helping_.look(); found.job != nullptr) {
        take(found);
      } else {
        return true;
      }
    }
  }

  void exec_later(caf::resumable* job) override {
    if (count_ < own_.size())
      own_[(first_ + count_++) % own_.size()] = job;
    else
      helping_.force_->push(job);
  }
  /// One lane's job at a time: others have threads that are woken, to work side by side.
  bool takes(const OwnThread::Post& post, caf::resumable* job) noexcept {
    if (lane_.job != nullptr || in_operation_) return false;
    for (const auto& lane : helping_.lanes_)
      if (lane.post.get() == &post) {
        lane_ = {job, &lane};
        return true;
      }
    return false;
  }

  static thread_local Helper* active;

 private:
  void take(const Found& found) {
    if (found.lane != nullptr)
      lane_ = found;
    else
      exec_later(found.job);
  }
  caf::resumable* pop() noexcept {
    auto* const job = own_[first_];
    first_ = (first_ + 1) % own_.size();
    --count_;
    return job;
  }
  void run(caf::resumable* job, std::size_t messages) {
    // With a backlog it is the workers': the lane goes on meanwhile, here or on its own thread.
    if (job->resume(this, messages) == caf::resumable::resume_later)
      helping_.force_->push(job);
    else
      caf::intrusive_ptr_release(job);
  }
  /// Each may take longer than it did before.
  bool extras_took_too_long() {
    const auto now = Clock::now();
    if (began_extra_ == Clock::time_point()) began_extra_ = now;
    return now - began_extra_ > longest_extra;
  }
  void run_lane() {
    ensure(count_ == 0, "what a helper has in its hands does not wait for an operation");
    const auto found = std::exchange(lane_, {});
    in_operation_ = true;
    const auto result = found.job->resume(this, 1);
    in_operation_ = false;
    if (result == caf::resumable::resume_later)
      lane_ = found;
    else
      caf::intrusive_ptr_release(found.job);
  }

  Helping& helping_;
  const CarriesActors carries_;
  const kernels::OnCallersThread modes_;
  std::array<caf::resumable*, 16> own_{};  ///< `count_` from `first_` on; not of lanes
  std::size_t first_ = 0, count_ = 0;
  Found lane_;
  bool in_operation_ = false;
  Clock::time_point began_extra_{};  ///< what it does though its reply is there
};

thread_local Helping::Helper* Helping::Helper::active = nullptr;

caf::execution_unit* Helping::door() noexcept {
  if (habit.with != this) habit = {this, 0, {}, false};
  if (habit.calls++ == 0) habit.since = Clock::now();
  return &door_;
}

void Helping::Door::exec_later(caf::resumable* job) {
  if (habit.with == &helping_ && std::exchange(habit.waits, false))
    helping_.force_->push_quietly(job);
  else
    helping_.force_->push(job);
}

Helping::Helping(caf::actor_system& system, std::shared_ptr<Workforce> force, std::size_t lanes)
    : system_(system), force_(std::move(force)), lanes_(lanes) {}

Helping::~Helping() = default;

void Helping::add_lane(std::shared_ptr<OwnThread::Post> post) {
  post->set_lookers(lookers_);
  lanes_.at(added_++).post = std::move(post);
}

void Helping::set_context(caf::actor_addr context) {
  context_ = std::move(context);
  context_job_ =
      dynamic_cast<const caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(context_));
  ensure(context_job_ != nullptr, "a context is scheduled");
}

void Helping::set_lane(std::size_t lane, std::function<Length()> next_length) {
  lanes_.at(lane).next_length = std::move(next_length);
}

Helping::Found Helping::look() noexcept {
  for (const auto& lane : lanes_)
    if (auto* const job = lane.post->try_take()) return {job, &lane};
  return {force_->try_take(context_job_), nullptr};
}

Helping::Found Helping::keep_looking(const std::atomic<bool>& settled) noexcept {
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone) return {};
  Found found;
  const auto begun = Clock::now();
  const auto look_for = [&](Clock::duration time, auto&& pause) {
    while (found.job == nullptr && !settled.load(std::memory_order_acquire) &&
           Clock::now() - begun <= time) {
      pause();
      found = look();
    }
  };
  lookers_->fetch_add(1);
  look_for(counted_on, kernels::breathe);
  lookers_->fetch_sub(1);
  for (const auto& lane : lanes_) lane.post->see_to_rest();
  look_for(patience, std::this_thread::yield);
  return found;
}

void Helping::help(const std::atomic<bool>& settled) {
  if (carries_actors() || caf::logger::current_logger() != nullptr) return;
  if (habit.with == this) {
    habit.waits = habit.calls <= few && Clock::now() - habit.since <= at_once;
    habit.calls = 0;
  }
  int operations_left = most_operations;
  for (int looks = 0; looks < most_looks && !settled.load(std::memory_order_acquire); ++looks) {
    auto found = look();
    if (found.job == nullptr) found = keep_looking(settled);
    // Whoever has a job of a context knows that its system is there.
    if (found.job == nullptr || !Helper(*this).work(settled, found, operations_left)) return;
  }
}

bool Helping::here() noexcept { return Helper::active != nullptr; }

bool Helping::offer(const OwnThread::Post& post, caf::resumable* job) noexcept {
  return Helper::active != nullptr && Helper::active->takes(post, job);
}

}  // namespace polychron::msg
