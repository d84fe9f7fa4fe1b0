// The parts of the OCR example that need no model: pictures, lines in a map, alphabets, decoding.
#include <boost/test/unit_test.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "examples/ocr/detection.hpp"
#include "examples/ocr/picture.hpp"
#include "examples/ocr/recognition.hpp"
#include "polychron/error.hpp"
#include "tests/tool/command.hpp"

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

std::vector<unsigned char> encoded(const cv::Mat& picture, const std::string& extension) {
  std::vector<unsigned char> bytes;
  BOOST_REQUIRE(cv::imencode(extension, picture, bytes));
  return bytes;
}

cv::Mat decoded(const std::vector<unsigned char>& bytes) {
  return ocr::decode_picture(std::as_bytes(std::span(bytes)), "a picture");
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

BOOST_AUTO_TEST_CASE(empty_and_full_maps) {
  BOOST_TEST(lines_in(cv::Mat::zeros(32, 32, CV_32FC1), {1, 1}).empty());
  BOOST_TEST(lines_in(cv::Mat::ones(32, 32, CV_32FC1), {1, 1}).size() == 1);
}

BOOST_AUTO_TEST_CASE(detector_sizes_are_multiples_of_32) {
  for (const cv::Size picture : {cv::Size(1, 1), cv::Size(768, 382), cv::Size(9000, 4000),
                                 cv::Size(1, 100000), cv::Size(100000, 1)}) {
    const auto size = ocr::detector_size(picture, {});
    BOOST_TEST(size.width % 32 == 0);
    BOOST_TEST(size.height % 32 == 0);
    BOOST_TEST(size.width >= 32);
    BOOST_TEST(size.height >= 32);
    BOOST_TEST(std::max(size.width, size.height) <= 1920);
  }
  BOOST_TEST((ocr::detector_size({768, 382}, {}) == cv::Size(768, 384)));
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
  BOOST_TEST(ocr::width_bucket(white.size()) == 160);
  BOOST_TEST(ocr::width_bucket({1, 1000}) == 160);
  BOOST_TEST(ocr::width_bucket({100000, 10}) == 1920);
  std::vector<float> input(3 * 48 * 160, -7);
  ocr::fill_recognizer_input(white, 160, input);
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
  const auto reading = ocr::decode_greedily(probabilities, alphabet);
  BOOST_TEST(reading.text == "aab b");
  BOOST_TEST(reading.confidence == 0.7f, boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(ocr::decode_greedily({}, alphabet).text == "");
}

BOOST_AUTO_TEST_CASE(pictures_of_every_kind_become_blue_green_red) {
  const cv::Mat gray(5, 7, CV_8UC1, cv::Scalar(200)), deep(5, 7, CV_16UC3, cv::Scalar::all(51400));
  const cv::Mat clear(5, 7, CV_8UC4, cv::Scalar(0, 0, 0, 0));
  BOOST_TEST((decoded(encoded(gray, ".png")).at<cv::Vec3b>(4, 6) == cv::Vec3b::all(200)));
  BOOST_TEST((decoded(encoded(deep, ".png")).at<cv::Vec3b>(4, 6) == cv::Vec3b::all(200)));
  BOOST_TEST((decoded(encoded(gray, ".jpg")).at<cv::Vec3b>(4, 6) == cv::Vec3b::all(200)));
  // Black on nothing is the usual case of transparency: nothing must not become black.
  BOOST_TEST((decoded(encoded(clear, ".png")).at<cv::Vec3b>(4, 6) == cv::Vec3b::all(255)));
}

BOOST_AUTO_TEST_CASE(damaged_pictures_are_refused) {
  const auto whole = encoded(cv::Mat(40, 40, CV_8UC3, cv::Scalar(1, 2, 3)), ".png");
  for (std::size_t size = 0; size + 12 < whole.size(); size += 7) {
    const std::vector<unsigned char> part(whole.begin(), whole.begin() + static_cast<long>(size));
    BOOST_CHECK_THROW(decoded(part), polychron::Error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
