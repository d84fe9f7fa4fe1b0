// The device that a command computes on, and the threads that one dispatch may use.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tool {

/// The share of the processor that a context may use.
struct Workers {
  int threads = 1;  ///< for each lane
  int lanes = 1;
  std::string device = "cpu";
};

/// Adds --device NAME to `command`.
void add_device_option(CLI::App& command, std::string& device);
/// Adds --threads N to `command`.
void add_threads_option(CLI::App& command, int& threads);
/// Adds --threads N, --lanes N and --device NAME to `command`.
void add_workers_options(CLI::App& command, Workers& workers);

}  // namespace tool
