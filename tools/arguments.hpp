// What options take, checked when the command line is read: CLI11's own checks let "nan" and ""
// through, and numbers that do not fit become others.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace tool {

/// A number from `low` to `high`, both finite.
CLI::Validator between(double low, double high);

/// A whole number from `low`, in decimal digits, that fits 64 bits.
CLI::Validator whole_number(std::uint64_t low = 0);

/// Anything but nothing. `what` was expected: "a file".
CLI::Validator not_empty(const std::string& what);

}  // namespace tool
