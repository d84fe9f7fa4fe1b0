// "-" in the place of a file that is read.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tool {

inline constexpr std::string_view standard_stream = "-";
inline constexpr const char* standard_input_name = "standard input";  ///< in messages

/// All of it, once in the life of the program; a first piece if that does not begin with `magic`.
/// Throws UserError when it is asked for again, cannot be read, or has more than `limit` bytes.
std::vector<std::byte> read_standard_input(std::size_t limit, std::string_view magic = {});

}  // namespace tool
