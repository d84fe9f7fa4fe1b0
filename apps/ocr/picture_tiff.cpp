// TIFF, by libtiff: the first picture of a file, of any compression and colours.
#include <tiffio.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "apps/ocr/picture_formats.hpp"

namespace ocr {
namespace {

/// A file in memory, as libtiff reads it.
struct Source {
  Bytes file;
  std::uint64_t position = 0;

  static Source& of(thandle_t handle) { return *static_cast<Source*>(handle); }
};

tmsize_t read(thandle_t handle, void* to, tmsize_t size) {
  auto& source = Source::of(handle);
  if (source.position >= source.file.size()) return 0;
  const auto from = source.file.subspan(source.position);
  const auto count = std::min(from.size(), static_cast<std::size_t>(size));
  std::memcpy(to, from.data(), count);
  source.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write(thandle_t, void*, tmsize_t) { return -1; }

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& source = Source::of(handle);
  std::uint64_t base = 0;
  if (whence == SEEK_CUR) base = source.position;
  if (whence == SEEK_END) base = source.file.size();
  return source.position = base + offset;
}

int close(thandle_t) { return 0; }
toff_t size(thandle_t handle) { return Source::of(handle).file.size(); }

/// libtiff gives colours that are already multiplied by alpha.
cv::Vec3b on_white(std::uint32_t pixel) {
  const auto white = 255 - TIFFGetA(pixel);
  const auto laid = [&](std::uint32_t colour) {
    return static_cast<unsigned char>(std::min<std::uint32_t>(255, colour + white));
  };
  return {laid(TIFFGetB(pixel)), laid(TIFFGetG(pixel)), laid(TIFFGetR(pixel))};
}

}  // namespace

Decoded decode_tiff(const File& file) {
  // For the whole process: by default both print.
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  Source source{file};
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(
      TIFFClientOpen("picture", "rm", &source, read, write, seek, close, size, nullptr, nullptr),
      TIFFClose);
  if (!tiff) return {};
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetField(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  // libtiff turns and mirrors too, except where height and width change places.
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  Decoded decoded;
  decoded.orientation = orientation;
  decoded.pixels = blank_picture(width, height, CV_8UC3, file.max_pixels);
  std::vector<std::uint32_t> raster(std::size_t{width} * height);
  constexpr int stop_at_errors = 0;
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT,
                                stop_at_errors) == 0)
    decoded.damage = "its data are wrong or missing";
  for (int y = 0; y < decoded.pixels.rows; ++y)
    for (int x = 0; x < decoded.pixels.cols; ++x)
      decoded.pixels.at<cv::Vec3b>(y, x) =
          on_white(raster[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)]);
  return decoded;
}

}  // namespace ocr
