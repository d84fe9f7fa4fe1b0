#include "messages/shared/helping.hpp"

#include <algorithm>
#include <array>
#include <caf/logger.hpp>
#include <chrono>
#include <thread>
#include <utility>

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

/// When a thread calls and waits: what it did at once it is expected to do so again.
struct Habit {
  const void* with = nullptr;  ///< with which context, compared only
  bool called = false;         ///< and has not waited since
  Clock::time_point since{};   ///< its first call since it had waited
  Clock::time_point left{};    ///< when it had waited last
  bool waits = false;          ///< as soon as it has called
  bool returns = false;        ///< it calls as soon as it has waited
};
thread_local Habit habit;

}  // namespace

/// A thread while it helps, and what it has in its hands.
class Helping::Helper final : public caf::execution_unit {
 public:
  Helper(Helping& helping, const std::atomic<bool>& settled)
      : caf::execution_unit(&helping.system_),
        helping_(helping),
        settled_(settled),
        waits_(habit.with == &helping && habit.waits),
        returns_(waits_ && habit.returns) {
    ensure(active == nullptr, "no handler runs within another");
    helping_.system_.inc_detached_threads();
    active = this;
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() override {
    active = nullptr;
    while (count_ > 0) helping_.force_->push(pop());
    const bool comes_back = returns_ && over();
    if (lane_.job != nullptr) hand_over(lane_, comes_back);
    if (left_ && !comes_back)
      while (const auto found = helping_.force_->take_quiet(helping_.posts_))
        hand_over(found, comes_back);
    // Left by CAF where an actor was spawned; the system would wait until this thread ends.
    if (caf::logger::current_logger() != nullptr) caf::logger::set_current_actor_system(nullptr);
    helping_.system_.dec_detached_threads();  // from here on it may be gone
  }

  /// Until `settled` or nothing is left to do. False if what comes next is not a helper's.
  bool work(const Found& first, int& operations_left) {
    take(first);
    int extra_left = waits_ ? most_extra : 0;
    for (std::size_t turns_left = last_turns + 2 * static_cast<std::size_t>(extra_left);;) {
      const bool over = this->over();
      if (count_ > 0) {
        if (over && turns_left-- == 0) return true;
        run(pop(), over ? messages_a_last_turn : messages_a_turn);
      } else if (over && ((lane_.job == nullptr && !left_) || extra_left == 0)) {
        return true;
      } else if (lane_.job != nullptr) {
        if (over && extras_took_too_long()) return true;
        const auto length = lane_.post->next_length();
        if (length == Length::unknown || (over && length != Length::little)) return over;
        if (operations_left == 0) return over;
        --(over ? extra_left : operations_left);
        run_lane();
      } else if (const auto found =
                     over ? helping_.force_->try_take(nullptr, helping_.posts_) : helping_.look()) {
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
  /// One lane's job at a time. Others are left to those who look, or until this has time for them,
  /// if they are little; else they have threads that are woken, to work side by side.
  bool takes(OwnThread::Post& post, caf::resumable* job) noexcept {
    if (in_operation_ || !helping_.has(post)) return false;
    if (lane_.job == nullptr) {
      lane_ = {job, &post};
      return true;
    }
    if (post.next_length() != Length::little) return false;
    left_ = true;
    helping_.force_->push_quietly(job, post.shared_from_this());
    return true;
  }

  static thread_local Helper* active;

 private:
  bool over() const noexcept { return settled_.load(std::memory_order_acquire); }
  /// To its thread, which was woken for it before or is now; or to nobody for a while.
  void hand_over(const Found& found, bool comes_back) {
    if (comes_back && found.post->next_length() == Length::little)
      helping_.force_->push_quietly(found.job, found.post->shared_from_this());
    else
      found.post->put(found.job, OwnThread::Post::For::the_thread);
  }
  void take(const Found& found) {
    if (found.post != nullptr)
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
  const std::atomic<bool>& settled_;
  const bool waits_;    ///< see Habit
  const bool returns_;  ///< likewise, and it waits at once
  const CarriesActors carries_;
  const kernels::OnCallersThread modes_;
  std::array<caf::resumable*, 128> own_;  ///< `count_` from `first_` on; not of lanes
  std::size_t first_ = 0, count_ = 0;
  Found lane_;
  bool left_ = false;  ///< lanes' jobs, quietly
  bool in_operation_ = false;
  Clock::time_point began_extra_{};  ///< what it does though its reply is there
};

thread_local Helping::Helper* Helping::Helper::active = nullptr;

caf::execution_unit* Helping::door() noexcept {
  if (habit.with != this) {
    habit = {};
    habit.with = this;
  }
  if (!std::exchange(habit.called, true)) {
    habit.since = Clock::now();
    habit.returns = habit.since - habit.left <= Workforce::quiet_for;
  }
  return &door_;
}

void Helping::Door::exec_later(caf::resumable* job) {
  if (habit.with == &helping_ && std::exchange(habit.waits, false))
    helping_.force_->push_quietly(job);
  else
    helping_.force_->push(job);
}

Helping::Helping(caf::actor_system& system, std::shared_ptr<Workforce> force, std::size_t lanes)
    : system_(system), force_(std::move(force)), posts_(lanes) {}

Helping::~Helping() = default;

void Helping::add_lane(std::shared_ptr<OwnThread::Post> post) {
  post->set_lookers(lookers_);
  posts_.at(added_++) = std::move(post);
}

void Helping::set_context(caf::actor_addr context) {
  context_ = std::move(context);
  context_job_ =
      dynamic_cast<const caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(context_));
  ensure(context_job_ != nullptr, "a context is scheduled");
}

Helping::Found Helping::look() noexcept {
  for (const auto& post : posts_)
    if (auto* const job = post->try_take()) return {job, post.get()};
  return force_->try_take(context_job_, posts_);
}

bool Helping::has(const OwnThread::Post& post) const noexcept {
  return std::ranges::any_of(posts_, [&](const auto& one) { return one.get() == &post; });
}

Helping::Found Helping::keep_looking(const std::atomic<bool>& settled) noexcept {
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone) return {};
  Found found;
  const auto begun = Clock::now();
  const auto look_for = [&](Clock::duration time, auto&& pause) {
    while (!found && !settled.load(std::memory_order_acquire) && Clock::now() - begun <= time) {
      pause();
      found = look();
    }
  };
  lookers_->fetch_add(1);
  look_for(counted_on, kernels::breathe);
  lookers_->fetch_sub(1);
  for (const auto& post : posts_) post->see_to_rest();
  look_for(patience, std::this_thread::yield);
  return found;
}

void Helping::help(const std::atomic<bool>& settled) {
  if (carries_actors() || caf::logger::current_logger() != nullptr) return;
  if (habit.with == this && std::exchange(habit.called, false))
    // By then nobody else has seen to what was called.
    habit.waits = Clock::now() - habit.since <= Workforce::quiet_for;
  work_until(settled);
  if (habit.with == this) habit.left = Clock::now();
}

void Helping::work_until(const std::atomic<bool>& settled) {
  int operations_left = most_operations;
  for (int looks = 0; looks < most_looks && !settled.load(std::memory_order_acquire); ++looks) {
    auto found = look();
    if (!found) found = keep_looking(settled);
    // Whoever has a job of a context knows that its system is there.
    if (!found || !Helper(*this, settled).work(found, operations_left)) return;
  }
}

bool Helping::here() noexcept { return Helper::active != nullptr; }

bool Helping::offer(OwnThread::Post& post, caf::resumable* job) noexcept {
  return Helper::active != nullptr && Helper::active->takes(post, job);
}

}  // namespace polychron::msg
