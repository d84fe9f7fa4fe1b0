// The text of a page.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace ocr {

/// Corners of a line of text in pixels of the picture: clockwise from the one where reading starts.
using Corners = std::array<cv::Point2f, 4>;

/// The distance between two points, in pixels.
inline float distance(cv::Point2f a, cv::Point2f b) { return std::hypot(a.x - b.x, a.y - b.y); }

struct Line {
  std::string text;      ///< UTF-8
  float confidence = 0;  ///< mean probability of its characters, 0 to 1
  Corners corners;
};

/// Lines in the order in which they are read (see reading_order.hpp).
struct Page {
  cv::Size size;
  std::vector<Line> lines;
  std::size_t unreadable = 0;  ///< lines that were found, but read with too little certainty
  int rotation = 0;            ///< the turn of the picture before it was read: degrees, clockwise
};

}  // namespace ocr
