// The order in which the lines of a page are read.
//
// Lines that stand side by side are a row, read from left to right, and rows are read from the top
// down; except where the page is set in columns: these are read one after the other. What spans the
// columns (a title, a figure's caption) parts what is above it from what is below. This is the
// recursive cut of a page along its white space (Nagy and Seth, ICPR 1984), on the lines' boxes.
#pragma once

#include <vector>

#include "examples/ocr/page.hpp"

namespace ocr {

/// Pure. A page that was photographed a little askew is read like a straight one.
std::vector<Corners> in_reading_order(const std::vector<Corners>& lines);

}  // namespace ocr
