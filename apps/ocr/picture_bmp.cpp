// BMP, of Windows and of OS/2: palettes, 16 to 32 bits with or without masks. It does not read the
// compressed kinds, which are rare and hardly smaller.
#include <bit>
#include <cstdlib>

#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

using polychron::Error;
using polychron::ErrorKind;

constexpr std::size_t file_header = 14, windows_header = 40;

std::uint32_t little_endian(Bytes bytes, std::size_t offset, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- != 0;)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[offset + i]);
  return value;
}

/// The layout in the headers. The file was checked to be long enough for it.
struct Layout {
  std::uint64_t width, height;
  bool from_top = false;
  std::uint32_t bits, first_pixel;
  cv::Vec<std::uint32_t, 4> masks;  ///< blue, green, red, alpha; of pixels with 16 and 32 bits
  std::vector<cv::Vec3b> palette;
};

void read_palette(Bytes file, std::size_t offset, std::size_t entry_size, Layout& layout) {
  const auto colours = std::size_t{1} << layout.bits;
  for (; layout.palette.size() < colours && offset + entry_size <= file.size();
       offset += entry_size) {
    if (offset + entry_size > layout.first_pixel) break;
    const auto entry = little_endian(file, offset, 3);
    layout.palette.emplace_back(entry & 0xff, entry >> 8 & 0xff, entry >> 16);
  }
  layout.palette.resize(colours, cv::Vec3b::all(0));
}

void read_masks(Bytes file, std::size_t header, Layout& layout) {
  const std::size_t at = file_header + windows_header;  // in the header, or right behind it
  if (file.size() < at + 16) return;
  for (int c = 0; c < 3; ++c)  // red comes first
    layout.masks[2 - c] = little_endian(file, at + static_cast<std::size_t>(c) * 4, 4);
  if (header > windows_header + 12) layout.masks[3] = little_endian(file, at + 12, 4);
}

Layout read_windows_header(Bytes file, std::size_t header) {
  constexpr std::uint32_t plain = 0, with_masks = 3;
  const auto height = static_cast<std::int32_t>(little_endian(file, 22, 4));
  Layout layout{little_endian(file, 18, 4),
                static_cast<std::uint64_t>(std::abs(std::int64_t{height})),
                height < 0,
                little_endian(file, 28, 2),
                little_endian(file, 10, 4),
                {},
                {}};
  const auto compression = little_endian(file, 30, 4);
  if (compression != plain && compression != with_masks)
    throw Error(ErrorKind::bad_data, "it is a compressed BMP file, which is not read");
  layout.masks = layout.bits == 16 ? cv::Vec<std::uint32_t, 4>(0x1f, 0x1f << 5, 0x1f << 10, 0)
                                   : cv::Vec<std::uint32_t, 4>(0xff, 0xff << 8, 0xff << 16, 0);
  if (compression == with_masks) read_masks(file, header, layout);
  if (layout.bits <= 8) read_palette(file, file_header + header, 4, layout);
  return layout;
}

Layout read_os2_header(Bytes file, std::size_t header) {
  Layout layout{little_endian(file, 18, 2),
                little_endian(file, 20, 2),
                false,
                little_endian(file, 24, 2),
                little_endian(file, 10, 4),
                {},
                {}};
  if (layout.bits <= 8) read_palette(file, file_header + header, 3, layout);
  return layout;
}

/// The bits of `mask`, scaled to a value up to 255. Without a mask: `otherwise`.
unsigned char masked(std::uint32_t pixel, std::uint32_t mask, unsigned char otherwise) {
  if (mask == 0) return otherwise;
  const std::uint64_t largest = mask >> std::countr_zero(mask);
  const std::uint64_t value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<unsigned char>((value * 255 + largest / 2) / largest);
}

void read_row(Bytes row, const Layout& layout, cv::Mat pixels) {
  for (int x = 0; x < pixels.cols; ++x) {
    auto& pixel = pixels.at<cv::Vec4b>(x);
    const auto bit = static_cast<std::size_t>(x) * layout.bits;
    if (layout.bits <= 8) {
      const auto byte = std::to_integer<std::uint32_t>(row[bit / 8]);
      const auto index = byte >> (8 - layout.bits - bit % 8) & ((1u << layout.bits) - 1);
      const auto& colour = layout.palette[index];
      pixel = cv::Vec4b(colour[0], colour[1], colour[2], 255);
    } else if (layout.bits == 24) {
      const auto value = little_endian(row, bit / 8, 3);
      pixel = cv::Vec4b(value & 0xff, value >> 8 & 0xff, value >> 16 & 0xff, 255);
    } else {
      const auto value = little_endian(row, bit / 8, layout.bits / 8);
      for (int c = 0; c < 4; ++c)
        pixel[c] = masked(value, layout.masks[c], static_cast<unsigned char>(c == 3 ? 255 : 0));
    }
  }
}

}  // namespace

Decoded decode_bmp(const File& file) {
  constexpr std::size_t os2_header = 12;
  if (file.size() < file_header + os2_header) return {};
  const std::size_t header = little_endian(file, file_header, 4);
  if (header != os2_header && (header < windows_header || file.size() < file_header + header))
    return {};
  const auto layout =
      header == os2_header ? read_os2_header(file, header) : read_windows_header(file, header);
  const auto bits = layout.bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32) return {};

  Decoded decoded;
  decoded.pixels = blank_picture(layout.width, layout.height, CV_8UC4, file.max_pixels);
  const std::size_t used = (layout.width * bits + 7) / 8;
  const std::size_t stride = (layout.width * bits + 31) / 32 * 4;
  for (std::size_t i = 0; i < layout.height; ++i) {
    const auto offset = layout.first_pixel + i * stride;
    if (offset + used > file.size()) {
      decoded.damage = "its end is missing";
      break;
    }
    const auto y = static_cast<int>(layout.from_top ? i : layout.height - 1 - i);
    read_row(file.subspan(offset, used), layout, decoded.pixels.row(y));
  }
  return decoded;
}

}  // namespace ocr
