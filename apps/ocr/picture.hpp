// Reads pictures from files, and draws the found lines on them.
//
// Functions here are thread-safe and print nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "apps/ocr/page.hpp"

namespace ocr {

inline constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

struct Picture {
  cv::Mat pixels;      ///< 8-bit blue, green, red
  std::string damage;  ///< the reason why only a part was read; empty for whole pictures
};

/// Reads PNG, JPEG, WebP, TIFF, BMP and PNM of any depth and colours. Turns the picture upright as
/// its EXIF data say, and draws transparent parts on white. Throws polychron::Error (bad_data):
/// missing, no regular file, no picture or nothing left of it, more than 2^28 pixels.
Picture read_picture(const std::filesystem::path& path);

/// The same from memory; `name` is for messages. A server takes fewer pixels than a program.
Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                       std::uint64_t max_pixels = most_pixels);

/// The picture with the outlines of `lines` drawn on it, as the bytes of a PNG file.
std::vector<unsigned char> draw_lines(const cv::Mat& picture, const std::vector<Line>& lines);

}  // namespace ocr
