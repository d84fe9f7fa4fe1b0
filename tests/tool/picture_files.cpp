#include "tests/tool/picture_files.hpp"

#include <png.h>
#include <tiffio.h>
#include <webp/encode.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

#include "apps/ocr/picture_formats.hpp"
#include "tests/tool/command.hpp"

namespace test_tool {
namespace {

constexpr int width = 8, height = 2;

/// The samples of the left or the right half's pixels, as shares of the largest value.
std::vector<int> samples(int colour_type, bool right) {
  switch (colour_type) {
    case PNG_COLOR_TYPE_GRAY:
    case PNG_COLOR_TYPE_PALETTE:
      return {right ? 1 : 0};
    case PNG_COLOR_TYPE_RGB:
      return {right ? 1 : 0, right ? 1 : 0, right ? 1 : 0};
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return {0, right ? 0 : 1};
    default:
      return {0, 0, 0, right ? 0 : 1};
  }
}

/// Samples one after the other, `depth` bits each, the highest first.
std::vector<png_byte> packed_row(int colour_type, int depth) {
  std::vector<bool> bits;
  for (int x = 0; x < width; ++x)
    for (const int sample : samples(colour_type, x >= width / 2))
      for (int bit = depth; bit-- != 0;)  // of a palette's index, 1 is the lowest bit alone
        bits.push_back(sample != 0 && (colour_type != PNG_COLOR_TYPE_PALETTE || bit == 0));
  std::vector<png_byte> bytes((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) bytes[i / 8] = static_cast<png_byte>(bytes[i / 8] | 0x80 >> i % 8);
  return bytes;
}

void append(png_structp png, png_bytep piece, std::size_t size) {
  auto& bytes = *static_cast<FileBytes*>(png_get_io_ptr(png));
  bytes.insert(bytes.end(), piece, piece + size);
}

/// A TIFF header, one entry in its directory, and zeros for the next directory.
FileBytes exif_with(int orientation) {
  return {
      'E', 'x', 'i', 'f', 0,    0, 'M', 'M', 0, 42, 0, 0, 0,
      8,   0,   1,   1,   0x12, 0, 3,   0,   0, 0,  1, 0, static_cast<unsigned char>(orientation),
      0,   0,   0,   0,   0,    0};
}

}  // namespace

FileBytes half_black_png(int colour_type, int depth, bool interlaced) {
  FileBytes bytes;
  auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  auto* info = png_create_info_struct(png);
  png_set_write_fn(png, &bytes, append, nullptr);
  png_set_IHDR(png, info, width, height, depth, colour_type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (colour_type == PNG_COLOR_TYPE_PALETTE) {
    const std::array<png_color, 2> palette{png_color{0, 0, 0}, png_color{255, 0, 0}};
    const std::array<png_byte, 2> alpha{255, 0};
    png_set_PLTE(png, info, palette.data(), 2);
    png_set_tRNS(png, info, alpha.data(), 2, nullptr);
  }
  png_write_info(png, info);
  auto row = packed_row(colour_type, depth);
  for (int pass = png_set_interlace_handling(png); pass != 0; --pass)
    for (int y = 0; y < height; ++y) png_write_row(png, row.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

FileBytes jpeg(const cv::Mat& picture, const JpegOptions& options) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.cols);
  jpeg.image_height = static_cast<JDIMENSION>(picture.rows);
  jpeg.input_components = picture.channels();
  jpeg.in_color_space = picture.channels() == 1   ? JCS_GRAYSCALE
                        : picture.channels() == 3 ? JCS_EXT_BGR
                                                  : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  if (options.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  if (options.orientation != 0) {
    const auto exif = exif_with(options.orientation);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  for (int y = 0; y < picture.rows; ++y) {
    auto* row = const_cast<JSAMPROW>(picture.ptr(y));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  const FileBytes bytes(memory, memory + size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return bytes;
}

FileBytes webp(const cv::Mat& picture) {
  std::uint8_t* memory = nullptr;
  const auto encode = picture.channels() == 4 ? WebPEncodeLosslessBGRA : WebPEncodeLosslessBGR;
  const auto size =
      encode(picture.data, picture.cols, picture.rows, static_cast<int>(picture.step), &memory);
  const FileBytes bytes(memory, memory + size);
  WebPFree(memory);
  return bytes;
}

FileBytes tiff(const cv::Mat& picture, bool compressed, int orientation) {
  const TemporaryDirectory directory;
  const auto path = directory / "picture.tif";
  auto* file = TIFFOpen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("no TIFF file can be made");
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, picture.cols);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, picture.rows);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 1);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(file, TIFFTAG_COMPRESSION, compressed ? COMPRESSION_LZW : COMPRESSION_NONE);
  TIFFSetField(file, TIFFTAG_ORIENTATION, orientation);
  for (int y = 0; y < picture.rows; ++y)
    TIFFWriteScanline(file, const_cast<unsigned char*>(picture.ptr(y)), static_cast<unsigned>(y),
                      0);
  TIFFClose(file);
  const auto text = read_text(path);
  return {text.begin(), text.end()};
}

void write_file(const std::string& path, const FileBytes& bytes) {
  write_text(path, std::string(bytes.begin(), bytes.end()));
}

void write_png(const std::string& path, const cv::Mat& picture) {
  cv::Mat colours = picture;
  if (picture.channels() == 1) cv::cvtColor(picture, colours, cv::COLOR_GRAY2BGR);
  write_file(path, ocr::encode_png(colours));
}

}  // namespace test_tool
