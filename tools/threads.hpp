// The threads that one dispatch may use.
#pragma once

#include <CLI/CLI.hpp>

namespace tool {

/// The share of the processor that a context may use.
struct Workers {
  int threads = 1;  ///< for each lane
  int lanes = 1;
};

/// Adds --threads N to `command`.
void add_threads_option(CLI::App& command, int& threads);
/// Adds --threads N and --lanes N to `command`.
void add_workers_options(CLI::App& command, Workers& workers);

}  // namespace tool
