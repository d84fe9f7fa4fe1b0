// The parts of the OCR example that need no model: lines in a map, alphabets, parts of lines,
// decoding, pictures that are turned.
#include <boost/test/unit_test.hpp>
#include <opencv2/imgproc.hpp>

#include "apps/ocr/detection.hpp"
#include "apps/ocr/recognition.hpp"
#include "apps/ocr/turning.hpp"

namespace {

std::vector<ocr::Corners> lines_in(const cv::Mat& map, cv::Size picture) {
  const std::span<const float> values(map.ptr<float>(), map.total());
  return ocr::find_lines(values, map.size(), picture, {});
}

void draw_line(cv::Mat& map, const cv::RotatedRect& rect, double probability = 0.9) {
  cv::Point2f corners[4];
  rect.points(corners);
  std::vector<cv::Point> outline(std::begin(corners), std::end(corners));
  cv::fillConvexPoly(map, outline, cv::Scalar(probability));
}

constexpr std::size_t a = 1, b = 2, c = 3, nothing = 0;

std::vector<ocr::Step> path_of(const std::vector<std::size_t>& classes) {
  std::vector<ocr::Step> path;
  for (const auto best : classes) path.push_back({best, 0.9f});
  return path;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ocr_pictures)

BOOST_AUTO_TEST_CASE(lines_are_found_grown_and_sorted) {
  cv::Mat map = cv::Mat::zeros(128, 256, CV_32FC1);
  draw_line(map, {{190, 22}, {80, 10}, 0});      // second in its row, a little higher
  draw_line(map, {{60, 24}, {80, 10}, 0});       // first
  draw_line(map, {{128, 80}, {150, 10}, 8});     // slanted
  draw_line(map, {{40, 110}, {30, 8}, 0}, 0.5);  // too improbable
  draw_line(map, {{200, 115}, {2, 2}, 0});       // noise
  const auto lines = lines_in(map, {512, 256});
  BOOST_REQUIRE(lines.size() == 3);
  BOOST_TEST(lines[0][0].x < lines[1][0].x);
  // The core is 81 by 11 pixels: grown by 81 * 11 * 2 / (2 * 92) = 9.7 on each side, times two.
  BOOST_TEST(lines[0][0].x == (60 - 40 - 9.5f) * 2, boost::test_tools::tolerance(0.1f));
  BOOST_TEST(lines[0][2].x - lines[0][0].x == (80 + 19) * 2, boost::test_tools::tolerance(0.05f));
  const auto slope = (lines[2][1].y - lines[2][0].y) / (lines[2][1].x - lines[2][0].x);
  BOOST_TEST(slope == 0.14f, boost::test_tools::tolerance(0.1f));
}

// The letters at their ends would be in both, and read twice.
BOOST_AUTO_TEST_CASE(parts_of_a_line_that_overlap_when_grown_are_one_line) {
  for (const double angle : {0.0, 6.0}) {
    cv::Mat map = cv::Mat::zeros(256, 512, CV_32FC1);
    draw_line(map, {{100, 50}, {100, 24}, static_cast<float>(angle)});
    draw_line(map, {{200, static_cast<float>(50 + 100 * std::sin(angle * CV_PI / 180))},
                    {80, 24},
                    static_cast<float>(angle)});
    draw_line(map, {{100, 120}, {100, 24}, 0});  // the next line
    draw_line(map, {{350, 120}, {100, 24}, 0});  // and what stands beside it, apart
    const auto lines = lines_in(map, map.size());
    BOOST_TEST_CONTEXT("at " << angle << " degrees: " << lines.size() << " lines") {
      BOOST_REQUIRE(lines.size() == 3);
      BOOST_TEST(lines[0][1].x - lines[0][0].x > 190);
      BOOST_TEST(lines[0][3].y - lines[0][0].y < 75);
      BOOST_TEST(lines[1][1].x < 200);
    }
  }
}

BOOST_AUTO_TEST_CASE(empty_and_full_maps) {
  BOOST_TEST(lines_in(cv::Mat::zeros(32, 32, CV_32FC1), {1, 1}).empty());
  BOOST_TEST(lines_in(cv::Mat::ones(32, 32, CV_32FC1), {1, 1}).size() == 1);
}

BOOST_AUTO_TEST_CASE(detector_sizes_are_multiples_of_32) {
  for (const cv::Size picture :
       {cv::Size(1, 1), cv::Size(768, 382), cv::Size(9000, 4000), cv::Size(9000, 90),
        cv::Size(1, 100000), cv::Size(100000, 1), cv::Size(30000, 700)}) {
    const auto size = ocr::detector_size(picture, {});
    BOOST_TEST_CONTEXT(picture << " becomes " << size) {
      BOOST_TEST(size.width % 32 == 0);
      BOOST_TEST(size.height % 32 == 0);
      BOOST_TEST(size.width >= 32);
      BOOST_TEST(size.height >= 32);
      BOOST_TEST(size.area() <= 1920 * 1920);
    }
  }
  BOOST_TEST((ocr::detector_size({768, 382}, {}) == cv::Size(768, 384)));
  BOOST_TEST((ocr::detector_size({9000, 4000}, {}) == cv::Size(1920, 864)));
  BOOST_TEST((ocr::detector_size({6000, 100}, {}) == cv::Size(6016, 96)));  // a long line
}

BOOST_AUTO_TEST_CASE(large_type_is_looked_for_in_a_smaller_picture) {
  const auto line = [](float height) {
    return ocr::Corners{cv::Point2f(0, 0), {900, 0}, {900, height}, {0, height}};
  };
  const cv::Size size(960, 640), twice = size * 2;
  BOOST_TEST((ocr::size_for_large_type({}, twice, size) == size));
  BOOST_TEST((ocr::size_for_large_type({line(110), line(110)}, twice, size) == size));
  BOOST_TEST((ocr::size_for_large_type({line(180), line(180)}, twice, size) == size / 2));
  // A headline over small print.
  BOOST_TEST((ocr::size_for_large_type({line(180), line(40), line(50)}, twice, size) == size));
}

BOOST_AUTO_TEST_CASE(lines_are_cut_upright) {
  // White left of the middle of a slanted line, black right of it.
  cv::Mat picture(200, 200, CV_8UC3, cv::Scalar::all(128));
  const ocr::Corners slanted{cv::Point2f(50, 50), {150, 70}, {146, 90}, {46, 70}};
  const std::vector<cv::Point> left{{50, 50}, {100, 60}, {96, 80}, {46, 70}};
  cv::fillConvexPoly(picture, left, cv::Scalar::all(255));
  const auto line = ocr::cut_line(picture, slanted);
  BOOST_TEST(std::abs(line.cols - 102) <= 1);
  BOOST_TEST(std::abs(line.rows - 20) <= 1);
  BOOST_TEST(line.at<cv::Vec3b>(10, 20)[0] == 255);
  BOOST_TEST(line.at<cv::Vec3b>(10, 80)[0] == 128);
  const auto tall = ocr::cut_line(picture, {cv::Point2f(10, 10), {30, 10}, {30, 110}, {10, 110}});
  BOOST_TEST(tall.cols > tall.rows);
}

BOOST_AUTO_TEST_CASE(inputs_are_normalised_and_padded) {
  const cv::Mat white(24, 60, CV_8UC3, cv::Scalar::all(255));
  const auto scaled = ocr::scaled_line(white);
  BOOST_TEST((scaled.size() == cv::Size(120, 48)));
  BOOST_TEST(ocr::width_bucket(1) == 160);
  BOOST_TEST(ocr::width_bucket(160) == 160);
  BOOST_TEST(ocr::width_bucket(1920) == 1920);
  std::vector<float> input(3 * 48 * 160, -7);
  ocr::fill_recognizer_input(scaled, 160, input);
  for (std::size_t row = 0; row < std::size_t{3} * 48; ++row) {
    BOOST_REQUIRE_LT(std::abs(input[row * 160 + 119] - 1), 1e-5f);
    BOOST_REQUIRE_EQUAL(input[row * 160 + 120], 0);
  }
  std::vector<float> planes(3 * 32 * 32);
  ocr::fill_detector_input(white, {32, 32}, planes);
  BOOST_TEST(planes[0] == (1 - 0.485f) / 0.229f, boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(planes.back() == (1 - 0.406f) / 0.225f, boost::test_tools::tolerance(1e-5f));
}

BOOST_AUTO_TEST_CASE(decoding_drops_repetitions_and_blanks) {
  const ocr::Alphabet alphabet({"a", "b"});  // blank, a, b, space
  BOOST_TEST(alphabet.classes() == 4);
  std::vector<float> probabilities;
  for (const auto best : std::vector<std::size_t>{1, 1, 0, 1, 2, 3, 3, 2, 0, 0}) {
    std::vector<float> step(4, 0.1f);
    step[best] = 0.7f;
    probabilities.insert(probabilities.end(), step.begin(), step.end());
  }
  const auto path = ocr::best_path(probabilities, alphabet.classes());
  BOOST_TEST(path.size() == 10);
  const auto reading = ocr::decode_greedily(path, alphabet);
  BOOST_TEST(reading.text == "aab b");
  BOOST_TEST(reading.confidence == 0.7f, boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(ocr::decode_greedily({}, alphabet).text == "");
}

BOOST_AUTO_TEST_CASE(long_lines_are_read_in_parts_that_overlap) {
  for (const int width : {1, 160, 1919, 1920, 1921, 2500, 3648, 3649, 9999, 30720}) {
    const auto parts = ocr::parts_of_line(width);
    BOOST_TEST_CONTEXT("a line of " << width << " pixels in " << parts.size() << " parts") {
      BOOST_TEST((parts.size() == 1) == (width <= 1920));
      BOOST_TEST(parts.front().start == 0);
      BOOST_TEST(parts.back().start + parts.back().width == width);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        BOOST_TEST(parts[i].start % 8 == 0);
        BOOST_TEST(parts[i].width <= 1920);
        if (i == 0) continue;
        BOOST_TEST(parts[i].width > 192);
        BOOST_TEST(parts[i - 1].start + parts[i - 1].width - parts[i].start == 192);
      }
    }
  }
  const cv::Mat line(3, 20000, CV_8UC3, cv::Scalar::all(1));
  BOOST_TEST((ocr::scaled_line(line).size() == cv::Size(30720, 48)));
}

BOOST_AUTO_TEST_CASE(parts_are_joined_where_both_see_a_gap) {
  const ocr::Alphabet alphabet({"a", "b", "c"});
  // The parts' ends are wrong, and one sees the "b" a step later: neither lost nor read twice.
  auto path = path_of({a, nothing, nothing, b, nothing, nothing, nothing, c, a, a});
  const auto next = path_of({c, nothing, b, nothing, nothing, c, nothing, nothing, a, nothing});
  ocr::join_paths(path, next, 2);
  BOOST_TEST(path.size() == 12);
  BOOST_TEST(ocr::decode_greedily(path, alphabet).text == "abca");
  // No gap at all: in the middle, and nothing is read twice.
  auto dense = path_of({a, a, a, a});
  ocr::join_paths(dense, path_of({a, a, a, a}), 2);
  BOOST_TEST(ocr::decode_greedily(dense, alphabet).text == "a");
  // No overlap.
  auto apart = path_of({a, b});
  ocr::join_paths(apart, path_of({c}), 2);
  BOOST_TEST(ocr::decode_greedily(apart, alphabet).text == "abc");
}

BOOST_AUTO_TEST_CASE(lines_turn_with_their_picture) {
  const cv::Size size(50, 30);
  cv::Mat picture = cv::Mat::zeros(size, CV_8UC3);
  picture.at<cv::Vec3b>(4, 10) = cv::Vec3b::all(255);
  const ocr::Corners line{cv::Point2f(10.5f, 4.5f), {40, 4}, {40, 14}, {10, 14}};
  for (int quarters = 0; quarters <= 4; ++quarters) {
    const auto picture_now = ocr::turned(picture, quarters);
    const auto corner = ocr::turned(line, size, quarters)[0];
    BOOST_TEST_CONTEXT(quarters << " quarters: " << corner)
    BOOST_TEST(int{picture_now.at<cv::Vec3b>(cvFloor(corner.y), cvFloor(corner.x))[0]} == 255);
    const auto back =
        ocr::turned(ocr::turned(line, size, quarters), picture_now.size(), 4 - quarters);
    BOOST_TEST((back == line));
  }
}

BOOST_AUTO_TEST_CASE(a_page_lies_on_a_side_if_most_of_its_text_does) {
  const ocr::Corners wide{cv::Point2f(0, 0), {90, 0}, {90, 10}, {0, 10}};
  const ocr::Corners tall{cv::Point2f(0, 0), {10, 0}, {10, 100}, {0, 100}};
  const ocr::Corners sign{cv::Point2f(0, 0), {80, 0}, {80, 100}, {0, 100}};
  BOOST_TEST(!ocr::lies_on_a_side({}));
  BOOST_TEST(!ocr::lies_on_a_side({sign, sign}));
  BOOST_TEST(!ocr::lies_on_a_side({wide, wide, tall, sign}));
  BOOST_TEST(ocr::lies_on_a_side({wide, tall, tall}));
}

BOOST_AUTO_TEST_SUITE_END()
