// Turns interleaved pixels into the planes that models take.
#pragma once

#include <cassert>
#include <opencv2/core.hpp>
#include <span>

namespace ocr {

/// Fills `planes`, [3, size.height, size.width], with `(pixel / 255 - mean) / deviation`. The
/// picture has this height, and at most this width; the rest of each row is zero. Pure.
inline void fill_planes(const cv::Mat& picture, const cv::Scalar& mean, const cv::Scalar& deviation,
                        cv::Size size, std::span<float> planes) {
  const auto plane_size = static_cast<std::size_t>(size.area());
  assert(picture.type() == CV_8UC3 && planes.size() == 3 * plane_size);
  assert(picture.rows == size.height && picture.cols <= size.width);
  for (int channel = 0; channel < 3; ++channel) {
    cv::Mat plane(size, CV_32FC1, planes.data() + static_cast<std::size_t>(channel) * plane_size);
    plane.setTo(0);
    cv::Mat values;
    cv::extractChannel(picture, values, channel);
    // One pass: pixel * (1 / (255 * deviation)) - mean / deviation, converted into the plane.
    const cv::Mat target = plane(cv::Rect({}, picture.size()));
    values.convertTo(target, CV_32F, 1 / (255 * deviation[channel]),
                     -mean[channel] / deviation[channel]);
  }
}

}  // namespace ocr
