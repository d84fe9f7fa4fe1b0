// --trace FILE: a recording of what a command does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "polychron/runtime.hpp"

namespace tool {

/// Adds --trace to a command. `what` it does.
void add_trace_option(CLI::App& command, std::string& path,
                      const std::string& what = "Record the actors' messages");

/// Records a runtime from its construction on, and when it goes shuts that down and writes what it
/// has to `path`, also if that is because something failed: that is when one wants to see it. An
/// empty path: nothing.
class TraceFile {
 public:
  /// Throws UserError if `path` cannot be written.
  TraceFile(polychron::Runtime& runtime, std::string path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

 private:
  polychron::Runtime& runtime_;
  const std::string path_;
};

}  // namespace tool
