// Errors as a recording has them.
#pragma once

#include <string_view>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// The chain of an error's lines (observe/recording/message_description.hpp); empty for no text.
ErrorChain errors_in(std::string_view lines);

}  // namespace polychron::trace
