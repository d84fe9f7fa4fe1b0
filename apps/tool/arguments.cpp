#include "apps/tool/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <string_view>

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

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const auto range = std::to_string(low) + " to " + std::to_string(high);
  const auto check = [low, high, range](const std::string& text) {
    std::uint64_t value = 0;
    // Compares with the text as written: CLI11 reads 010 as an octal number.
    if (parse(text, value) && value >= low && value <= high && text == std::to_string(value))
      return std::string();
    return "expected a whole number, " + range + ", not '" + text + "'";
  };
  return {check, high == std::numeric_limits<std::uint64_t>::max() ? "" : range};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    return "expected " + either(words) + ", not '" + text + "'";
  };
  return {check, either(words)};
}

CLI::Validator not_empty(const std::string& what) {
  const auto check = [what](const std::string& text) {
    return text.empty() ? "expected " + what + ", not an empty name" : std::string();
  };
  return {check, ""};
}

std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_values_of_flags(*command);
}

std::string missing_subcommand(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (commands.empty()) return "";
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return missing_subcommand(*chosen.front());
  std::vector<std::string> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  const auto of = app.get_parent() == nullptr ? "" : " of " + app.get_name();
  const auto* root = &app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  const auto words = root->remaining(true);
  return (words.empty() ? "" : "'" + words.front() + "': ") + "expected a subcommand" + of + ": " +
         either(names) + " (see --help)";
}

std::string words_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string told = error.what(), help = " (see --help)";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto missing = missing_subcommand(app);
    if (!missing.empty()) return missing;
    const auto words = app.remaining(true);
    if (!words.empty()) return "'" + words.front() + "': expected no such argument" + help;
  }
  if (const auto end = told.find(" was given a disallowed flag override"); end != told.npos)
    return "--" + told.substr(0, end) + ": expected no value" + help;
  const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
  const auto colon = told.find(": ");
  if (mismatch == nullptr || colon == std::string::npos) return told + help;
  const auto option = told.substr(0, colon);
  constexpr std::string_view received = "but received ";
  if (const auto count = told.find(received); count != std::string::npos)
    return option + " is given " + told.substr(count + received.size()) + " times, expected once" +
           help;
  return option + ": expected a value" + help;
}

}  // namespace tool
