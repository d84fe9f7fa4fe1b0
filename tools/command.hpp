// The subcommands of `polychron`, and what they share: the way mistakes are told.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace tool {

/// What scripts can rely on.
enum ExitCode : int { success = 0, internal_failure = 1, users_mistake = 2 };

/// Something the user can put right. The message is one line: it names the thing, and tells what
/// was expected.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some of what was done has failed and was told about (tests, pictures): nothing more to say.
struct AlreadyTold {
  ExitCode code = internal_failure;
};

/// What every subcommand gets from the top level. Outlives the commands.
struct Globals {
  bool progress = false;  ///< --progress: also when stderr is no terminal
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
