// Finding lines of text: the input of PP-OCR's detector, and the meaning of its answer.
//
// The detector ("differentiable binarization", Liao et al., AAAI 2020) gives for each pixel the
// probability that it belongs to the core of a line of text. Pure functions, without a model.
#pragma once

#include <cstddef>
#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "apps/ocr/page.hpp"

namespace ocr {

struct DetectionOptions {
  /// Pictures are shrunk to this side for the detector. A strip is shrunk to the area of a page
  /// with one side of this length and one of a quarter.
  int largest_side = 1920;
  float pixel_threshold = 0.3f;  ///< a pixel with at least this belongs to text
  float line_threshold = 0.6f;   ///< a region is a line if its mean probability is above
  /// Lines are grown by area * ratio / circumference. PP-OCR's own pipeline has 1.5. With more of
  /// the page around them, the recogniser reads the ends of bent lines and of faint signs better.
  float unclip_ratio = 2.0f;
};

/// The models cannot read small print: pages below 736 pixels are enlarged to twice their size
/// first.
cv::Mat enlarge_small_page(const cv::Mat& picture);

/// Size of the detector's input for `picture`: multiples of 32, about the same proportions.
cv::Size detector_size(cv::Size picture, const DetectionOptions& options);

/// `size`, in which `lines` of a picture of size `picture` were found. A smaller size if nearly all
/// lines are so large in it that the detector takes them apart into words and letters.
cv::Size size_for_large_type(const std::vector<Corners>& lines, cv::Size picture, cv::Size size);

/// Fills `input`, [1, 3, size.height, size.width], with the picture, resized and normalised.
void fill_detector_input(const cv::Mat& picture, cv::Size size, std::span<float> input);

/// The lines in the detector's answer, a map of probabilities of `size`, in pixels of a picture of
/// size `picture`, in reading order.
std::vector<Corners> find_lines(std::span<const float> probabilities, cv::Size size,
                                cv::Size picture, const DetectionOptions& options);

}  // namespace ocr
