// The description of a message, taken from the message itself.
#pragma once

#include <string>

#include "messages/observer.hpp"
#include "observe/recording/records.hpp"

namespace polychron::recording {

/// An error with its causes, one line each, from the error to the root. A line has ticket, kind,
/// operation, label, object, "ran" or "not run", and message, with tabs between them.
std::string lines_of(const Error& error);

/// `error_text` owns the text that `about` refers to. Labels refer to the message.
struct Description {
  About about;
  Footprint footprint;
  std::string error_text;
};
void describe(const msg::MessageView& message, Description& description);

}  // namespace polychron::recording
