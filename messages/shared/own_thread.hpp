// A thread that one actor has to itself: for lanes and compilers, whose handlers take long.
#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace polychron::msg {

/// The thread is there before the actor is. CAF's own way (caf::detached) makes it while the actor
/// is launched, and does not survive it if there is no memory or no thread to be had (0.17.6,
/// private_thread.cpp, scheduled_actor.cpp: launch, cleanup). The system waits for these threads as
/// it does for its own.
class OwnThread {
 public:
  /// Where the thread finds what it is to run. Written by whoever makes its actor runnable, read by
  /// the thread and by who may help it. Thread-safe.
  class Post {
   public:
    explicit Post(caf::actor_system& system) : system_(system) {}
    /// For the thread, which is woken: `job`, with the caller's share of it.
    void put(caf::resumable* job);
    /// Takes what the thread has not taken yet; null if there is nothing.
    caf::resumable* try_take() noexcept {
      return job_.load(std::memory_order_relaxed) == nullptr ? nullptr : job_.exchange(nullptr);
    }

   private:
    friend class OwnThread;
    void serve();
    caf::resumable* await();
    void close() noexcept;

    caf::actor_system& system_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<caf::resumable*> job_{nullptr};  ///< set under the lock
    bool closed_ = false;
  };

  /// Throws std::system_error or std::bad_alloc, and then nothing is left of it.
  explicit OwnThread(caf::actor_system& system);
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
  /// The thread ends, once it has let go of its actor.
  ~OwnThread();

  /// Lets the thread resume `job`, with the caller's share of it, unless the caller helps and does
  /// it itself. By whoever makes the actor runnable: CAF says that once until it has run.
  void resume(caf::resumable* job) noexcept;
  const std::shared_ptr<Post>& post() const noexcept { return post_; }

  /// The next actor that this thread makes, and that is OnOwnThread, has `thread`. What is there
  /// already, and nobody has taken, goes.
  static void give_next(std::unique_ptr<OwnThread> thread) noexcept;
  static std::unique_ptr<OwnThread> take() noexcept;

 private:
  const std::shared_ptr<Post> post_;
};

/// An actor on its OwnThread; where the scheduler says, if none was given.
template <class Base>
class OnOwnThread : public Base {
 public:
  explicit OnOwnThread(caf::actor_config& config) : Base(config), thread_(OwnThread::take()) {}

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    if (!thread_) return Base::enqueue(std::move(element), unit);
    if (this->mailbox().push_back(std::move(element)) ==
        caf::intrusive::inbox_result::unblocked_reader)
      resume_there();
  }
  void launch(caf::execution_unit* unit, bool lazy, bool hide) override {
    if (!thread_) return Base::launch(unit, lazy, hide);
    this->register_at_system();
    resume_there();
  }

 private:
  void resume_there() noexcept {
    caf::intrusive_ptr_add_ref(this->ctrl());
    thread_->resume(this);
  }

  const std::unique_ptr<OwnThread> thread_;
};

}  // namespace polychron::msg
