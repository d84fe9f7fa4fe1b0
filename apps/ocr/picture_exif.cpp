// The orientation of the camera, which is all that is read from EXIF data.
#include <cstring>
#include <optional>

#include "apps/ocr/picture_formats.hpp"

namespace ocr {
namespace {

/// Numbers in EXIF data. The data begin with the order of their bytes. Beyond the end there is no
/// number.
struct Numbers {
  Bytes data;
  bool big_endian;

  std::optional<std::uint32_t> at(std::size_t offset, std::size_t size) const {
    if (offset > data.size() || size > data.size() - offset) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 |
              std::to_integer<std::uint32_t>(data[offset + (big_endian ? i : size - 1 - i)]);
    return value;
  }
};

}  // namespace

int exif_orientation(Bytes exif) {
  constexpr std::uint32_t orientation_tag = 0x112, entry_size = 12;
  if (exif.size() < 8) return 1;
  const Numbers numbers{exif, exif[0] == std::byte{'M'}};
  const auto directory = numbers.at(4, 4).value_or(0);
  const auto entries = numbers.at(directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto entry = std::size_t{directory} + 2 + std::size_t{i} * entry_size;
    if (numbers.at(entry, 2) != orientation_tag) continue;
    const auto value = numbers.at(entry + 8, 2).value_or(1);  // a short, at the field's beginning
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace ocr
