// A command-line program from its first word to its exit code, and the mistakes that it reports.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace tool {

/// Scripts can rely on these.
enum ExitCode : int { success = 0, internal_failure = 1, users_mistake = 2 };

/// Something the user can put right. The message is one line: it names the thing, and says what
/// was expected.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some of the work failed and was reported (tests, pictures): there is nothing more to say.
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
