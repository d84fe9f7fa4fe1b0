// The formats of picture files: a source file for each, on the format's own library or by hand.
// OpenCV would read them all, but its module for that loads more than a hundred libraries.
//
// Decoders take a file's bytes and print nothing. They throw polychron::Error (bad_data) when the
// picture has too many pixels, or is of a kind that is not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

namespace ocr {

using Bytes = std::span<const std::byte>;

/// A picture's file, and the most pixels that it may have.
struct File : Bytes {
  File(Bytes bytes, std::uint64_t most) : Bytes(bytes), max_pixels(most) {}
  std::uint64_t max_pixels;
};

struct Decoded {
  cv::Mat pixels;       ///< blue, green, red, and alpha if there are four; empty: not even a header
  std::string damage;   ///< an error on the way; the pixels after it are missing
  int orientation = 1;  ///< as in EXIF, 1 to 8
};

Decoded decode_png(const File& file);
Decoded decode_jpeg(const File& file);
Decoded decode_webp(const File& file);
Decoded decode_tiff(const File& file);
Decoded decode_bmp(const File& file);
Decoded decode_pnm(const File& file);

/// `picture` is 8-bit blue, green, red.
std::vector<unsigned char> encode_png(const cv::Mat& picture);

/// An empty picture: white, or transparent if there is alpha (`type` CV_8UC3 or CV_8UC4).
cv::Mat blank_picture(std::uint64_t width, std::uint64_t height, int type,
                      std::uint64_t max_pixels);

/// The orientation in EXIF data (a TIFF header and what follows); 1 if they have none.
int exif_orientation(Bytes exif);

}  // namespace ocr
