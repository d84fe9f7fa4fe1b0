// The subcommands of `polychron`.
#pragma once

#include "apps/tool/program.hpp"

namespace tool {

/// Each adds a subcommand to `app`; parsing then runs it. They throw UserError and
/// polychron::Error.
void add_run(CLI::App& app, const Globals& globals);
void add_bench(CLI::App& app, const Globals& globals);
void add_inspect(CLI::App& app, const Globals& globals);
void add_generate(CLI::App& app, const Globals& globals);
void add_devices(CLI::App& app);
void add_conformance(CLI::App& app, const Globals& globals);
void add_onnx_tests(CLI::App& app, const Globals& globals);
void add_stress(CLI::App& app, const Globals& globals);
void add_trace(CLI::App& app, const Globals& globals);

}  // namespace tool
