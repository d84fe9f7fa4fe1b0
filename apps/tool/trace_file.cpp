#include "apps/tool/trace_file.hpp"

#include <utility>

#include "apps/tool/arguments.hpp"
#include "apps/tool/output_files.hpp"
#include "apps/tool/report.hpp"

namespace tool {

void add_trace_option(CLI::App& command, std::string& path, const std::string& what) {
  command.add_option("--trace", path, what + "; see polychron trace --help")
      ->type_name("FILE")
      ->check(not_empty("a file"));
}

TraceFile::TraceFile(polychron::Runtime& runtime, std::string path)
    : runtime_(runtime), path_(std::move(path)) {
  if (path_.empty()) return;
  require_output_file(path_);
  runtime_.start_trace({.steps = true});
}

TraceFile::~TraceFile() {
  try {
    write();
  } catch (const std::exception& error) {
    warn("warning: --trace: " + std::string(error.what()));
  }
}

void TraceFile::write() {
  if (path_.empty()) return;
  const auto path = std::exchange(path_, {});
  // A lane records an operation after it has answered, so end all lanes first.
  runtime_.shutdown();
  runtime_.stop_trace();
  const auto recording = runtime_.trace();
  OutputFiles files;
  files.add(path, {recording});
  files.commit();
}

}  // namespace tool
