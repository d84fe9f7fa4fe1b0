// Makes text safe to show. Names, messages and paths come from files and users, and may contain
// control sequences that a terminal obeys. The tool prints all such text through these functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tool {

/// `text` in one line without control sequences. Control characters, line breaks, bidirectional
/// marks and invalid UTF-8 are escaped, for example as "\x1b".
std::string printable(std::string_view text);

/// `value` as indented JSON, also safe for a terminal. JSON is UTF-8: invalid bytes become U+FFFD.
std::string to_text(const nlohmann::json& value);

}  // namespace tool
