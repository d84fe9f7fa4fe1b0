#include "messages/shared/workers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace polychron::msg {

namespace {

/// What is always taken back in time is waited for so long in the end. To come by costs those that
/// compute a little, each time.
constexpr auto most_trust = 4 * Workforce::quiet_for;
/// But for so many intervals after something with a post: more of these will come.
constexpr int most_intervals_with_posts = 16;

}  // namespace

/// What a job sees of the thread that it runs on.
class Workforce::Unit final : public caf::execution_unit {
 public:
  Unit(Workforce& force, caf::actor_system& system) : caf::execution_unit(&system), force_(force) {}
  void exec_later(caf::resumable* job) override { force_.push(job); }

 private:
  Workforce& force_;
};

Workforce::Workforce(std::size_t threads) : ring_(1024) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (...) {
    close();
    throw;
  }
}

Workforce::~Workforce() { close(); }

void Workforce::open(caf::actor_system& system, std::size_t messages_a_turn) {
  const std::lock_guard lock(mutex_);
  system_ = &system;
  messages_a_turn_ = messages_a_turn;
  changed_.notify_all();
}

void Workforce::push(caf::resumable* job) noexcept {
  std::unique_lock lock(mutex_);
  if (count_ > ring_.size() / 2) make_room();
  // Full in spite of all: the threads have work to do, and make room.
  popped_.wait(lock, [this] { return count_ < ring_.size(); });
  at(count_++) = job;
  note();
  if (sleeping_ > 0) wake_one(lock);
}

void Workforce::push_quietly(caf::resumable* job, std::shared_ptr<Post> post) noexcept {
  {
    std::unique_lock lock(mutex_);
    if (quiet_count_ < quiet_.size()) {
      if (post) intervals_with_posts_ = most_intervals_with_posts;
      const auto due = Clock::now() + (post ? quiet_for : trust_);
      quiet_[quiet_count_++] = {job, std::move(post), due};
      note();
      if (lookout_ && due < comes_by_) {
        trust_ = quiet_for;
        comes_by_ = due;
        wake_all(lock);  // the one among them
      } else if (sleeping_ > 0 && !lookout_ && !std::exchange(called_, true)) {
        wake_one(lock);  // those that are at work come by
      }
      return;
    }
  }
  if (post)
    post->put(job, Post::For::the_thread);
  else
    push(job);
}

template <class Notify>
void Workforce::wake(std::unique_lock<std::mutex>& lock, const Notify& notify) noexcept {
  // Not under the lock, which the woken thread wants first of all.
  waking_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  notify();
  waking_.fetch_sub(1, std::memory_order_release);
}

void Workforce::wake_one(std::unique_lock<std::mutex>& lock) noexcept {
  wake(lock, [this] { changed_.notify_one(); });
}

void Workforce::wake_all(std::unique_lock<std::mutex>& lock) noexcept {
  wake(lock, [this] { changed_.notify_all(); });
}

void Workforce::rest(std::unique_lock<std::mutex>& lock) {
  ++sleeping_;
  while (idle()) {
    if (!lookout_ && (called_ || quiet_count_ > 0))
      look_out(lock);
    else
      changed_.wait(lock);
  }
  --sleeping_;
}

void Workforce::look_out(std::unique_lock<std::mutex>& lock) {
  // Intervals in which nothing was there. Each takes a core from whoever computes there.
  constexpr int most = 2;
  lookout_ = true;
  called_ = false;
  for (int intervals = 0; idle() && intervals < most;) {
    const auto taken = quietly_taken_;
    comes_by_ = Clock::now() + trust_;
    for (std::size_t i = 0; i < quiet_count_; ++i) comes_by_ = std::min(comes_by_, quiet_[i].due);
    changed_.wait_until(lock, comes_by_);
    intervals = quiet_count_ > 0 || quietly_taken_ != taken ? 0 : intervals + 1;
    if (intervals_with_posts_ > 0)
      --intervals_with_posts_;
    else if (quietly_taken_ != taken)
      trust_ = std::min(2 * trust_, most_trust);
    surface();
  }
  lookout_ = false;
  if (idle()) trust_ = quiet_for;  // whoever comes next may be another
  // Somebody else is on the lookout, while this works.
  if (count_ > 1 || (quiet_count_ > 0 && sleeping_ > 1)) changed_.notify_one();
}

