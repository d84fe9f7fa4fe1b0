// PNM: the six formats P1 to P6 that netpbm and pdftoppm write.
#include <algorithm>
#include <optional>

#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

/// The bytes of a file, one after the other.
class Scanner {
 public:
  explicit Scanner(Bytes file) : rest_(file) {}

  std::optional<std::uint32_t> byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = std::to_integer<std::uint32_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  /// A decimal number, and the one character after it. Comments before it run to the line's end.
  std::optional<std::uint32_t> number() {
    auto c = first_after_space();
    std::uint32_t value = 0;
    bool any = false;
    for (; is_digit(c); c = byte(), any = true) {
      if (value > 100'000'000) return std::nullopt;
      value = value * 10 + (*c - '0');
    }
    return any ? std::optional(value) : std::nullopt;
  }

  /// '0' or '1'. No space is needed between them.
  std::optional<std::uint32_t> bit() {
    const auto c = first_after_space();
    return c == '0' || c == '1' ? std::optional(*c - '0') : std::nullopt;
  }

 private:
  static bool is_digit(std::optional<std::uint32_t> c) { return c && *c >= '0' && *c <= '9'; }
  static bool is_space(std::uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::optional<std::uint32_t> first_after_space() {
    auto c = byte();
    while (c && (is_space(*c) || c == '#')) {
      if (c == '#')
        while (c && c != '\n') c = byte();
      if (c) c = byte();
    }
    return c;
  }

  Bytes rest_;
};

/// The format of a file's samples.
struct Format {
  int channels;
  bool text, bits;
  std::uint32_t max;

  /// From 0 to 255; nothing at the end of the file.
  std::optional<unsigned char> sample(Scanner& scanner) const {
    std::optional<std::uint32_t> value;
    if (text) {
      value = bits ? scanner.bit() : scanner.number();
    } else {
      value = scanner.byte();
      if (max > 255 && value) {
        const auto low = scanner.byte();
        value = low ? std::optional(*value << 8 | *low) : std::nullopt;
      }
    }
    if (!value) return std::nullopt;
    const auto light = (std::min(*value, max) * 255 + max / 2) / max;
    return static_cast<unsigned char>(bits ? 255 - light : light);  // a bit of 1 is ink
  }
};

/// False at the end of the file.
bool read_row(Scanner& scanner, const Format& format, cv::Mat row) {
  std::uint32_t packed = 0;
  for (int x = 0; x < row.cols; ++x) {
    auto& pixel = row.at<cv::Vec3b>(x);
    if (format.bits && !format.text) {
      if (x % 8 == 0) {
        const auto eight = scanner.byte();
        if (!eight) return false;
        packed = *eight;
      }
      pixel = cv::Vec3b::all((packed >> (7 - x % 8) & 1) != 0 ? 0 : 255);
      continue;
    }
    for (int c = 0; c < format.channels; ++c) {
      const auto sample = format.sample(scanner);
      if (!sample) return false;
      if (format.channels == 1) pixel = cv::Vec3b::all(*sample);
      if (format.channels == 3) pixel[2 - c] = *sample;
    }
  }
  return true;
}

}  // namespace

Decoded decode_pnm(const File& file) {
  const int kind = std::to_integer<int>(file[1]) - '0';
  Scanner scanner(file.subspan(2));
  const auto width = scanner.number(), height = scanner.number();
  const bool bits = kind == 1 || kind == 4;
  const auto max = bits ? std::optional<std::uint32_t>(1) : scanner.number();
  if (!width || !height || !max) return {};
  if (*max == 0 || *max > 65535)
    throw polychron::Error(
        polychron::ErrorKind::bad_data,
        "its brightest value is " + std::to_string(*max) + ", expected 1 to 65535");
  const Format format{kind == 3 || kind == 6 ? 3 : 1, kind <= 3, bits, *max};
  Decoded decoded;
  decoded.pixels = blank_picture(*width, *height, CV_8UC3, file.max_pixels);
  for (int y = 0; y < decoded.pixels.rows; ++y)
    if (!read_row(scanner, format, decoded.pixels.row(y))) {
      decoded.damage = "its end is missing";
      break;
    }
  return decoded;
}

}  // namespace ocr
