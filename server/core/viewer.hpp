// Pages of recordings for a browser, made by the program `polychron trace view`.
//
// Owns: a thread, and the program while it runs, one at a time.
// Never: lets a client choose what is run.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <mutex>
#include <polychron/buffer.hpp>
#include <polychron/future.hpp>
#include <string>
#include <variant>
#include <vector>

#include "protocol/refusal.hpp"

namespace polychron::server {

class Viewer {
 public:
  using Page = std::variant<Buffer, Refusal>;

  /// `program` is a path, or a name that is looked for in PATH.
  explicit Viewer(std::string program) : program_(std::move(program)) {}
  /// Calls stop().
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// The page of what `recording` gives, which is called on the viewer's thread. A refusal: another
  /// page is being made (503), there is no such program (501), it failed (500).
  Future<Page> page(std::function<std::vector<std::byte>()> recording);
  /// Ends the program, and makes no more pages.
  void stop();

 private:
  Page make(const std::vector<std::byte>& recording);
  /// The program's exit code, or -1.
  int wait(int pid);

  const std::string program_;
  std::mutex mutex_;
  bool busy_ = false, stopped_ = false;
  int pid_ = 0;  ///< of the program that runs
  boost::asio::thread_pool thread_{1};
};

}  // namespace polychron::server
