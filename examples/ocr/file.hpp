// Files that are read whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ocr {

/// All of a regular file. `what` it is: "picture". Throws polychron::Error (bad_data) that names
/// it: missing, a directory, a pipe or a device, more than `max_bytes`, unreadable.
std::vector<char> read_file(const std::filesystem::path& path, const std::string& what,
                            std::size_t max_bytes);

}  // namespace ocr
