// A command-line program from its first word to its exit code, and the mistakes that it reports.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace tool {

/// The exit codes, on which scripts can rely.
enum ExitCode : int { success = 0, internal_failure = 1, users_mistake = 2 };

/// An error that the user can correct. The message is one line: it names the object and the
/// expected value.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some tests or pictures failed and were already reported: no further message.
struct AlreadyTold {
  ExitCode code = internal_failure;
};

/// Options of every program and subcommand. Outlives them.
struct Globals {
  bool progress = false;  ///< --progress: also when stderr is no terminal
};

/// Adds --version and --progress to `app`, parses the command line, which runs the callbacks, and
/// returns the exit code. Each failure becomes one line on standard error.
int run_program(CLI::App& app, Globals& globals, int argc, char** argv);

}  // namespace tool
