// Makes picture files of kinds that the tool itself never writes.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace test_tool {

using FileBytes = std::vector<unsigned char>;

/// A PNG file of libpng's colour type and depth, 8 by 2 pixels: the left half black, the right half
/// the type's brightest colour or, if it has transparency, nothing at all.
FileBytes half_black_png(int colour_type, int depth, bool interlaced = false);

struct JpegOptions {
  bool progressive = false;
  int orientation = 0;  ///< in EXIF data; 0: there are none
};

/// `picture` is grey (CV_8UC1), blue, green, red (CV_8UC3), or inks as Adobe has them (CV_8UC4).
FileBytes jpeg(const cv::Mat& picture, const JpegOptions& options = {});

/// `picture` is blue, green, red, and alpha if there are four channels.
FileBytes webp(const cv::Mat& picture);

/// 8-bit grey, uncompressed or by LZW, with a TIFF orientation.
FileBytes tiff(const cv::Mat& picture, bool compressed, int orientation = 1);

void write_file(const std::string& path, const FileBytes& bytes);

/// A PNG file of a grey (CV_8UC1) or colour (CV_8UC3) picture.
void write_png(const std::string& path, const cv::Mat& picture);

}  // namespace test_tool
