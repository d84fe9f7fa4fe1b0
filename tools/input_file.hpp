// Files that are read, and "-" in the place of one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

inline constexpr std::string_view standard_stream = "-";
inline constexpr const char* standard_input_name = "standard input";  ///< in messages

/// What messages call a file: its path, or standard input.
std::string name_of_input(const std::string& path);

/// All of a regular file. `what` it is: "recording". Throws UserError: "recording 'a': why", if
/// there is none, it is no regular file, cannot be read, or has more than `limit` bytes.
std::vector<std::byte> read_file(const std::string& path, const std::string& what,
                                 std::size_t limit);

/// All of it, once in the life of the program; a first piece if that does not begin with `magic`.
/// Throws UserError when it is asked for again, cannot be read, or has more than `limit` bytes.
std::vector<std::byte> read_standard_input(std::size_t limit, std::string_view magic = {});

}  // namespace tool
