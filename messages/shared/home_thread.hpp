// A thread that a runtime keeps: on it its actor system is made and ended, and contexts begin.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace polychron::msg {

/// Does one thing at a time, for any thread that asks, and a chore now and then. Thread-safe.
///
/// CAF leaves references to a system's logger in thread-local storage: in each thread that makes
/// the system, ends it, or spawns actors from outside. The end of a system waits until all of these
/// references are gone, for ever if such a thread lives on. It also must not use a reference that
/// its thread has dropped, as the main thread has when static variables go. So all of this happens
/// on one thread, which ends with the system. It is there from the beginning, because at the end
/// there may be no thread to be had.
class HomeThread {
 public:
  /// Does `chore` each `period`, beside what it is asked for. Throws std::system_error if there is
  /// no thread. `chore` must not throw.
  HomeThread(std::chrono::nanoseconds period, std::function<void()> chore);
  HomeThread(const HomeThread&) = delete;
  HomeThread& operator=(const HomeThread&) = delete;
  ~HomeThread();

  /// Runs `work` there, waits for it, and throws what it throws. Not from the thread itself.
  void run(std::function<void()> work);
  /// Runs `last` there, and then the thread ends. With `wait` this returns after that. `last` may
  /// be what frees everything but the HomeThread, which the thread then owns.
  static void end(std::unique_ptr<HomeThread> home, std::function<void()> last, bool wait);

 private:
  struct Post;
  std::shared_ptr<Post> post_;
  std::thread thread_;
};

}  // namespace polychron::msg
