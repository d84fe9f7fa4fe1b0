#include "apps/ocr/detection.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "apps/ocr/planes.hpp"
#include "apps/ocr/reading_order.hpp"

namespace ocr {
namespace {

constexpr int small_page = 736;
constexpr int side_multiple = 32;
constexpr float max_strip = 8192;
/// Heights of grown lines, in pixels of the map.
constexpr float large_type = 56, good_type = 45;
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

/// Mean of `map` inside the outline of a region. A line on a bent page fills only a part of its
/// rectangle (PP-OCR has both scores, as "slow" and "fast").
float mean_inside(const cv::Mat& map, const std::vector<cv::Point>& outline) {
  const auto bounds = cv::boundingRect(outline);
  cv::Mat mask = cv::Mat::zeros(bounds.size(), CV_8UC1);
  cv::fillPoly(mask, std::vector{outline}, cv::Scalar(1), cv::LINE_8, 0, -bounds.tl());
  return static_cast<float>(cv::mean(map(bounds), mask)[0]);
}

/// The detector is trained on shrunken lines, and this grows them back. PP-OCR offsets a polygon by
/// a distance and takes the smallest rectangle around it. For rectangles this is the same.
cv::RotatedRect grown(cv::RotatedRect rect, float ratio) {
  const auto& [width, height] = rect.size;
  const float distance = width * height * ratio / (2 * (width + height));
  rect.size += cv::Size2f(2 * distance, 2 * distance);
  return rect;
}

/// The reach of several points along a direction.
struct Extent {
  float low, high;

  float size() const { return high - low; }
  float middle() const { return (low + high) / 2; }
};

Extent extent(const Corners& corners, cv::Point2f direction) {
  Extent result{corners[0].dot(direction), corners[0].dot(direction)};
  for (const auto& corner : corners) {
    result.low = std::min(result.low, corner.dot(direction));
    result.high = std::max(result.high, corner.dot(direction));
  }
  return result;
}

float length(cv::Point2f vector) { return std::hypot(vector.x, vector.y); }

/// The line that two lines make: `longer`, and a line that follows or precedes it without a gap.
/// Nothing if they are not parts of one.
std::optional<Corners> joined(const Corners& longer, const Corners& shorter) {
  const auto side = longer[1] - longer[0];
  const cv::Point2f along = side / length(side), down(-along.y, along.x);
  const auto a = extent(longer, along), b = extent(shorter, along);
  const auto a_down = extent(longer, down), b_down = extent(shorter, down);
  const float height = std::min(a_down.size(), b_down.size());
  if (std::max(a_down.size(), b_down.size()) > 1.6f * height) return std::nullopt;
  if (a.size() < a_down.size() || 1.5f * b.size() < b_down.size()) return std::nullopt;
  if (std::abs(a_down.middle() - b_down.middle()) > height / 4) return std::nullopt;
  if (std::max(a.low, b.low) > std::min(a.high, b.high)) return std::nullopt;
  const Extent whole{std::min(a.low, b.low), std::max(a.high, b.high)};
  const Extent whole_down{std::min(a_down.low, b_down.low), std::max(a_down.high, b_down.high)};
  return Corners{
      along * whole.low + down * whole_down.low, along * whole.high + down * whole_down.low,
      along * whole.high + down * whole_down.high, along * whole.low + down * whole_down.high};
}

/// Large type comes apart into words and letters, whose boxes overlap when they are grown. Text in
/// two of them would be read twice.
void join_overlapping(std::vector<Corners>& lines) {
  const auto is_longer = [](const Corners& a, const Corners& b) {
    return length(a[1] - a[0]) > length(b[1] - b[0]);
  };
  for (std::size_t i = 0; i < lines.size();) {
    std::optional<Corners> both;
    for (std::size_t j = i + 1; j < lines.size() && !both; ++j) {
      both =
          is_longer(lines[i], lines[j]) ? joined(lines[i], lines[j]) : joined(lines[j], lines[i]);
      if (both) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(j));
    }
    if (!both) {
      ++i;
      continue;
    }
    // A longer line may now reach lines that were compared before.
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    lines.insert(lines.begin(), *both);
    i = 0;
  }
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
  // A strip with a long line would vanish if it were shrunk to the largest side.
  const float strip = std::min(max_strip / largest, side / 2 / std::sqrt(largest * smallest));
  const float scale = std::min(1.0f, std::max(side / largest, strip));
  return {round_side(static_cast<float>(picture.width) * scale),
          round_side(static_cast<float>(picture.height) * scale)};
}

cv::Size size_for_large_type(const std::vector<Corners>& lines, cv::Size picture, cv::Size size) {
  if (lines.empty()) return size;
  std::vector<float> heights;
  for (const auto& corners : lines)
    heights.push_back(std::min(length(corners[1] - corners[0]), length(corners[3] - corners[0])));
  // Not the median: small type on the page has to stay readable.
  const auto quartile = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 4);
  std::nth_element(heights.begin(), quartile, heights.end());
  const float shown = static_cast<float>(size.height) / static_cast<float>(picture.height);
  if (*quartile * shown <= large_type) return size;
  const float shrink = good_type / (*quartile * shown);
  return {round_side(static_cast<float>(size.width) * shrink),
          round_side(static_cast<float>(size.height) * shrink)};
}

void fill_detector_input(const cv::Mat& picture, cv::Size size, std::span<float> input) {
  // ImageNet's means and deviations, of red, green and blue. PP-OCR applies them to blue, green and
  // red, and the model was trained so.
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
  join_overlapping(lines);
  return in_reading_order(lines);
}

}  // namespace ocr
