// Pages that were photographed or scanned lying on a side, or standing on their head.
#pragma once

#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "examples/ocr/page.hpp"
#include "examples/ocr/recognition.hpp"

namespace ocr {

/// `picture`, turned clockwise.
cv::Mat turned(const cv::Mat& picture, int quarters);

/// A line of a picture of `size`, where it is after the picture is turned clockwise. Reading starts
/// at the same corner of it as before.
Corners turned(const Corners& line, cv::Size size, int quarters);

/// Most of what is written runs up or down.
bool lies_on_a_side(const std::vector<Corners>& lines);

/// The mean confidence of all that was found on a page, unreadable lines too: long lines weigh
/// more.
float certainty(const std::vector<Corners>& lines, std::span<const Reading> readings);

}  // namespace ocr
