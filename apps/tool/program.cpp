#include "apps/tool/program.hpp"

#include <iostream>

#include "apps/tool/arguments.hpp"
#include "apps/tool/platform.hpp"
#include "apps/tool/report.hpp"
#include "apps/tool/version.hpp"

namespace tool {
namespace {

/// Writing the last buffered output may fail, here at the latest.
ExitCode after_flushing(ExitCode code) {
  std::cout.flush();
  if (std::cout) return code;
  const auto failure = report("standard output: cannot write", users_mistake);
  return code == success ? failure : code;
}

}  // namespace

int run_program(CLI::App& app, Globals& globals, int argc, char** argv) {
  name_program(app.get_name());
  take_precautions();
  app.set_version_flag("--version", app.get_name() + ' ' + version(), "Print the version and exit");
  app.add_flag("--progress", globals.progress,
               "Show progress even if standard error is not a terminal");
  refuse_values_of_flags(app);
  try {
    app.parse(argc, argv);
    if (const auto missing = missing_subcommand(app); !missing.empty())
      return report(missing, users_mistake);
    return after_flushing(success);
  } catch (const AlreadyTold& told) {
    return after_flushing(told.code);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return after_flushing(success);
  } catch (const CLI::ParseError& error) {
    return report(words_of(error, app), users_mistake);
  } catch (...) {
    return report_exception();
  }
}

}  // namespace tool