void Workforce::surface() noexcept {
  if (quiet_count_ == 0) return;
  const auto now = closing_ ? Clock::time_point::max() : Clock::now();
  std::size_t left = 0;
  for (std::size_t i = 0; i < quiet_count_; ++i) {
    auto quiet = std::exchange(quiet_[i], {});
    if (quiet.due <= now && quiet.post) {
      quiet.post->put(quiet.job, Post::For::the_thread);
    } else if (quiet.due <= now && count_ < ring_.size()) {
      at(count_++) = quiet.job;
      trust_ = quiet_for;
    } else {  // what does not fit waits here until something is popped
      quiet_[left++] = std::move(quiet);
    }
  }
  quiet_count_ = left;
  note();
}

caf::resumable* Workforce::pop() noexcept {
  auto* const job = at(0);
  first_ = (first_ + 1) % ring_.size();
  if (count_-- == ring_.size()) popped_.notify_all();
  note();
  return job;
}

namespace {

bool among(Workforce::Posts posts, const std::shared_ptr<Workforce::Post>& post) {
  return std::ranges::find(posts, post) != posts.end();
}

}  // namespace

template <class Wanted>
Workforce::Found Workforce::take_quiet_if(const Wanted& wanted) noexcept {
  const auto end = quiet_.begin() + quiet_count_;
  const auto quiet = std::find_if(quiet_.begin(), end, wanted);
  if (quiet == end) return {};
  const Found found{quiet->job, quiet->post.get()};
  std::swap(*quiet, *(end - 1));
  *(end - 1) = {};
  --quiet_count_;
  ++quietly_taken_;
  note();
  return found;
}

Workforce::Found Workforce::try_take(const caf::resumable* job, Posts posts) noexcept {
  if (!something_.load(std::memory_order_relaxed)) return {};
  constexpr std::size_t near = 64;  // of a long queue a thread comes by soon enough
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  const auto wanted = [&](const Quiet& quiet) {
    return quiet.post ? among(posts, quiet.post) : quiet.job == job;
  };
  if (const auto found = take_quiet_if(wanted)) return found;
  for (std::size_t place = 0; place < std::min(count_, near); ++place) {
    if (at(place) != job) continue;
    // Those ahead of it move up, in their order, onto its place.
    for (; place > 0; --place) std::swap(at(place), at(place - 1));
    return {pop(), nullptr};
  }
  return {};
}

Workforce::Found Workforce::take_quiet(Posts posts) noexcept {
  const std::lock_guard lock(mutex_);
  return take_quiet_if([&](const Quiet& quiet) { return quiet.post && among(posts, quiet.post); });
}

void Workforce::make_room() noexcept {
  try {
    std::vector<caf::resumable*> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = at(i);
    ring_.swap(larger);
    first_ = 0;
  } catch (const std::bad_alloc&) {  // half of it is left
  }
}

void Workforce::serve() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return system_ != nullptr || closing_; });
  if (system_ == nullptr) return;
  auto& system = *system_;
  lock.unlock();
  system.thread_started();
  {
    Unit unit(*this, system);
    lock.lock();
    for (;;) {
      surface();
      if (idle()) rest(lock);
      surface();
      if (count_ == 0) break;
      auto* const job = pop();
      lock.unlock();
      if (job->resume(&unit, messages_a_turn_) == caf::resumable::resume_later)
        push(job);
      else
        caf::intrusive_ptr_release(job);
      lock.lock();
    }
    lock.unlock();
  }
  system.thread_terminates();
}

void Workforce::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  // Whoever pushed the last job may still be about to wake somebody.
  while (waking_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

/// Actors of this runtime ask for no timeouts: time is passed to them.
class Workers::NoClock final : public caf::actor_clock {
 public:
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override {}
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                         std::uint64_t) override {}
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override {}
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {}
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {}
  void cancel_all() override {}
};

namespace {
thread_local std::shared_ptr<Workforce> taken_on;
}

void Workers::take_on(std::shared_ptr<Workforce> force) { taken_on = std::move(force); }

Workers::Workers(caf::actor_system& system)
    : abstract_coordinator(system),
      force_(std::exchange(taken_on, nullptr)),
      clock_(std::make_unique<NoClock>()) {}

Workers::~Workers() = default;

caf::actor_clock& Workers::clock() noexcept { return *clock_; }

}  // namespace polychron::msg
