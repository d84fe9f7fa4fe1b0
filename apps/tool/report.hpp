// Reports failures: one line on standard error, and an exit code.
#pragma once

#include <string>

#include "apps/tool/program.hpp"

namespace tool {

/// Messages begin with this name. Before the first of them; "polychron" unless it is set.
void name_program(const std::string& name);

/// Reports a problem after which the work went on. Always prints one line.
void warn(std::string message);

/// Reports a failure and returns `code`.
ExitCode report(std::string message, ExitCode code);

/// Reports the current exception and returns its exit code. `about` precedes the message: "picture
/// 'page.png': "; leave it empty if the message names the object itself.
ExitCode report_exception(const std::string& about = {});

/// The message of the current exception.
std::string message_of_exception();

}  // namespace tool
