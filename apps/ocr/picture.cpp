#include "apps/ocr/picture.hpp"

#include <algorithm>
#include <cstring>
#include <opencv2/imgproc.hpp>
#include <string_view>

#include "apps/ocr/file.hpp"
#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

using polychron::Error;
using polychron::ErrorKind;

constexpr std::size_t max_bytes = most_pixels * 4;
constexpr const char* too_large = "it is larger than 1 GiB";
constexpr const char* formats = "; expected a PNG, JPEG, TIFF, WebP, BMP or PNM picture";

Error refusal(const std::string& name, const std::string& why) {
  return Error(ErrorKind::bad_data, why).with_object("picture '" + name + "'");
}

/// Picks the format by the first bytes of the file. Names tell nothing.
Decoded decode(const File& file) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\x89PNG"sv)) return decode_png(file);
  if (text.starts_with("\xff\xd8"sv)) return decode_jpeg(file);
  if (text.starts_with("RIFF"sv) && text.find("WEBP"sv) == 8) return decode_webp(file);
  if (text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv)) return decode_tiff(file);
  if (text.starts_with("BM"sv)) return decode_bmp(file);
  if (text.size() > 2 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6')
    return decode_pnm(file);
  return {};
}

/// Draws a picture of blue, green, red and alpha on white.
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

/// Orientation 1: the file's first row is the picture's top, and its first column the left side.
/// EXIF's table of "Orientation" defines 2 to 8.
cv::Mat upright(const cv::Mat& picture, int orientation) {
  constexpr int upside_down = 0, mirrored = 1, half_turn = -1;  // codes of cv::flip()
  cv::Mat result = picture;
  if (orientation >= 5) result = result.t();
  switch (orientation) {
    case 2:
    case 6:
      cv::flip(result, result, mirrored);
      break;
    case 3:
    case 7:
      cv::flip(result, result, half_turn);
      break;
    case 4:
    case 8:
      cv::flip(result, result, upside_down);
      break;
    default:
      break;
  }
  return result;
}

bool is_of_one_colour(const cv::Mat& picture) {
  const auto bytes_per_row = static_cast<std::size_t>(picture.cols) * picture.elemSize();
  const auto pixel = picture.elemSize();
  for (int y = 0; y < picture.rows; ++y) {
    // Each pixel equals the one before it, and the first of the row equals the first of all.
    const auto* row = picture.ptr(y);
    if (std::memcmp(row, picture.ptr(), pixel) != 0) return false;
    if (std::memcmp(row, row + pixel, bytes_per_row - pixel) != 0) return false;
  }
  return true;
}

}  // namespace

cv::Mat blank_picture(std::uint64_t width, std::uint64_t height, int type,
                      std::uint64_t max_pixels) {
  if (width == 0 || height == 0) throw Error(ErrorKind::bad_data, "it has no pixels");
  if (width > max_pixels || height > max_pixels || width * height > max_pixels)
    throw Error(ErrorKind::bad_data, "it has more than " + std::to_string(max_pixels) + " pixels");
  return {static_cast<int>(height), static_cast<int>(width), type, cv::Scalar(255, 255, 255, 0)};
}

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                       std::uint64_t max_pixels) {
  if (bytes.empty()) throw refusal(name, std::string("it is empty") + formats);
  if (bytes.size() > max_bytes) throw refusal(name, too_large);
  Decoded decoded;
  try {
    decoded = decode(File(bytes, max_pixels));
  } catch (const Error& error) {
    throw error.with_object("picture '" + name + "'");
  }
  auto& [pixels, damage, orientation] = decoded;
  // After damage the rest is blank. A picture without any contrast has nothing else.
  if (pixels.empty() || (!damage.empty() && is_of_one_colour(pixels)))
    throw refusal(name,
                  "it cannot be decoded" + (damage.empty() ? "" : " (" + damage + ")") + formats);
  if (pixels.type() == CV_8UC4) pixels = on_white(pixels);
  if (!damage.empty()) damage = "it is damaged or cut off (" + damage + ")";
  return {upright(pixels, orientation), damage};
}

Picture read_picture(const std::filesystem::path& path) {
  const auto file = read_file(path, "picture", max_bytes);
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
  return encode_png(canvas);
}

}  // namespace ocr
