// A thread that one actor has to itself: for lanes and compilers, whose handlers take long.
#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "messages/length.hpp"

namespace polychron::msg {

/// The thread is there before the actor is. CAF's own way (caf::detached) makes it while the actor
/// is launched, and does not survive it if there is no memory or no thread to be had (0.17.6,
/// private_thread.cpp, scheduled_actor.cpp: launch, cleanup). The system waits for these threads as
/// it does for its own.
class OwnThread {
 public:
  /// Where the thread finds what it is to run. Written by whoever makes its actor runnable, read by
  /// the thread and by who may help it. Thread-safe.
  class Post : public std::enable_shared_from_this<Post> {
   public:
    explicit Post(caf::actor_system& system) : system_(system) {}
    /// For whom it is: who looks for work comes by here, and then nobody else need be woken.
    enum class For : std::uint8_t { whoever_looks, the_thread };
    /// `job`, with the caller's share of it. The thread is woken, unless somebody looks for work
    /// who may have the job.
    void put(caf::resumable* job, For whom = For::whoever_looks);
    /// From here on counts those that look into this, and call see_to_rest() when they have ceased
    /// to. Before anybody puts.
    void set_lookers(std::shared_ptr<const std::atomic<int>> lookers) noexcept {
      lookers_ = std::move(lookers);
    }
    /// How the actor tells the length of its mail's next message. By the actor, as it starts.
    void set_next_length(std::function<Length()> next_length) {
      next_length_ = std::move(next_length);
    }
    /// By whoever has the job. An actor that has not started cannot say.
    Length next_length() const { return next_length_ ? next_length_() : Length::unknown; }
    /// Wakes the thread if it was not for what is here.
    void see_to_rest() noexcept;
    /// Takes what the thread has not taken yet; null if there is nothing.
    caf::resumable* try_take() noexcept {
      return job_.load(std::memory_order_relaxed) == nullptr ? nullptr : take();
    }

   private:
    friend class OwnThread;
    void serve();
    caf::resumable* await();
    bool somebody_looks() const noexcept { return lookers_ && lookers_->load() > 0; }
    /// What was left is known to be taken before it is: what is left next is not forgotten.
    caf::resumable* take() noexcept {
      left_.store(false);
      return job_.exchange(nullptr);
    }
    void close() noexcept;

    caf::actor_system& system_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<caf::resumable*> job_{nullptr};  ///< set under the lock
    std::atomic<bool> left_{false};              ///< the thread was not woken for it
    std::shared_ptr<const std::atomic<int>> lookers_;
    std::function<Length()> next_length_;
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

 private:
  const std::shared_ptr<Post> post_;
};

}  // namespace polychron::msg
