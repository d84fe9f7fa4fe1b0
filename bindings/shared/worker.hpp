// A thread for what may take long and is not the runtime's: files and imports.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace bindings {

/// Runs tasks one after the other. The thread starts with the first. Tasks must not throw.
/// post() is for any thread, close() for one.
class Worker {
 public:
  using Task = std::function<void()>;
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { close(); }
  /// Drops the task after close(). Throws if there is no memory, or no thread to be had.
  void post(Task task);
  /// Waits for the running task and drops all others. Idempotent.
  void close() noexcept;

 private:
  void work() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::thread thread_;
  bool closed_ = false;
};

}  // namespace bindings
