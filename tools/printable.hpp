// Text as it may be shown: names, messages and paths come from files and from users, and a terminal
// obeys some of what can stand in them. Whatever the tool prints of such things goes through here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tool {

/// `text` in one line that a terminal shows and does not obey: control characters, line breaks,
/// marks that turn the direction of writing, and bytes that are no UTF-8 become "\x1b".
std::string printable(std::string_view text);

/// `value` as indented JSON, likewise fit for a terminal. JSON is UTF-8: bytes that are not become
/// U+FFFD.
std::string to_text(const nlohmann::json& value);

}  // namespace tool
