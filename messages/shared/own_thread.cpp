#include "messages/shared/own_thread.hpp"

#include <caf/scoped_execution_unit.hpp>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace polychron::msg {

namespace {
thread_local std::unique_ptr<OwnThread> next;
}

/// What the thread shares with its actor, which it may outlive.
struct OwnThread::Post {
  explicit Post(caf::actor_system& of) : system(of) {}

  void serve() {
    system.thread_started();
    {
      caf::scoped_execution_unit unit(&system);
      bool done = false;
      while (auto* const ready = done ? nullptr : await()) {
        auto result = caf::resumable::resume_later;
        while (result == caf::resumable::resume_later)
          result = ready->resume(&unit, std::numeric_limits<std::size_t>::max());
        done = result != caf::resumable::awaiting_message;
        caf::intrusive_ptr_release(ready);  // may be the last share, which closes this
      }
    }
    system.thread_terminates();
  }
  caf::resumable* await() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return job != nullptr || closed; });
    return std::exchange(job, nullptr);
  }

  caf::actor_system& system;
  std::mutex mutex;
  std::condition_variable changed;
  caf::resumable* job = nullptr;
  bool closed = false;
};

OwnThread::OwnThread(caf::actor_system& system) : post_(std::make_shared<Post>(system)) {
  system.inc_detached_threads();
  try {
    std::thread([post = post_] {
      post->serve();
      post->system.dec_detached_threads();  // from here on the system may be gone
    }).detach();
  } catch (...) {
    system.dec_detached_threads();
    throw;
  }
}

OwnThread::~OwnThread() {
  const std::lock_guard lock(post_->mutex);
  post_->closed = true;
  post_->changed.notify_one();
}

void OwnThread::resume(caf::resumable* job) noexcept {
  // Shared: the actor, and this with it, may go while the thread is woken.
  const auto post = post_;
  {
    const std::lock_guard lock(post->mutex);
    post->job = job;
  }
  post->changed.notify_one();
}

void OwnThread::give_next(std::unique_ptr<OwnThread> thread) noexcept { next = std::move(thread); }

std::unique_ptr<OwnThread> OwnThread::take() noexcept { return std::move(next); }

}  // namespace polychron::msg
