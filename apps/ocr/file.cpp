#include "apps/ocr/file.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

#include "polychron/error.hpp"

namespace ocr {

std::vector<char> read_file(const std::filesystem::path& path, const std::string& what,
                            std::size_t max_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw polychron::Error(polychron::ErrorKind::bad_data, why)
        .with_object(what + " '" + path.string() + "'");
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::status_known(status)) refuse(error.message());
  if (!std::filesystem::exists(status)) refuse("there is no such file");
  if (std::filesystem::is_directory(status)) refuse("it is a directory");
  // Before it is opened: opening a pipe waits for its other end, and devices have no end.
  if (!std::filesystem::is_regular_file(status)) refuse("it is not a regular file");
  if (std::filesystem::file_size(path, error) > max_bytes && !error)
    refuse("it is larger than " + std::to_string(max_bytes >> 20) + " MiB");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("it cannot be opened for reading");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ocr
