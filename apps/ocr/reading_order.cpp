#include "apps/ocr/reading_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

namespace ocr {
namespace {

/// These limits tell columns of text from similar shapes: cells of a table, labels and values, code
/// and its comments. Those are read row by row.
constexpr std::size_t min_column_lines = 3;  ///< beside the other column's lines
constexpr float min_column_width = 8;        ///< of the median line, in heights of a line
constexpr float max_ragged = 0.35f;          ///< white before the gutter, as a share of the column
constexpr float min_gutter = 0.2f;           ///< in heights of a line; boxes are grown into it

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A straightened line: the box that it fills on a page that stands straight.
struct Box {
  float left, right, top, bottom;
  std::size_t line;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  float middle() const { return (top + bottom) / 2; }
};

using Boxes = std::vector<Box>;

template <typename Values>
float median(Values values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Property>
float median_of(std::span<const Box> boxes, Property property) {
  std::vector<float> values;
  for (const auto& box : boxes) values.push_back(property(box));
  return median(values);
}

/// The angle of the page, in radians: that of most of its lines, without those that run up or down.
/// The angle is small: pages that lie on their side are turned before this.
float skew_of(const std::vector<Corners>& lines) {
  constexpr float most = 0.5f;
  std::vector<float> angles;
  for (const auto& corners : lines) {
    const auto along = corners[1] - corners[0], down = corners[3] - corners[0];
    if (std::hypot(along.x, along.y) < 2 * std::hypot(down.x, down.y)) continue;
    const float angle = std::atan2(along.y, along.x);
    if (std::abs(angle) < most) angles.push_back(angle);
  }
  return median(angles);
}

Box straightened(const Corners& corners, float skew, std::size_t line) {
  const auto center = (corners[0] + corners[1] + corners[2] + corners[3]) / 4;
  const auto along = (corners[1] - corners[0] + corners[2] - corners[3]) / 2;
  const auto down = (corners[3] - corners[0] + corners[2] - corners[1]) / 2;
  const float x = center.x * std::cos(skew) + center.y * std::sin(skew);
  const float y = center.y * std::cos(skew) - center.x * std::sin(skew);
  const float half_width = std::hypot(along.x, along.y) / 2;
  const float half_height = std::hypot(down.x, down.y) / 2;
  return {x - half_width, x + half_width, y - half_height, y + half_height, line};
}

/// White space from the top to the bottom of some boxes. On either side there may be no boxes.
struct Gap {
  float left, right;

  bool is_between() const { return left != -infinity && right != infinity; }
  float middle() const { return (left + right) / 2; }
};

bool are_columns(std::span<const Box> boxes, const Gap& gap) {
  Boxes left, right;
  for (const auto& box : boxes) (box.right <= gap.left ? left : right).push_back(box);
  if (left.empty() || right.empty()) return false;
  const auto top_of = [](const Boxes& side) {
    return std::min_element(side.begin(), side.end(),
                            [](const Box& a, const Box& b) { return a.top < b.top; })
        ->top;
  };
  const auto bottom_of = [](const Boxes& side) {
    return std::max_element(side.begin(), side.end(),
                            [](const Box& a, const Box& b) { return a.bottom < b.bottom; })
        ->bottom;
  };
  const float top = std::max(top_of(left), top_of(right));
  const float bottom = std::min(bottom_of(left), bottom_of(right));
  for (auto* side : {&left, &right}) {
    std::erase_if(*side,
                  [&](const Box& box) { return box.middle() < top || box.middle() > bottom; });
    if (side->size() < min_column_lines) return false;
    const float height = median_of(*side, [](const Box& box) { return box.height(); });
    const float width = median_of(*side, [](const Box& box) { return box.width(); });
    if (width < min_column_width * height) return false;
  }
  const float edge = median_of(left, [](const Box& box) { return box.left; });
  const float end = median_of(left, [](const Box& box) { return box.right; });
  return gap.right - end <= max_ragged * (gap.right - edge);
}

/// Some boxes from the first on, down the page, and the gutter in them.
struct Columns {
  std::size_t count;
  Gap gutter;
};

/// Takes boxes while there is a gap that none of them crosses. `boxes` are sorted by height.
std::optional<Columns> columns_from_top(std::span<const Box> boxes) {
  const float min_width =
      min_gutter * median_of(boxes, [](const Box& box) { return box.height(); });
  std::vector<Gap> gaps{{-infinity, infinity}};
  std::optional<Columns> best;
  const auto judge = [&](std::size_t count, const Gap& gap) {
    if (gap.is_between() && (!best || count > best->count) && are_columns(boxes.first(count), gap))
      best = Columns{count, gap};
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    std::vector<Gap> left_over;
    for (const auto& gap : gaps) {
      if (boxes[i].right <= gap.left || boxes[i].left >= gap.right) {
        left_over.push_back(gap);
        continue;
      }
      const auto before = left_over.size();
      for (const auto& part : {Gap{gap.left, boxes[i].left}, Gap{boxes[i].right, gap.right}})
        if (part.right - part.left >= min_width) left_over.push_back(part);
      if (left_over.size() == before) judge(i, gap);  // it ends here
    }
    gaps = std::move(left_over);
  }
  for (const auto& gap : gaps) judge(boxes.size(), gap);
  return best;
}

/// Boxes stand side by side if their middles are within half a line's height of the row's first.
void append_rows(Boxes boxes, Boxes& ordered) {
  for (auto row = boxes.begin(); row != boxes.end();) {
    const auto end = std::find_if(row + 1, boxes.end(), [&](const Box& box) {
      return box.middle() - row->middle() > std::min(row->height(), box.height()) / 2;
    });
    std::sort(row, end, [](const Box& a, const Box& b) { return a.left < b.left; });
    row = end;
  }
  ordered.insert(ordered.end(), boxes.begin(), boxes.end());
}

/// `boxes` are sorted by height on the page.
void append_in_order(std::span<const Box> boxes, Boxes& ordered) {
  Boxes rows;
  while (!boxes.empty()) {
    const auto columns = columns_from_top(boxes);
    const auto count = columns ? columns->count : 1;
    if (columns) {
      append_rows(std::move(rows), ordered);
      rows.clear();
      Boxes left, right;
      for (const auto& box : boxes.first(count))
        (box.right <= columns->gutter.left ? left : right).push_back(box);
      append_in_order(left, ordered);
      append_in_order(right, ordered);
    } else {
      rows.push_back(boxes.front());
    }
    boxes = boxes.subspan(count);
  }
  append_rows(std::move(rows), ordered);
}

}  // namespace

std::vector<Corners> in_reading_order(const std::vector<Corners>& lines) {
  const float skew = skew_of(lines);
  Boxes boxes, ordered;
  for (std::size_t i = 0; i < lines.size(); ++i) boxes.push_back(straightened(lines[i], skew, i));
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.middle() < b.middle(); });
  append_in_order(boxes, ordered);
  std::vector<Corners> result;
  for (const auto& box : ordered) result.push_back(lines[box.line]);
  return result;
}

}  // namespace ocr
