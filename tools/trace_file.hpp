// --trace FILE: a recording of what a command does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "polychron/runtime.hpp"

namespace tool {

/// Adds --trace to a command. `what` it does.
void add_trace_option(CLI::App& command, std::string& path,
                      const std::string& what = "Record the actors' messages");

/// Records a runtime from its construction on. If it was not written when it goes, something has
/// failed, and that is when one wants to see it: then it is written, or a warning. An empty path:
/// nothing.
class TraceFile {
 public:
  /// Throws UserError if `path` cannot be written.
  TraceFile(polychron::Runtime& runtime, std::string path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Shuts the runtime down and writes what it did, once. Throws UserError.
  void write();

 private:
  polychron::Runtime& runtime_;
  std::string path_;  ///< empty: nothing is to be written any more
};

}  // namespace tool
