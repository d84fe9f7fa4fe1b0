// The command-line tool: parses, runs a subcommand, and turns failures into a line and an exit
// code.
#include <iostream>
#include <string>

#include "tools/command.hpp"
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
  1  a failure that is not the user's: out of memory, a device failure, a defect;
     or tests were run, and some have failed
  2  the user's mistake: a wrong option, a missing or malformed file, a wrong shape; one line on
     standard error names the thing and what was expected

Results go to standard output or to files, which appear whole or not at all. Progress and messages
go to standard error. Control characters in what is printed are shown as \x1b. Where a model, a
picture or a .npy file is read, - is standard input.)";

/// "ocr, run or bench"
std::string names_of_subcommands(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::string names;
  for (std::size_t i = 0; i < commands.size(); ++i)
    names += (i == 0 ? "" : i + 1 == commands.size() ? " or " : ", ") + commands[i]->get_name();
  return names;
}

/// What was typed where a subcommand should be.
tool::UserError no_subcommand(const CLI::App& app) {
  const auto words = app.remaining();
  const auto expected = "expected a subcommand: " + names_of_subcommands(app) + " (see --help)";
  return tool::UserError(words.empty() ? expected : "'" + words.front() + "': " + expected);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Polychron: the W3C WebNN API as a native runtime. Runs models, and reads pages.",
               "polychron");
  tool::Globals globals;
  app.footer(footer);
  app.require_subcommand(0, 1);  // none is told below: first what is not understood
  app.fallthrough();
  app.set_version_flag("--version", tool::version(), "Print the version and exit");
  app.add_flag("--progress", globals.progress,
               "Show progress on standard error even if that is no terminal");
  tool::add_ocr(app, globals);
  tool::add_run(app, globals);
  tool::add_bench(app, globals);
  tool::add_inspect(app, globals);
  tool::add_devices(app);
  tool::add_conformance(app, globals);
  tool::add_onnx_tests(app, globals);
  tool::add_stress(app, globals);
  tool::add_trace(app, globals);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw no_subcommand(app);
    std::cout.flush();
    return std::cout ? tool::success
                     : tool::report("standard output: cannot write", tool::users_mistake);
  } catch (const tool::AlreadyTold& told) {
    return told.code;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (is_unknown && app.get_subcommands().empty())
      return tool::report(no_subcommand(app).what(), tool::users_mistake);
    return tool::report(std::string(error.what()) + " (see --help)", tool::users_mistake);
  } catch (...) {
    return tool::report_exception();
  }
}
