#include "tools/arguments.hpp"

#include <charconv>
#include <sstream>
#include <string>

namespace tool {
namespace {

template <class T>
bool parse(const std::string& text, T& value) {
  const auto* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next == end;
}

}  // namespace

CLI::Validator between(double low, double high) {
  std::ostringstream range;
  range << low << " to " << high;
  const auto check = [low, high, expected = range.str()](const std::string& text) {
    double value = 0;
    if (parse(text, value) && value >= low && value <= high) return std::string();
    return "expected a number, " + expected + ", not '" + text + "'";
  };
  return {check, range.str()};
}

CLI::Validator whole_number(std::uint64_t low) {
  const auto range =
      std::to_string(low) + " to " + std::to_string(std::numeric_limits<std::uint64_t>::max());
  const auto check = [low, range](const std::string& text) {
    std::uint64_t value = 0;
    if (parse(text, value) && value >= low) return std::string();
    return "expected a whole number, " + range + ", not '" + text + "'";
  };
  return {check, ""};
}

CLI::Validator not_empty(const std::string& what) {
  const auto check = [what](const std::string& text) {
    return text.empty() ? "expected " + what + ", not an empty name" : std::string();
  };
  return {check, ""};
}

}  // namespace tool
