// Pictures: reading them from files, and drawing on them what was found.
//
// A picture is a cv::Mat of 8-bit blue, green, red. Functions here are thread-safe. The decoders
// that OpenCV uses (libpng, libjpeg) print what they think of damaged files to standard error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "examples/ocr/page.hpp"

namespace ocr {

/// Reads any format that OpenCV knows; turns it upright as its EXIF data say; lays transparent
/// pictures on white. Throws polychron::Error (bad_data): missing, no regular file, no picture,
/// more than 2^28 pixels.
cv::Mat read_picture(const std::filesystem::path& path);

/// Likewise from memory; `name` is for messages.
cv::Mat decode_picture(std::span<const std::byte> bytes, const std::string& name);

/// The picture with the outlines of `lines` drawn on it, as the bytes of a PNG file.
std::vector<unsigned char> draw_lines(const cv::Mat& picture, const std::vector<Line>& lines);

}  // namespace ocr
