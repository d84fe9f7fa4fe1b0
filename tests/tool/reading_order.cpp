// The order of a page's lines: rows, columns, tables; straight and askew. Boxes alone, no models.
#include "apps/ocr/reading_order.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

/// Lines on a page, in the order in which they should be read.
class Layout {
 public:
  void add(float x, float y, float width, float height = 20) {
    lines_.push_back({cv::Point2f(x, y), {x + width, y}, {x + width, y + height}, {x, y + height}});
  }

  /// A paragraph: its last line is short, the others end about where they should.
  void add_column(float x, float y, float width, int count) {
    for (int i = 0; i < count; ++i) {
      const float ragged = i + 1 == count ? 0.6f : static_cast<float>(i % 3) * 0.04f;
      add(x, y + 30 * static_cast<float>(i), width * (1 - ragged));
    }
  }

  /// The lines in disorder, all turned by an angle, come back as they are here.
  void check(double degrees = 0) const {
    auto expected = lines_;
    const auto sine = static_cast<float>(std::sin(degrees * CV_PI / 180));
    const auto cosine = static_cast<float>(std::cos(degrees * CV_PI / 180));
    for (auto& line : expected)
      for (auto& corner : line)
        corner = {corner.x * cosine - corner.y * sine, corner.x * sine + corner.y * cosine};
    auto shuffled = expected;
    std::mt19937 random(7);
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const auto ordered = ocr::in_reading_order(shuffled);
    BOOST_REQUIRE_EQUAL(ordered.size(), expected.size());
    std::string places;
    for (const auto& line : ordered)
      places += ' ' + std::to_string(std::find(expected.begin(), expected.end(), line) -
                                     expected.begin());
    BOOST_TEST((ordered == expected), "at " << degrees << " degrees the order is" << places);
  }

 private:
  std::vector<ocr::Corners> lines_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reading_order)

BOOST_AUTO_TEST_CASE(one_column_is_read_downwards) {
  Layout page;
  page.add_column(50, 50, 600, 12);
  for (const double degrees : {0.0, 5.0, -5.0}) page.check(degrees);
  Layout().check();
}

BOOST_AUTO_TEST_CASE(what_stands_side_by_side_is_a_row) {
  Layout page;
  for (int row = 0; row < 8; ++row) {
    const float y = 40.0f * static_cast<float>(row);
    page.add(0, y + 3, 60);
    page.add(200, y, 250);
    page.add(700, y + 5, 80);
  }
  for (const double degrees : {0.0, 3.0, -3.0}) page.check(degrees);
}

BOOST_AUTO_TEST_CASE(columns_are_read_one_after_the_other) {
  Layout two;
  two.add(200, 0, 500, 40);  // the title
  two.add_column(50, 80, 400, 12);
  two.add_column(480, 85, 400, 11);
  two.add(50, 500, 820);  // the foot
  for (const double degrees : {0.0, 3.0, -3.0}) two.check(degrees);
  Layout three;
  for (const float x : {0.0f, 330.0f, 660.0f}) three.add_column(x, 0, 300, 9);
  for (const double degrees : {0.0, 3.0, -3.0}) three.check(degrees);
}

BOOST_AUTO_TEST_CASE(what_spans_the_columns_parts_them) {
  Layout page;
  page.add_column(0, 0, 400, 6);
  page.add_column(430, 0, 400, 6);
  page.add(100, 200, 600);
  page.add_column(0, 250, 400, 6);
  page.add_column(430, 250, 400, 6);
  page.check();
}

BOOST_AUTO_TEST_CASE(forms_and_code_are_read_in_rows) {
  Layout form, code;
  for (int row = 0; row < 10; ++row) {
    const float y = 30.0f * static_cast<float>(row);
    form.add(0, y, 90 + static_cast<float>(row % 3) * 20);  // labels, values
    form.add(200, y, 300);
    code.add(0, y, 200 + static_cast<float>(row * 7 % 10) * 30);  // statements, comments
    code.add(620, y, 300);
  }
  form.check();
  code.check();
}

// Whatever the boxes: each comes back once.
BOOST_AUTO_TEST_CASE(no_line_is_lost) {
  const char* const given = std::getenv("POLYCHRON_SEED");
  const unsigned seed =
      given == nullptr ? 1 : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937 random(seed);
  const auto below = [&](int end) {
    return static_cast<float>(random() % static_cast<unsigned>(end));
  };
  for (int page = 0; page < 300; ++page) {
    std::vector<ocr::Corners> lines;
    const int count = static_cast<int>(below(60));
    for (int i = 0; i < count; ++i) {
      const float x = 50 * below(16), y = 10 * below(40);
      const float width = 1 + 50 * below(8), height = 1 + below(30), slant = below(20) - 10;
      lines.push_back({cv::Point2f(x, y),
                       {x + width, y + slant},
                       {x + width, y + height + slant},
                       {x, y + height}});
    }
    auto ordered = ocr::in_reading_order(lines);
    const auto before = [](const ocr::Corners& one, const ocr::Corners& other) {
      for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i].x != other[i].x) return one[i].x < other[i].x;
        if (one[i].y != other[i].y) return one[i].y < other[i].y;
      }
      return false;
    };
    std::sort(lines.begin(), lines.end(), before);
    std::sort(ordered.begin(), ordered.end(), before);
    BOOST_TEST((ordered == lines), "seed " << seed << ", page " << page);
  }
}

BOOST_AUTO_TEST_SUITE_END()
