// Reads whole files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ocr {

/// All bytes of a regular file. `what` names its kind: "picture". Throws polychron::Error
/// (bad_data) that names the file: missing, a directory, a pipe or a device, more than `max_bytes`,
/// unreadable.
std::vector<char> read_file(const std::filesystem::path& path, const std::string& what,
                            std::size_t max_bytes);

}  // namespace ocr
