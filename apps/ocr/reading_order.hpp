// The order in which the lines of a page are read.
//
// Lines that stand side by side are a row, read from left to right. Rows are read from the top
// down. Columns are read one after the other. A line that spans the columns (a title, a figure's
// caption) parts the text above it from the text below. This is the recursive cut of a page along
// its white space (Nagy and Seth, ICPR 1984), on the lines' boxes.
#pragma once

#include <vector>

#include "apps/ocr/page.hpp"

namespace ocr {

/// Pure. A page that was photographed slightly askew is read like a straight one.
std::vector<Corners> in_reading_order(const std::vector<Corners>& lines);

}  // namespace ocr
