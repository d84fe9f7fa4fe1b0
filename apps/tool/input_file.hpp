// Input files, and "-" for standard input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

inline constexpr std::string_view standard_stream = "-";
inline constexpr const char* standard_input_name = "standard input";  ///< in messages

/// The name of an input in messages: its path, or standard input.
std::string name_of_input(const std::string& path);

/// Reads a whole regular file. `what` is its kind: "recording". Throws UserError, "recording 'a':
/// reason", if it is missing, not a regular file, unreadable, or larger than `limit` bytes.
std::vector<std::byte> read_file(const std::string& path, const std::string& what,
                                 std::size_t limit);

/// Reads all of standard input, once in the life of the program; only a first piece if that does
/// not begin with `magic`. Throws UserError if called again, if it is unreadable, or larger than
/// `limit` bytes.
std::vector<std::byte> read_standard_input(std::size_t limit, std::string_view magic = {});

}  // namespace tool
