// Progress on standard error: one overwritten line on a terminal, otherwise one line for each step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tool {

/// Shows nothing unless standard error is a terminal or `forced`. Erases its line when it is
/// destroyed or paused, so that it never mixes with results. Used by one thread.
class Progress {
 public:
  explicit Progress(bool forced);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// "building the graph"
  void show(std::string_view what);
  /// "reading lines 3/7"
  void show(std::string_view what, std::size_t done, std::size_t total);
  /// Erases the line; call before writing results.
  void clear();

 private:
  bool terminal_, forced_;
  std::string shown_;
};

}  // namespace tool
