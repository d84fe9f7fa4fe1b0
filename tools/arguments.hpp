// What options take, checked when the command line is read: CLI11's own checks let "nan" and ""
// through, and numbers that do not fit become others.
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

/// Anything but nothing. `what` was expected: "a file".
CLI::Validator not_empty(const std::string& what);

/// Of `app` and its subcommands: CLI11 would ignore that of --version=3, and --json=false is off.
void refuse_values_of_flags(CLI::App& app);

/// "a, b or c"
std::string either(const std::vector<std::string>& words);

/// What is wrong with the command line `app` was given, in one wording whatever version CLI11 is:
/// which option, what was given and what is expected.
std::string words_of(const CLI::ParseError& error, const CLI::App& app);

/// The subcommand that is missing from what `app` has parsed, told; nothing if none is.
std::string missing_subcommand(const CLI::App& app);

}  // namespace tool
