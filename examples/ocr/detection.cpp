#include "examples/ocr/detection.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "examples/ocr/planes.hpp"
#include "examples/ocr/reading_order.hpp"

namespace ocr {
namespace {

constexpr int small_page = 736;
constexpr int side_multiple = 32;
constexpr float max_strip = 8192;
constexpr std::size_t max_regions = 1000;
/// In pixels of the map: thinner regions are noise, before and after growing.
constexpr float min_side = 3;
constexpr float min_grown_side = 5;

int round_side(float side) {
  const int multiples = std::max(1, cvRound(side / side_multiple));
  return multiples * side_multiple;
}

/// Corners clockwise from the top left, which is where text that runs to the right starts.
Corners corners_of(const cv::RotatedRect& rect) {
  Corners corners;
  rect.points(corners.data());
  std::sort(corners.begin(), corners.end(), [](auto a, auto b) { return a.x < b.x; });
  if (corners[0].y > corners[1].y) std::swap(corners[0], corners[1]);
  if (corners[2].y > corners[3].y) std::swap(corners[2], corners[3]);
  return {corners[0], corners[2], corners[3], corners[1]};
}

/// Mean of `map` inside the outline of a region: not inside its rectangle, of which a line on a
/// bent page fills only a part (PP-OCR has both, as "slow" and "fast" score).
float mean_inside(const cv::Mat& map, const std::vector<cv::Point>& outline) {
  const auto bounds = cv::boundingRect(outline);
  cv::Mat mask = cv::Mat::zeros(bounds.size(), CV_8UC1);
  cv::fillPoly(mask, std::vector{outline}, cv::Scalar(1), cv::LINE_8, 0, -bounds.tl());
  return static_cast<float>(cv::mean(map(bounds), mask)[0]);
}

/// The detector is trained on shrunken lines; this grows them back. Offsetting a polygon by a
/// distance and taking the smallest rectangle around it, as PP-OCR does, is this for rectangles.
cv::RotatedRect grown(cv::RotatedRect rect, float ratio) {
  const auto& [width, height] = rect.size;
  const float distance = width * height * ratio / (2 * (width + height));
  rect.size += cv::Size2f(2 * distance, 2 * distance);
  return rect;
}

}  // namespace

cv::Mat enlarge_small_page(const cv::Mat& picture) {
  if (std::max(picture.cols, picture.rows) >= small_page) return picture;
  cv::Mat enlarged;
  cv::resize(picture, enlarged, {}, 2, 2, cv::INTER_LANCZOS4);
  return enlarged;
}

cv::Size detector_size(cv::Size picture, const DetectionOptions& options) {
  const auto side = static_cast<float>(options.largest_side);
  const auto largest = static_cast<float>(std::max(picture.width, picture.height));
  const auto smallest = static_cast<float>(std::min(picture.width, picture.height));
  // A strip with a long line: shrunk to the largest side nothing of it would be left.
  const float strip = std::min(max_strip / largest, side / 2 / std::sqrt(largest * smallest));
  const float scale = std::min(1.0f, std::max(side / largest, strip));
  return {round_side(static_cast<float>(picture.width) * scale),
          round_side(static_cast<float>(picture.height) * scale)};
}

void fill_detector_input(const cv::Mat& picture, cv::Size size, std::span<float> input) {
  // ImageNet's means and deviations, of red, green and blue; PP-OCR applies them to blue, green
  // and red, so that is what the model has learned.
  static const cv::Scalar mean(0.485, 0.456, 0.406), deviation(0.229, 0.224, 0.225);
  cv::Mat resized;
  cv::resize(picture, resized, size, 0, 0, cv::INTER_LINEAR);
  fill_planes(resized, mean, deviation, size, input);
}

std::vector<Corners> find_lines(std::span<const float> probabilities, cv::Size size,
                                cv::Size picture, const DetectionOptions& options) {
  const cv::Mat map(size, CV_32FC1, const_cast<float*>(probabilities.data()));
  const cv::Mat mask = map > options.pixel_threshold;
  std::vector<std::vector<cv::Point>> regions;
  cv::findContours(mask, regions, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  if (regions.size() > max_regions) regions.resize(max_regions);

  const cv::Point2f scale(static_cast<float>(picture.width) / static_cast<float>(size.width),
                          static_cast<float>(picture.height) / static_cast<float>(size.height));
  std::vector<Corners> lines;
  for (const auto& region : regions) {
    const auto core = cv::minAreaRect(region);
    if (std::min(core.size.width, core.size.height) < min_side) continue;
    if (mean_inside(map, region) < options.line_threshold) continue;
    const auto line = grown(core, options.unclip_ratio);
    if (std::min(line.size.width, line.size.height) < min_grown_side) continue;
    auto corners = corners_of(line);
    for (auto& corner : corners) {
      corner.x *= scale.x;
      corner.y *= scale.y;
    }
    lines.push_back(corners);
  }
  return in_reading_order(lines);
}

}  // namespace ocr
