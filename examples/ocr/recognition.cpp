#include "examples/ocr/recognition.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fstream>
#include <opencv2/imgproc.hpp>

#include "examples/ocr/planes.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

constexpr int bucket_width = 160;
constexpr int max_width = 12 * bucket_width;
constexpr std::size_t blank = 0;
/// Lines at least this much taller than wide run upwards or downwards.
constexpr float tall = 1.5f;

float distance(cv::Point2f a, cv::Point2f b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Width of a line that is brought to line_height.
int natural_width(cv::Size size) {
  const auto width = std::ceil(static_cast<double>(size.width) * line_height / size.height);
  return static_cast<int>(std::clamp(width, 1.0, double{max_width}));
}

constexpr std::size_t max_alphabet_bytes = std::size_t{16} << 20;

}  // namespace

Alphabet::Alphabet(std::vector<std::string> characters) : characters_(std::move(characters)) {
  characters_.insert(characters_.begin(), std::string());
  characters_.emplace_back(" ");
}

Alphabet Alphabet::load(const std::filesystem::path& path) {
  const auto refusal = [&](const char* why) {
    return polychron::Error(polychron::ErrorKind::bad_data, why)
        .with_object("alphabet '" + path.string() + "'");
  };
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw refusal("no regular file");
  if (std::filesystem::file_size(path, error) > max_alphabet_bytes && !error)
    throw refusal("it is larger than 16 MiB");
  std::ifstream file(path);
  if (!file) throw refusal("it cannot be opened for reading");
  std::vector<std::string> characters;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    characters.push_back(std::move(line));
  }
  if (characters.empty()) throw refusal("it is empty; expected one character a line");
  return Alphabet(std::move(characters));
}

cv::Mat cut_line(const cv::Mat& picture, const Corners& corners) {
  const auto& [top_left, top_right, bottom_right, bottom_left] = corners;
  const float width = std::max(distance(top_left, top_right), distance(bottom_left, bottom_right));
  const float height = std::max(distance(top_left, bottom_left), distance(top_right, bottom_right));
  const cv::Size size(std::max(1, cvRound(width)), std::max(1, cvRound(height)));
  const Corners upright{cv::Point2f(0, 0), cv::Point2f(width, 0), cv::Point2f(width, height),
                        cv::Point2f(0, height)};
  const auto transform = cv::getPerspectiveTransform(corners.data(), upright.data());
  cv::Mat line;
  cv::warpPerspective(picture, line, transform, size, cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  if (height >= tall * width) cv::rotate(line, line, cv::ROTATE_90_COUNTERCLOCKWISE);
  return line;
}

int width_bucket(cv::Size size) {
  return (natural_width(size) + bucket_width - 1) / bucket_width * bucket_width;
}

void fill_recognizer_input(const cv::Mat& line, int width, std::span<float> input) {
  const cv::Scalar half = cv::Scalar::all(0.5);
  cv::Mat resized;
  cv::resize(line, resized, {std::min(width, natural_width(line.size())), line_height}, 0, 0,
             cv::INTER_LINEAR);
  fill_planes(resized, half, half, {width, line_height}, input);
}

Reading decode_greedily(std::span<const float> probabilities, const Alphabet& alphabet) {
  const auto classes = alphabet.classes();
  assert(probabilities.size() % classes == 0);
  Reading reading;
  std::size_t characters = 0, previous = blank;
  for (; !probabilities.empty(); probabilities = probabilities.subspan(classes)) {
    const auto step = probabilities.first(classes);
    const auto best = std::max_element(step.begin(), step.end());
    const auto index = static_cast<std::size_t>(best - step.begin());
    if (index != blank && index != previous) {
      reading.text += alphabet[index];
      reading.confidence += *best;
      ++characters;
    }
    previous = index;
  }
  if (characters != 0) reading.confidence /= static_cast<float>(characters);
  return reading;
}

}  // namespace ocr
