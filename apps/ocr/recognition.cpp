#include "apps/ocr/recognition.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <sstream>

#include "apps/ocr/file.hpp"
#include "apps/ocr/planes.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

constexpr int bucket_width = 160;
constexpr int max_part_width = 12 * bucket_width;
constexpr int max_width = 16 * max_part_width;
constexpr int overlap = 4 * line_height;
/// The recogniser makes a step every 8 pixels.
constexpr int step_width = 8;
constexpr std::size_t blank = 0;
/// Lines at least this much taller than wide run upwards or downwards.
constexpr float tall = 1.5f;

constexpr std::size_t max_alphabet_bytes = std::size_t{16} << 20;

}  // namespace

Alphabet::Alphabet(std::vector<std::string> characters) : characters_(std::move(characters)) {
  characters_.insert(characters_.begin(), std::string());
  characters_.emplace_back(" ");
}

Alphabet Alphabet::load(const std::filesystem::path& path) {
  const auto bytes = read_file(path, "alphabet", max_alphabet_bytes);
  std::istringstream file(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> characters;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    characters.push_back(std::move(line));
  }
  if (characters.empty())
    throw polychron::Error(polychron::ErrorKind::bad_data,
                           "it is empty; expected one character a line")
        .with_object("alphabet '" + path.string() + "'");
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

cv::Mat scaled_line(const cv::Mat& line) {
  const auto width = std::ceil(static_cast<double>(line.cols) * line_height / line.rows);
  cv::Mat scaled;
  cv::resize(line, scaled,
             {static_cast<int>(std::clamp(width, 1.0, double{max_width})), line_height}, 0, 0,
             cv::INTER_LINEAR);
  return scaled;
}

std::vector<Part> parts_of_line(int width) {
  if (width <= max_part_width) return {{0, width}};
  const int count = (width - overlap + max_part_width - overlap - 1) / (max_part_width - overlap);
  const int advance = (width - overlap + count * step_width - 1) / (count * step_width);
  std::vector<Part> parts;
  for (int start = 0; start + overlap < width; start += advance * step_width)
    parts.push_back({start, std::min(width - start, advance * step_width + overlap)});
  return parts;
}

int width_bucket(int width) { return (width + bucket_width - 1) / bucket_width * bucket_width; }

void fill_recognizer_input(const cv::Mat& part, int width, std::span<float> input) {
  const cv::Scalar half = cv::Scalar::all(0.5);
  fill_planes(part, half, half, {width, line_height}, input);
}

std::vector<Step> best_path(std::span<const float> probabilities, std::size_t classes) {
  assert(probabilities.size() % classes == 0);
  std::vector<Step> path;
  for (; !probabilities.empty(); probabilities = probabilities.subspan(classes)) {
    const auto step = probabilities.first(classes);
    const auto best = std::max_element(step.begin(), step.end());
    path.push_back({static_cast<std::size_t>(best - step.begin()), *best});
  }
  return path;
}

void join_paths(std::vector<Step>& path, std::span<const Step> next, std::size_t start) {
  // A good gap is certain and wide: both parts see nothing at a step and around it.
  constexpr std::ptrdiff_t reach = 3;
  const auto first = static_cast<std::ptrdiff_t>(start);
  const auto last = std::min<std::ptrdiff_t>(std::ssize(path), first + std::ssize(next));
  const auto emptiness = [&](std::ptrdiff_t at) {
    if (at < first || at >= last) return 0.0f;
    const auto& a = path[static_cast<std::size_t>(at)];
    const auto& b = next[static_cast<std::size_t>(at - first)];
    return a.best == blank && b.best == blank ? a.probability * b.probability : 0.0f;
  };
  const auto middle = (first + last) / 2;
  auto seam = std::clamp<std::ptrdiff_t>(middle, first, std::max(first, last));
  float widest = 0;
  for (auto at = first; at < last; ++at) {
    if (emptiness(at) == 0) continue;
    float width = 0;
    for (auto near = at; near <= at + reach && emptiness(near) != 0; ++near)
      width += emptiness(near);
    for (auto near = at - 1; near >= at - reach && emptiness(near) != 0; --near)
      width += emptiness(near);
    // The parts' ends know less of their surroundings.
    width -= 0.01f * static_cast<float>(std::abs(at - middle));
    if (width > widest) {
      widest = width;
      seam = at;
    }
  }
  path.resize(static_cast<std::size_t>(seam));
  next = next.subspan(static_cast<std::size_t>(seam - first));
  path.insert(path.end(), next.begin(), next.end());
}

Reading decode_greedily(std::span<const Step> path, const Alphabet& alphabet) {
  Reading reading;
  std::size_t characters = 0, previous = blank;
  for (const auto& [best, probability] : path) {
    if (best != blank && best != previous) {
      reading.text += alphabet[best];
      reading.confidence += probability;
      ++characters;
    }
    previous = best;
  }
  if (characters != 0) reading.confidence /= static_cast<float>(characters);
  return reading;
}

}  // namespace ocr
