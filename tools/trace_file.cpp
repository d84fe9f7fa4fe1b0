#include "tools/trace_file.hpp"

#include <utility>

#include "polychron/error.hpp"
#include "tools/arguments.hpp"
#include "tools/output_files.hpp"
#include "tools/report.hpp"

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
  if (path_.empty()) return;
  try {
    // A lane writes down what it did after it has answered: first all of them end.
    runtime_.shutdown();
    runtime_.stop_trace();
    polychron::save_trace(runtime_.trace(), path_);
  } catch (const std::exception& error) {
    warn("warning: --trace: " + std::string(error.what()));
  }
}

}  // namespace tool
