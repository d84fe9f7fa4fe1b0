// Values of JSON files from strangers: what is not there, or of another type, is nothing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace polychron::text::detail {

using Json = nlohmann::json;

/// The text of file `name`. Throws Error: bad_data (no JSON), not_supported (deeper than 32).
Json parse_json(std::string_view text, const char* name);

/// A member; null where it is absent or null, or `value` is null or no object.
const Json* member(const Json* value, const char* name);
/// Empty if it is no string.
std::string string_of(const Json* value);
/// False if it is no true.
bool is_true(const Json* value);
std::optional<std::int64_t> integer_of(const Json* value);

}  // namespace polychron::text::detail
