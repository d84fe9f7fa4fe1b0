// The command-line tool: parses, runs a subcommand, and turns failures into a line and an exit
// code.
#include <iostream>
#include <string>

#include "tools/arguments.hpp"
#include "tools/command.hpp"
#include "tools/platform.hpp"
#include "tools/report.hpp"
#include "tools/version.hpp"

namespace {

constexpr const char* footer =
    R"(Examples:
  polychron ocr page.png
  polychron run model.onnx --input x=x.npy --output-dir results
  polychron bench model.onnx --bind x=1x3x48x320 --threads 2 --seconds 5 --json
  polychron inspect model.onnx

Exit codes:
  0  success
  1  the program failed (out of memory, a device failure, a defect), or a test that it ran did
  2  a mistake in the call: a wrong option, a missing or malformed file, a wrong shape; one line
     on standard error names it, and says what was expected

Results go to standard output or to files. A file appears whole or not at all. Progress and
messages go to standard error. Control characters are printed as \x1b. As the name of a model,
a picture or a .npy file that is read, - stands for standard input.

polychron SUBCOMMAND --help describes each subcommand.)";

/// Flush here, where writing the last buffered output may fail.
tool::ExitCode after_flushing(tool::ExitCode code) {
  std::cout.flush();
  if (std::cout) return code;
  const auto failure = tool::report("standard output: cannot write", tool::users_mistake);
  return code == tool::success ? failure : code;
}

}  // namespace

int main(int argc, char** argv) {
  tool::take_precautions();
  CLI::App app(
      "Polychron, a native runtime of the W3C WebNN API: runs ONNX models, and reads pages.",
      "polychron");
  tool::Globals globals;
  app.footer(footer);
  app.require_subcommand(0, 1);  // a missing one is reported below, after unknown options
  app.fallthrough();
  app.set_version_flag("--version", tool::version(), "Print the version and exit");
  app.add_flag("--progress", globals.progress,
               "Show progress even if standard error is not a terminal");
  tool::add_ocr(app, globals);
  tool::add_run(app, globals);
  tool::add_bench(app, globals);
  tool::add_inspect(app, globals);
  tool::add_devices(app);
  tool::add_conformance(app, globals);
  tool::add_onnx_tests(app, globals);
  tool::add_stress(app, globals);
  tool::add_trace(app, globals);
  tool::refuse_values_of_flags(app);
  try {
    app.parse(argc, argv);
    if (const auto missing = tool::missing_subcommand(app); !missing.empty())
      return tool::report(missing, tool::users_mistake);
    return after_flushing(tool::success);
  } catch (const tool::AlreadyTold& told) {
    return after_flushing(told.code);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return after_flushing(tool::success);
  } catch (const CLI::ParseError& error) {
    return tool::report(tool::words_of(error, app), tool::users_mistake);
  } catch (...) {
    return tool::report_exception();
  }
}
