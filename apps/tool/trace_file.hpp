// --trace FILE: a recording of a command's run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "polychron/runtime.hpp"

namespace tool {

/// Adds --trace to a command. `what` is its help text.
void add_trace_option(CLI::App& command, std::string& path,
                      const std::string& what = "Record the actors' messages");

/// Records a runtime from its construction on. If write() was not called, the command has failed
/// and the recording is most useful: the destructor then writes it, or warns. Does nothing if the
/// path is empty.
class TraceFile {
 public:
  /// Throws UserError if `path` cannot be written.
  TraceFile(polychron::Runtime& runtime, std::string path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Shuts the runtime down and writes the recording; does it once. Throws UserError.
  void write();

 private:
  polychron::Runtime& runtime_;
  std::string path_;  ///< empty: nothing left to write
};

}  // namespace tool
