// What is read from a page.
#pragma once

#include <array>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace ocr {

/// Corners of a line of text in pixels of the picture: clockwise from the one where reading starts.
using Corners = std::array<cv::Point2f, 4>;

struct Line {
  std::string text;      ///< UTF-8
  float confidence = 0;  ///< mean probability of its characters, 0 to 1
  Corners corners;
};

/// Lines from top to bottom, and from left to right where they stand side by side.
struct Page {
  cv::Size size;
  std::vector<Line> lines;
};

}  // namespace ocr
