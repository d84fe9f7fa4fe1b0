// Pages of recordings for a browser, made by the program `polychron trace view`. It is a process of
// its own because a page takes about 25 times the recording's memory (266 MiB for 9 MiB, November
// 2026) and its maker cannot be interrupted: what it takes must not be the server's, and must end.
//
// Owns: a thread, and the program while it runs, one at a time.
// Never: lets a client choose what is run.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <polychron/buffer.hpp>
#include <polychron/future.hpp>
#include <string>
#include <vector>

#include "protocol/refusal.hpp"

namespace polychron::server {

class Viewer {
 public:
  using Page = Refusable<Buffer>;

  /// `program` is a path, or a name that is looked for in PATH. It ends when `patience` is over: a
  /// page takes seconds.
  explicit Viewer(std::string program, std::chrono::milliseconds patience = std::chrono::minutes(5))
      : program_(std::move(program)), patience_(patience) {}
  /// Calls stop().
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// The page of what `recording` gives, which is called on the viewer's thread. A refusal: another
  /// page is being made (503), there is no such program (501), it failed (500).
  Future<Page> page(std::function<std::vector<std::byte>()> recording);
  /// Ends the program with all that it has started, and makes no more pages.
  void stop();

 private:
  Page make(const std::vector<std::byte>& recording);
  /// Nothing if the program ended well; else why it did not, or an empty text: it has said so.
  std::optional<std::string> wait(int pid);

  const std::string program_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  bool busy_ = false, stopped_ = false;
  int pid_ = 0;  ///< of the program that runs
  boost::asio::thread_pool thread_{1};
};

}  // namespace polychron::server
