// The access log: a line of JSON for each request, and lines of text for what the server does.
//
// Owns: the file and the thread that writes it.
// Invariants: a slow or full disk never holds up a request; lines that fit neither the queue nor
// the disk are dropped and counted.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace polychron::server {

/// "2026-11-26T16:01:02.345Z"
std::string timestamp();

/// A request that has been answered.
struct AccessEntry {
  std::string method;  ///< "POST", or "gRPC"
  std::string target;
  int status = 0;
  std::chrono::nanoseconds time{0};
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;      ///< bytes
  std::string id;
  std::string trace;  ///< traceparent
  std::string error;
};

class AccessLog {
 public:
  /// Writes requests to the file, "-" is standard output, and "" nowhere. Server lines go to
  /// standard error, unless `quiet`. Throws Error (bad_data) if the file cannot be opened.
  explicit AccessLog(const std::string& file, bool quiet = false);
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;
  /// Writes what is queued.
  ~AccessLog();

  bool wants_requests() const { return requests_ >= 0; }
  void request(const AccessEntry& entry);
  /// A line about the server.
  void server(const std::string& line);
  /// Writes to a new file of the same name, after the old one was renamed. Throws Error (bad_data);
  /// the old file then goes on.
  void open_again();
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Line {
    int file;
    std::string text;
  };
  void push(int file, std::string line);
  void write(int file, std::string_view text);
  void work(const std::stop_token& stop);

  const std::string file_;
  const bool quiet_;
  int requests_ = -1;
  std::set<int> torn_;  ///< files whose last line is not whole; the worker's alone
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Line> lines_;
  std::jthread worker_;  ///< last: it uses all of the above
};

}  // namespace polychron::server
