// The command-line tool: parses, runs a subcommand, and turns failures into a line and an exit
// code.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "polychron/error.hpp"
#include "tools/command.hpp"
#include "tools/printable.hpp"
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

int report(std::string message, tool::ExitCode code) {
  constexpr std::size_t longest = 800, kept = 300;
  std::replace(message.begin(), message.end(), '\n', ' ');
  // It is the end that tells what is wrong with a very long name.
  if (message.size() > longest) message.replace(kept, message.size() - 2 * kept, " [...] ");
  std::cerr << "polychron: " << tool::printable(message) << '\n';
  return code;
}

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

tool::ExitCode exit_code(polychron::ErrorKind kind) {
  switch (kind) {
    case polychron::ErrorKind::type_error:
    case polychron::ErrorKind::not_supported:
    case polychron::ErrorKind::bad_data:
      return tool::users_mistake;
    default:
      return tool::internal_failure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Polychron: the W3C WebNN API as a native runtime. Runs models, and reads pages.",
               "polychron");
  tool::Globals globals{false, argv};
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
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw no_subcommand(app);
    std::cout.flush();
    return std::cout ? tool::success : report("standard output: cannot write", tool::users_mistake);
  } catch (const tool::CasesFailed&) {
    return tool::internal_failure;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (is_unknown && app.get_subcommands().empty())
      return report(no_subcommand(app).what(), tool::users_mistake);
    return report(std::string(error.what()) + " (see --help)", tool::users_mistake);
  } catch (const tool::UserError& error) {
    return report(error.what(), tool::users_mistake);
  } catch (const polychron::Error& error) {
    return report(error.what(), exit_code(error.root().kind()));
  } catch (const std::filesystem::filesystem_error& error) {
    return report("'" + error.path1().string() + "': " + error.code().message(),
                  tool::users_mistake);
  } catch (const std::bad_alloc&) {
    return report("out of memory", tool::internal_failure);
  } catch (const std::exception& error) {
    return report(std::string("internal error: ") + error.what(), tool::internal_failure);
  }
}
