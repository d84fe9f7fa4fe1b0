// Errors of this folder: a file from a stranger is wrong, or valid but not known here.
#pragma once

#include <string>
#include <string_view>

namespace polychron::text::detail {

/// The file contradicts itself or its format (bad_data).
[[noreturn]] void malformed(const std::string& why);

/// The file may be valid, but is not known here (not_supported).
[[noreturn]] void unsupported(const std::string& why);

/// `name` in quotation marks, safe for a one-line message: other bytes than printable ASCII are
/// escaped, and long names are cut.
std::string quote(std::string_view name);

}  // namespace polychron::text::detail
