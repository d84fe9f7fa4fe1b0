#include "apps/text/json.hpp"

#include <limits>

#include "apps/text/problem.hpp"

namespace polychron::text::detail {

Json parse_json(std::string_view text, const char* name) {
  constexpr int deepest = 32;
  const auto check_depth = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > deepest) unsupported(std::string(name) + " has values within each other so deep");
    return true;
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const Json::exception& error) {
    malformed(std::string(name) + " is no JSON: " + quote(error.what()));
  }
}

const Json* member(const Json* value, const char* name) {
  if (value == nullptr || !value->is_object()) return nullptr;
  const auto found = value->find(name);
  return found == value->end() || found->is_null() ? nullptr : &*found;
}

std::string string_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_true(const Json* value) {
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::optional<std::int64_t> integer_of(const Json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{most}) return most;
  return value->get<std::int64_t>();
}

}  // namespace polychron::text::detail
