// Validators for options. CLI11's own checks accept "nan" and "", and wrap numbers that do not fit.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tool {

/// A number from `low` to `high`, both finite.
CLI::Validator between(double low, double high);

/// A whole number from `low` to `high`, in decimal digits.
CLI::Validator whole_number(std::uint64_t low = 0,
                            std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

/// One of several words.
CLI::Validator one_of(const std::vector<std::string>& words);

/// Any text that is not empty. `what` names the expected thing: "a file".
CLI::Validator not_empty(const std::string& what);

/// Refuses values of flags in `app` and its subcommands. CLI11 would ignore the value in
/// --version=3, and would take --json=false as off.
void refuse_values_of_flags(CLI::App& app);

/// "a, b or c"
std::string either(const std::vector<std::string>& words);

/// The message for a wrong command line: the option, the given value and the expected one. The
/// wording does not depend on CLI11's version.
std::string words_of(const CLI::ParseError& error, const CLI::App& app);

/// The message for a missing subcommand; empty if none is missing.
std::string missing_subcommand(const CLI::App& app);

}  // namespace tool
