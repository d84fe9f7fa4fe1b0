#include "apps/ocr/turning.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ocr {

cv::Mat turned(const cv::Mat& picture, int quarters) {
  cv::Mat result;  // a new picture, since OpenCV would turn upside down in place
  switch (quarters % 4) {
    case 1:
      cv::rotate(picture, result, cv::ROTATE_90_CLOCKWISE);
      break;
    case 2:
      cv::rotate(picture, result, cv::ROTATE_180);
      break;
    case 3:
      cv::rotate(picture, result, cv::ROTATE_90_COUNTERCLOCKWISE);
      break;
    default:
      return picture;
  }
  return result;
}

Corners turned(const Corners& line, cv::Size size, int quarters) {
  auto result = line;
  for (; quarters % 4 != 0; --quarters) {
    for (auto& corner : result) corner = {static_cast<float>(size.height) - corner.y, corner.x};
    std::swap(size.width, size.height);
  }
  return result;
}

bool lies_on_a_side(const std::vector<Corners>& lines) {
  constexpr float clearly = 1.5f;  // single characters are about as high as wide
  float upright = 0, sideways = 0;
  for (const auto& corners : lines) {
    const float width = distance(corners[0], corners[1]), height = distance(corners[0], corners[3]);
    if (width > clearly * height) upright += width;
    if (height > clearly * width) sideways += height;
  }
  return sideways > upright;
}

float certainty(const std::vector<Corners>& lines, std::span<const Reading> readings) {
  float sum = 0, length = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const float width = distance(lines[i][0], lines[i][1]);
    sum += readings[i].confidence * width;
    length += width;
  }
  return length == 0 ? 0 : sum / length;
}

}  // namespace ocr
