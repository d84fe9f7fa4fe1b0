// PNG, by libpng.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"

namespace ocr {
namespace {

/// The state of libpng's callbacks. It gives up by longjmp(), which runs no destructors. So no
/// object with a destructor may be alive between setjmp() and there.
struct State {
  cv::Mat* canvas = nullptr;
  std::vector<unsigned char>* written = nullptr;
  bool complete = false;
  char message[160] = "";
};

State& state_of(png_structp png) { return *static_cast<State*>(png_get_error_ptr(png)); }

[[noreturn]] void give_up(png_structp png, png_const_charp message) {
  std::snprintf(state_of(png).message, sizeof State::message, "%s", message);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// False if libpng gave up.
template <typename Steps>
bool completes(png_structp png, const Steps& steps) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  steps();
  return true;
}

void choose_pixels(png_structp png, png_infop info) {
  png_set_expand(png);  // palettes, fewer than 8 bits, a colour that is transparent
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_bgr(png);
  png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

void take_row(png_structp png, png_bytep row, png_uint_32 y, int) {
  png_progressive_combine_row(png, state_of(png).canvas->ptr(static_cast<int>(y)), row);
}

void end(png_structp png, png_infop) { state_of(png).complete = true; }

void write_piece(png_structp png, png_bytep piece, std::size_t size) {
  auto& written = *state_of(png).written;
  written.insert(written.end(), piece, piece + size);
}

std::uint32_t big_endian(Bytes bytes) {
  std::uint32_t value = 0;
  for (const auto byte : bytes.first(4)) value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

}  // namespace

Decoded decode_png(const File& file) {
  // The signature of 8 bytes; length, name, width and height in the chunk that must come first.
  if (file.size() < 24 || std::memcmp(file.data() + 12, "IHDR", 4) != 0) return {};
  Decoded decoded;
  decoded.pixels = blank_picture(big_endian(file.subspan(16)), big_endian(file.subspan(20)),
                                 CV_8UC4, file.max_pixels);

  State state{&decoded.pixels};
  auto* png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, give_up, ignore_warning);
  auto* info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr) throw std::bad_alloc();
  png_set_progressive_read_fn(png, nullptr, choose_pixels, take_row, end);
  const bool sound = completes(png, [&] {
    png_process_data(png, info,
                     const_cast<png_bytep>(reinterpret_cast<png_const_bytep>(file.data())),
                     file.size());
  });
  if (!sound) {
    decoded.damage = state.message;
  } else if (!state.complete) {
    decoded.damage = "its end is missing";
  }
  png_bytep exif = nullptr;
  png_uint_32 exif_size = 0;
  if (png_get_eXIf_1(png, info, &exif_size, &exif) != 0)
    decoded.orientation = exif_orientation(std::as_bytes(std::span(exif, exif_size)));
  png_destroy_read_struct(&png, &info, nullptr);
  return decoded;
}

std::vector<unsigned char> encode_png(const cv::Mat& picture) {
  std::vector<unsigned char> bytes;
  State state;
  state.written = &bytes;
  auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, give_up, ignore_warning);
  auto* info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr) throw std::bad_alloc();
  const bool sound = completes(png, [&] {
    png_set_write_fn(png, nullptr, write_piece, nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.cols),
                 static_cast<png_uint_32>(picture.rows), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3);  // level 3 is fast, and drawings are looked at once
    png_write_info(png, info);
    png_set_bgr(png);
    for (int y = 0; y < picture.rows; ++y) png_write_row(png, picture.ptr(y));
    png_write_end(png, nullptr);
  });
  png_destroy_write_struct(&png, &info);
  if (!sound)
    throw polychron::Error(polychron::ErrorKind::operation_error,
                           std::string("no PNG file can be made: ") + state.message);
  return bytes;
}

}  // namespace ocr
