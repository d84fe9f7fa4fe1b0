// Turns pages that were photographed or scanned on their side or upside down.
#pragma once

#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "apps/ocr/page.hpp"
#include "apps/ocr/recognition.hpp"

namespace ocr {

/// `picture`, turned clockwise.
cv::Mat turned(const cv::Mat& picture, int quarters);

/// A line of a picture of `size`, after the picture is turned clockwise. Reading starts at the same
/// corner of it as before.
Corners turned(const Corners& line, cv::Size size, int quarters);

/// True if most lines run up or down.
bool lies_on_a_side(const std::vector<Corners>& lines);

/// The mean confidence of all lines of a page, unreadable ones too. Long lines weigh more.
float certainty(const std::vector<Corners>& lines, std::span<const Reading> readings);

}  // namespace ocr
