// The threads that one dispatch may use, and the environment that more than one needs.
#pragma once

#include <CLI/CLI.hpp>

namespace tool {

/// How much of the processor a context may have.
struct Workers {
  int threads = 1;  ///< for each lane
  int lanes = 1;
};

/// Adds --threads N to `command`.
void add_threads_option(CLI::App& command, int& threads);
/// Adds --threads N and --lanes N to `command`.
void add_workers_options(CLI::App& command, Workers& workers);

/// OpenMP's threads spin while they wait, which is ruinous when processors are busy, and libgomp
/// looks at OMP_WAIT_POLICY only when it is loaded. So with more than one thread the program starts
/// itself again with OMP_WAIT_POLICY=passive, unless the variable is set to anything already. Call
/// before anything was done; may not return.
void make_threads_wait_passively(int threads, char** arguments);

}  // namespace tool
