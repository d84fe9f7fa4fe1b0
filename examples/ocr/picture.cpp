#include "examples/ocr/picture.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "polychron/error.hpp"

namespace ocr {
namespace {

using polychron::Error;
using polychron::ErrorKind;

constexpr std::size_t max_pixels = std::size_t{1} << 28;
constexpr std::size_t max_bytes = max_pixels * 4;
constexpr const char* too_large = "it is larger than 1 GiB";

Error refusal(const std::string& name, const std::string& why) {
  return Error(ErrorKind::bad_data, why).with_object("picture '" + name + "'");
}

std::vector<char> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::status_known(status)) throw refusal(path.string(), error.message());
  if (!std::filesystem::exists(status)) throw refusal(path.string(), "there is no such file");
  if (std::filesystem::is_directory(status)) throw refusal(path.string(), "it is a directory");
  // Before it is opened: that waits for a pipe's other end, and devices have no end.
  if (!std::filesystem::is_regular_file(status)) throw refusal(path.string(), "no regular file");
  if (std::filesystem::file_size(path, error) > max_bytes && !error)
    throw refusal(path.string(), too_large);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refusal(path.string(), "it cannot be opened for reading");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Only then is it worth decoding a picture with its alpha channel first.
bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && bytes[0] == std::byte{0xff} && bytes[1] == std::byte{0xd8};
}

/// Lays 8-bit blue, green, red, alpha on white.
cv::Mat on_white(const cv::Mat& picture) {
  cv::Mat result(picture.size(), CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    const auto* from = picture.ptr<cv::Vec4b>(y);
    auto* to = result.ptr<cv::Vec3b>(y);
    for (int x = 0; x < picture.cols; ++x)
      for (int c = 0; c < 3; ++c)
        to[x][c] = static_cast<unsigned char>(255 - (255 - from[x][c]) * int{from[x][3]} / 255);
  }
  return result;
}

cv::Mat decode(std::span<const std::byte> bytes) {
  // imdecode() takes a Mat header over the bytes, and does not write to it.
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1,
                    const_cast<std::byte*>(bytes.data()));
  if (!is_jpeg(bytes)) {
    const auto unchanged = cv::imdecode(raw, cv::IMREAD_UNCHANGED);
    if (unchanged.type() == CV_8UC4) return on_white(unchanged);
    if (unchanged.empty()) return {};
  }
  return cv::imdecode(raw, cv::IMREAD_COLOR);
}

}  // namespace

cv::Mat decode_picture(std::span<const std::byte> bytes, const std::string& name) {
  static const char formats[] = "expected a PNG, JPEG, TIFF, WebP, BMP or PNM picture";
  if (bytes.empty()) throw refusal(name, std::string("it is empty; ") + formats);
  if (bytes.size() > max_bytes) throw refusal(name, too_large);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::Mat picture;
  try {
    picture = decode(bytes);
  } catch (const cv::Exception& exception) {
    throw refusal(name, "it cannot be decoded: " + std::string(exception.err));
  }
  if (picture.empty()) throw refusal(name, std::string("it cannot be decoded; ") + formats);
  if (picture.total() > max_pixels) throw refusal(name, "it has more than 2^28 pixels");
  return picture;
}

cv::Mat read_picture(const std::filesystem::path& path) {
  const auto file = read_file(path);
  return decode_picture(std::as_bytes(std::span(file)), path.string());
}

std::vector<unsigned char> draw_lines(const cv::Mat& picture, const std::vector<Line>& lines) {
  auto canvas = picture.clone();
  const cv::Scalar red(0, 0, 220);
  const int thickness = std::max(1, std::min(picture.cols, picture.rows) / 400);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.corners.size(); ++i)
      cv::line(canvas, line.corners[i], line.corners[(i + 1) % line.corners.size()], red, thickness,
               cv::LINE_AA);
  }
  std::vector<unsigned char> bytes;
  cv::imencode(".png", canvas, bytes);
  return bytes;
}

}  // namespace ocr
