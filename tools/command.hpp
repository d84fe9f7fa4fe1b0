// The subcommands of `polychron`, and the errors that they share.
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

/// The global options, for every subcommand. Outlives the commands.
struct Globals {
  bool progress = false;  ///< --progress: even if stderr is not a terminal
};

/// Each adds a subcommand to `app`; parsing then runs it. They throw UserError and
/// polychron::Error.
void add_ocr(CLI::App& app, const Globals& globals);
void add_run(CLI::App& app, const Globals& globals);
void add_bench(CLI::App& app, const Globals& globals);
void add_inspect(CLI::App& app, const Globals& globals);
void add_devices(CLI::App& app);
void add_conformance(CLI::App& app, const Globals& globals);
void add_onnx_tests(CLI::App& app, const Globals& globals);
void add_stress(CLI::App& app, const Globals& globals);
void add_trace(CLI::App& app, const Globals& globals);

}  // namespace tool
