// How failures are told: a line on standard error, and an exit code.
#pragma once

#include <string>

#include "tools/program.hpp"

namespace tool {

/// Messages begin with this name. Before the first of them; "polychron" unless it is set.
void name_program(const std::string& name);

/// Something that went on all the same. One line, whatever `message` is.
void warn(std::string message);

/// A failure; the code is given back.
ExitCode report(std::string message, ExitCode code);

/// The exception that is being handled, and the code that it stands for. `about` comes before its
/// message: "picture 'page.png': ", or nothing if the message says that itself.
ExitCode report_exception(const std::string& about = {});

/// The message alone of the exception that is being handled.
std::string message_of_exception();

}  // namespace tool
