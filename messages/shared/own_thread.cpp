#include "messages/shared/own_thread.hpp"

#include <caf/scoped_execution_unit.hpp>
#include <thread>
#include <utility>

#include "base/invariant.hpp"
#include "kernels/threads.hpp"
#include "messages/shared/helping.hpp"

namespace polychron::msg {

void OwnThread::Post::serve() {
  system_.thread_started();
  kernels::use_standard_arithmetic();
  {
    caf::scoped_execution_unit unit(&system_);
    bool done = false;
    while (auto* const ready = done ? nullptr : await()) {
      auto result = caf::resumable::resume_later;
      bool left = false;
      while (result == caf::resumable::resume_later && !left) {
        result = ready->resume(&unit, 1);
        // Who waits for this does it sooner than both of us pass replies to and fro.
        left = result == caf::resumable::resume_later && somebody_looks() &&
               next_length() == Length::little;
      }
      if (left) {
        put(ready);
        continue;
      }
      done = result != caf::resumable::awaiting_message;
      caf::intrusive_ptr_release(ready);  // may be the last share, which closes this
    }
  }
  system_.thread_terminates();
}

caf::resumable* OwnThread::Post::await() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // A helper may have come before, or is about to: then it sees to what it leaves.
    if (!left_.load() || !somebody_looks())
      if (auto* const job = take()) return job;
    if (closed_) return nullptr;
    changed_.wait(lock);
  }
}

void OwnThread::Post::put(caf::resumable* job, For whom) {
  {
    const std::lock_guard lock(mutex_);
    const auto* const before = job_.exchange(job);
    ensure(before == nullptr, "an actor is made runnable once until it has run");
  }
  // Whoever ceases to look does so before he sees to the rest: one of us finds the other.
  if (whom == For::whoever_looks && somebody_looks()) {
    left_.store(true);
    if (somebody_looks()) return;
  }
  changed_.notify_one();
}

void OwnThread::Post::see_to_rest() noexcept {
  if (!left_.load() || !left_.exchange(false)) return;
  // The thread is either asleep or has yet to look.
  { const std::lock_guard lock(mutex_); }
  changed_.notify_one();
}

void OwnThread::Post::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

OwnThread::OwnThread(caf::actor_system& system) : post_(std::make_shared<Post>(system)) {
  system.inc_detached_threads();
  try {
    std::thread([post = post_] {
      post->serve();
      post->system_.dec_detached_threads();  // from here on the system may be gone
    }).detach();
  } catch (...) {
    system.dec_detached_threads();
    throw;
  }
}

OwnThread::~OwnThread() { post_->close(); }

void OwnThread::resume(caf::resumable* job) noexcept {
  if (Helping::offer(*post_, job)) return;
  // Shared: the actor, and this with it, may go while the thread is woken.
  const auto post = post_;
  post->put(job);
}

}  // namespace polychron::msg
