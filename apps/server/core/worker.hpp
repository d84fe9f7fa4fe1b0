// A thread for work on large texts, which would hold up the connections: to decompress, to parse,
// to write JSON.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace polychron::server {

/// One thread, so that one document at a time takes several times its size. The smallest work goes
/// first: a request of 100 KiB does not wait for those of 16 MiB.
class Worker {
 public:
  /// Work on fewer bytes than this is done where it comes up.
  static constexpr std::size_t large = 64 * 1024;

  Worker() : thread_([this](const std::stop_token& stop) { work(stop); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Does what is queued.
  ~Worker() = default;

  /// Thread-safe. `task` must not throw.
  void add(std::size_t bytes, std::function<void()> task);

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::multimap<std::size_t, std::function<void()>> tasks_;
  std::jthread thread_;  ///< last: it uses all of the above
};

}  // namespace polychron::server
