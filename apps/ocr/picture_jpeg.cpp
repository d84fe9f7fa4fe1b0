// JPEG, by libjpeg-turbo.
#include <csetjmp>
#include <cstdio>
#include <cstring>
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

#include "apps/ocr/picture_formats.hpp"

namespace ocr {
namespace {

constexpr int app1 = JPEG_APP0 + 1;

/// libjpeg's reports of errors. It gives up by longjmp(), which runs no destructors. So no object
/// with a destructor may be alive between setjmp() and there.
struct Problems {
  jpeg_error_mgr manager{};  ///< first: libjpeg hands out its address
  std::jmp_buf given_up{};
  char first[JMSG_LENGTH_MAX] = "";
};

Problems& problems_of(j_common_ptr jpeg) { return *reinterpret_cast<Problems*>(jpeg->err); }

void note(j_common_ptr jpeg) {
  auto& problems = problems_of(jpeg);
  if (problems.first[0] == '\0') problems.manager.format_message(jpeg, problems.first);
}

[[noreturn]] void give_up(j_common_ptr jpeg) {
  note(jpeg);
  std::longjmp(problems_of(jpeg).given_up, 1);
}

/// Levels below 0 are warnings: the data are wrong, and libjpeg goes on as well as it can.
void take_message(j_common_ptr jpeg, int level) {
  if (level < 0) note(jpeg);
}

void print_nothing(j_common_ptr) {}

/// Scans of a progressive picture. Each costs time for all pixels, however few bytes it has; honest
/// pictures have about ten.
constexpr int max_scans = 100;

void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > max_scans) {
    std::snprintf(problems_of(jpeg).first, JMSG_LENGTH_MAX, "more than %d scans", max_scans);
    give_up(jpeg);
  }
}

/// False if libjpeg gave up.
template <typename Steps>
bool completes(Problems& problems, const Steps& steps) {
  if (setjmp(problems.given_up) != 0) return false;
  steps();
  return true;
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
  constexpr char head[] = "Exif\0";  // and another zero, which the array has
  for (const auto* marker = jpeg.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->marker != app1 || marker->data_length < sizeof head) continue;
    const auto data = std::as_bytes(std::span(marker->data, marker->data_length));
    if (std::memcmp(data.data(), head, sizeof head) == 0)
      return exif_orientation(data.subspan(sizeof head));
  }
  return 1;
}

/// Adobe's programs store inks as light, 255 for none, and all others have followed.
cv::Mat from_inks(const cv::Mat& picture) {
  cv::Mat result(picture.size(), CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    const auto* from = picture.ptr<cv::Vec4b>(y);
    auto* to = result.ptr<cv::Vec3b>(y);
    for (int x = 0; x < picture.cols; ++x)
      for (int c = 0; c < 3; ++c)  // cyan takes away red, magenta green, yellow blue
        to[x][2 - c] = static_cast<unsigned char>(int{from[x][c]} * from[x][3] / 255);
  }
  return result;
}

void decode_with(jpeg_decompress_struct& jpeg, Problems& problems, const File& file,
                 Decoded& decoded) {
  const bool has_head = completes(problems, [&] {
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_save_markers(&jpeg, app1, 0xffff);
    jpeg_read_header(&jpeg, TRUE);
  });
  if (!has_head) return;
  decoded.orientation = orientation_of(jpeg);
  const bool inks = jpeg.num_components == 4;
  jpeg.out_color_space = inks ? JCS_CMYK : JCS_EXT_BGR;
  decoded.pixels =
      blank_picture(jpeg.image_width, jpeg.image_height, inks ? CV_8UC4 : CV_8UC3, file.max_pixels);
  if (inks) decoded.pixels.setTo(cv::Scalar::all(255));
  completes(problems, [&] {
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = decoded.pixels.ptr(static_cast<int>(jpeg.output_scanline));
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
  });
  if (inks) decoded.pixels = from_inks(decoded.pixels);
}

}  // namespace

Decoded decode_jpeg(const File& file) {
  Problems problems;
  jpeg_decompress_struct jpeg{};
  jpeg.err = jpeg_std_error(&problems.manager);
  problems.manager.error_exit = give_up;
  problems.manager.emit_message = take_message;
  problems.manager.output_message = print_nothing;
  if (!completes(problems, [&] { jpeg_create_decompress(&jpeg); })) throw std::bad_alloc();
  const struct Cleanup {
    jpeg_decompress_struct& jpeg;
    ~Cleanup() { jpeg_destroy_decompress(&jpeg); }
  } cleanup{jpeg};

  Decoded decoded;
  jpeg_progress_mgr progress{};
  progress.progress_monitor = count_scans;
  jpeg.progress = &progress;
  decode_with(jpeg, problems, file, decoded);
  decoded.damage = problems.first;
  return decoded;
}

}  // namespace ocr
