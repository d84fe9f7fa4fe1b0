// Every format of pictures, every kind of it, whole and damaged.
#include <png.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string_view>

#include "apps/ocr/picture.hpp"
#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"
#include "tests/tool/command.hpp"
#include "tests/tool/picture_files.hpp"

namespace {

using namespace std::string_view_literals;
using test_tool::FileBytes;

ocr::Picture decoded(const FileBytes& bytes) {
  return ocr::decode_picture(std::as_bytes(std::span(bytes)), "a picture");
}

ocr::Picture decoded(std::string_view text) { return decoded(FileBytes(text.begin(), text.end())); }

FileBytes first(const FileBytes& bytes, double share) {
  return {bytes.begin(),
          bytes.begin() + static_cast<long>(static_cast<double>(bytes.size()) * share)};
}

/// 40 by 24: an "L" of dark blue on light grey, which looks different after each turn.
cv::Mat letter() {
  cv::Mat picture(24, 40, CV_8UC3, cv::Scalar(220, 220, 220));
  picture(cv::Rect(8, 0, 8, 24)).setTo(cv::Scalar(160, 16, 16));
  picture(cv::Rect(8, 16, 24, 8)).setTo(cv::Scalar(160, 16, 16));
  return picture;
}

/// Something everywhere, so that damage shows.
cv::Mat colourful_page() {
  cv::Mat picture(400, 300, CV_8UC3, cv::Scalar(230, 240, 250));
  for (int y = 40; y < 400; y += 40)
    cv::putText(picture, "a line of text " + std::to_string(y), {10, y}, cv::FONT_HERSHEY_DUPLEX,
                0.8, {static_cast<double>(y) / 2, 30, 90}, 2);
  return picture;
}

/// Largest difference of a channel.
double difference(const cv::Mat& a, const cv::Mat& b) {
  BOOST_REQUIRE(a.size() == b.size());
  BOOST_REQUIRE(a.type() == b.type());
  return cv::norm(a, b, cv::NORM_INF);
}

void check_colour(const cv::Mat& pixels, int x, int y, cv::Vec3b expected) {
  const auto pixel = pixels.at<cv::Vec3b>(y, x);
  BOOST_TEST((pixel == expected), "at " << x << ", " << y << ": " << cv::Mat(pixel, false).t()
                                        << ", expected " << cv::Mat(expected, false).t());
}

/// For each orientation of EXIF, where the file's first pixel and its row's last one are shown:
/// share of the width, share of the height.
struct Turn {
  int orientation;
  cv::Point first, row_end;
};
const Turn turns[] = {{1, {0, 0}, {1, 0}}, {2, {1, 0}, {0, 0}}, {3, {1, 1}, {0, 1}},
                      {4, {0, 1}, {1, 1}}, {5, {0, 0}, {0, 1}}, {6, {1, 0}, {1, 1}},
                      {7, {1, 1}, {1, 0}}, {8, {0, 1}, {0, 0}}};

/// 16 by 8 pixels of grey with marks of 4 by 4: 0 at the first pixel, 255 at the end of its row.
cv::Mat marked() {
  cv::Mat picture(8, 16, CV_8UC1, cv::Scalar(128));
  picture(cv::Rect(0, 0, 4, 4)).setTo(0);
  picture(cv::Rect(12, 0, 4, 4)).setTo(255);
  return picture;
}

void check_turned(const cv::Mat& pixels, const Turn& turn) {
  BOOST_TEST_CONTEXT("orientation " << turn.orientation) {
    BOOST_TEST(pixels.cols == (turn.orientation < 5 ? 16 : 8));
    const auto at = [&](cv::Point share) {
      return int{pixels.at<cv::Vec3b>(share.y * (pixels.rows - 1), share.x * (pixels.cols - 1))[0]};
    };
    BOOST_TEST(at(turn.first) < 10);
    BOOST_TEST(at(turn.row_end) > 245);
  }
}

/// The headers of a BMP file of 2 by 2 pixels, which begin at `first`.
std::string small_bmp(std::string_view bits, std::string_view compression, char first) {
  return std::string("BM\0\0\0\0\0\0\0\0"sv) + first + std::string("\0\0\0\x28\0\0\0"sv) +
         std::string("\x02\0\0\0\x02\0\0\0\x01\0"sv) + std::string(bits) +
         std::string(compression) + std::string(20, '\0');
}

}  // namespace

BOOST_AUTO_TEST_SUITE(picture_formats)

BOOST_AUTO_TEST_CASE(every_type_of_png_is_read) {
  const std::vector<std::pair<int, std::vector<int>>> types{{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
                                                            {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
                                                            {PNG_COLOR_TYPE_RGB, {8, 16}},
                                                            {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
                                                            {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
  for (const auto& [type, depths] : types)
    for (const int depth : depths)
      for (const bool interlaced : {false, true})
        BOOST_TEST_CONTEXT("colour type " << type << ", " << depth << " bits, interlaced "
                                          << interlaced) {
          const auto picture = decoded(test_tool::half_black_png(type, depth, interlaced));
          BOOST_TEST(picture.damage == "");
          BOOST_REQUIRE((picture.pixels.size() == cv::Size(8, 2)));
          for (const int x : {0, 3}) check_colour(picture.pixels, x, 1, {0, 0, 0});
          for (const int x : {4, 7}) check_colour(picture.pixels, x, 1, {255, 255, 255});
        }
}

BOOST_AUTO_TEST_CASE(what_is_written_as_png_is_read_again) {
  const auto picture = colourful_page();
  BOOST_TEST(difference(decoded(ocr::encode_png(picture)).pixels, picture) == 0);
}

BOOST_AUTO_TEST_CASE(jpegs_of_colours_greys_and_inks_are_read) {
  for (const bool progressive : {false, true}) {
    const auto read = [&](const cv::Mat& picture) {
      const auto result = decoded(test_tool::jpeg(picture, {progressive, 0}));
      BOOST_TEST(result.damage == "");
      return result.pixels;
    };
    const auto colours = letter();
    // On the whole: JPEG blurs where colours meet.
    BOOST_TEST(cv::norm(read(colours), colours, cv::NORM_L1) / (3.0 * 40 * 24) < 6);
    check_colour(read(cv::Mat(8, 8, CV_8UC1, cv::Scalar(200))), 7, 7, {200, 200, 200});
    // No ink at all; cyan alone; all four.
    check_colour(read(cv::Mat(8, 8, CV_8UC4, cv::Scalar::all(255))), 0, 0, {255, 255, 255});
    check_colour(read(cv::Mat(8, 8, CV_8UC4, cv::Scalar(0, 255, 255, 255))), 0, 0, {255, 255, 0});
    check_colour(read(cv::Mat(8, 8, CV_8UC4, cv::Scalar::all(0))), 0, 0, {0, 0, 0});
  }
}

BOOST_AUTO_TEST_CASE(pictures_are_turned_upright) {
  for (const auto& turn : turns) {
    check_turned(decoded(test_tool::jpeg(marked(), {false, turn.orientation})).pixels, turn);
    check_turned(decoded(test_tool::tiff(marked(), false, turn.orientation)).pixels, turn);
  }
  check_turned(decoded(test_tool::jpeg(marked(), {false, 77})).pixels, turns[0]);
}

BOOST_AUTO_TEST_CASE(webp_and_tiff_are_read) {
  const auto colours = letter();
  BOOST_TEST(difference(decoded(test_tool::webp(colours)).pixels, colours) == 0);
  const cv::Mat clear(4, 4, CV_8UC4, cv::Scalar(0, 0, 0, 0));
  check_colour(decoded(test_tool::webp(clear)).pixels, 3, 3, {255, 255, 255});
  for (const bool compressed : {false, true}) {
    const auto picture = decoded(test_tool::tiff(marked(), compressed));
    BOOST_TEST(picture.damage == "");
    check_colour(picture.pixels, 8, 7, {128, 128, 128});
  }
}

// Netpbm's six formats, 2 by 2: black and white, and below them white and black.
BOOST_AUTO_TEST_CASE(pnm_is_read) {
  for (const auto text : {"P1 2 2 10 01"sv, "P2\n# a comment\n2 2\n9\n0 9 9 0"sv,
                          "P3 2 2 255 0 0 0 255 255 255 255 255 255 0 0 0"sv, "P4 2 2\n\x80\x40"sv,
                          "P5 2 2 255\n\0\xff\xff\0"sv, "P5 2 2 65535\n\0\0\xff\xff\xff\xff\0\0"sv,
                          "P6 2 2 255\n\0\0\0\xff\xff\xff\xff\xff\xff\0\0\0"sv}) {
    BOOST_TEST_CONTEXT(text) {
      const auto picture = decoded(text);
      BOOST_TEST(picture.damage == "");
      check_colour(picture.pixels, 0, 0, {0, 0, 0});
      check_colour(picture.pixels, 1, 0, {255, 255, 255});
      check_colour(picture.pixels, 0, 1, {255, 255, 255});
      check_colour(picture.pixels, 1, 1, {0, 0, 0});
    }
  }
  check_colour(decoded("P3 1 1 255 10 20 30"sv).pixels, 0, 0, {30, 20, 10});
  const auto part = decoded("P2 2 2 255 0 255"sv);
  BOOST_TEST(part.damage == "it is damaged or cut off (its end is missing)");
  for (const auto text : {"P1"sv, "P2 2"sv, "P2 2 2 0 1 1 1 1"sv, "P2 2 2 99999 1"sv, "P2 0 2 5"sv,
                          "P5 999999 999999 255 "sv, "P2 4444444444 1 1 1"sv})
    BOOST_CHECK_THROW(decoded(text), polychron::Error);
}

// 2 by 2: red and green, below them blue and white. The last row comes first.
BOOST_AUTO_TEST_CASE(bmp_is_read) {
  const auto plain = "\0\0\0\0"sv, masks = "\x03\0\0\0"sv;
  const std::vector<std::string> files{
      small_bmp("\x18\0"sv, plain, 54) + std::string("\xff\0\0\xff\xff\xff\0\0"sv) +
          std::string("\0\0\xff\0\xff\0\0\0"sv),
      small_bmp("\x20\0"sv, plain, 54) + std::string("\xff\0\0\0\xff\xff\xff\0"sv) +
          std::string("\0\0\xff\0\0\xff\0\0"sv),
      small_bmp("\x10\0"sv, plain, 54) + std::string("\x1f\0\xff\x7f"sv) +
          std::string("\0\x7c\xe0\x03"sv),
      small_bmp("\x10\0"sv, masks, 66) + std::string("\0\xf8\0\0\xe0\x07\0\0\x1f\0\0\0"sv) +
          std::string("\x1f\0\xff\xff"sv) + std::string("\0\xf8\xe0\x07"sv),
      small_bmp("\x04\0"sv, plain, 70) +
          std::string("\0\0\xff\0\0\xff\0\0\xff\0\0\0\xff\xff\xff\0"sv) +
          std::string("\x23\0\0\0\x01\0\0\0"sv)};
  for (std::size_t i = 0; i < files.size(); ++i) {
    BOOST_TEST_CONTEXT("file " << i) {
      const auto picture = decoded(std::string_view(files[i]));
      BOOST_TEST(picture.damage == "");
      check_colour(picture.pixels, 0, 0, {0, 0, 255});
      check_colour(picture.pixels, 1, 0, {0, 255, 0});
      check_colour(picture.pixels, 0, 1, {255, 0, 0});
      check_colour(picture.pixels, 1, 1, {255, 255, 255});
    }
  }
  const std::string_view cut(files[0].data(), files[0].size() - 8);
  BOOST_TEST(decoded(cut).damage == "it is damaged or cut off (its end is missing)");
  for (std::size_t size = 0; size < 54; ++size)
    BOOST_CHECK_THROW(decoded(std::string_view(files[0].data(), size)), polychron::Error);
  const auto run_length = small_bmp("\x08\0"sv, "\x01\0\0\0"sv, 54) + std::string(20, '\1');
  BOOST_CHECK_THROW(decoded(std::string_view(run_length)), polychron::Error);
}

// A damaged picture is right up to the damage, and the tool says that it is not whole.
BOOST_AUTO_TEST_CASE(the_first_part_of_a_picture_is_read_and_the_rest_missed) {
  const auto whole = colourful_page();
  cv::Mat grey;
  cv::cvtColor(whole, grey, cv::COLOR_BGR2GRAY);
  const cv::Rect top(0, 0, whole.cols, whole.rows / 4);
  const std::vector<std::pair<std::string, FileBytes>> files{
      {"PNG", ocr::encode_png(whole)},
      {"JPEG", test_tool::jpeg(whole)},
      {"WebP", test_tool::webp(whole)},
      {"TIFF", test_tool::tiff(grey, false)}};
  for (const auto& [format, bytes] : files) BOOST_TEST_CONTEXT(format) {
      const auto all = decoded(bytes);
      BOOST_TEST(all.damage == "");
      if (format == "TIFF") continue;  // its directory is the file's end
      const auto part = decoded(first(bytes, 0.6));
      BOOST_TEST(part.damage.starts_with("it is damaged or cut off ("), part.damage);
      BOOST_TEST(difference(all.pixels(top), part.pixels(top)) == 0);
      BOOST_TEST(difference(all.pixels, part.pixels) > 0);
    }
  const auto progressive = decoded(first(test_tool::jpeg(whole, {true, 0}), 0.6));
  BOOST_TEST(progressive.damage != "");
  BOOST_TEST(cv::norm(progressive.pixels, whole, cv::NORM_L1) / (3.0 * 300 * 400) < 20);
  auto wrong = ocr::encode_png(whole);
  wrong[wrong.size() / 2] ^= 0x55;
  BOOST_TEST(decoded(wrong).damage != "");
}

// At no length may a decoder read beyond the end, print, or give nothing for a picture.
BOOST_AUTO_TEST_CASE(of_every_length_a_picture_is_whole_damaged_or_refused) {
  const auto picture = letter();
  cv::Mat grey;
  cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
  for (const auto& whole :
       {ocr::encode_png(picture), test_tool::jpeg(picture), test_tool::jpeg(picture, {true, 6}),
        test_tool::webp(picture), test_tool::tiff(grey, true)}) {
    std::size_t refused = 0, damaged = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      try {
        const auto part =
            decoded(FileBytes(whole.begin(), whole.begin() + static_cast<long>(size)));
        BOOST_TEST((part.pixels.size() == picture.size() ||
                    part.pixels.size() == cv::Size(picture.rows, picture.cols)));
        if (!part.damage.empty()) ++damaged;
      } catch (const polychron::Error& error) {
        BOOST_TEST((error.kind() == polychron::ErrorKind::bad_data), error.what());
        ++refused;
      }
    }
    BOOST_TEST(refused > 0);
    BOOST_TEST(refused + damaged + 2 >= whole.size());  // a last byte may matter to nobody
    BOOST_TEST(decoded(whole).damage == "");
  }
}

// Whatever the bytes: a picture, a part of one, or a refusal. Under the sanitizers this has teeth.
BOOST_AUTO_TEST_CASE(wrong_bytes_are_read_or_refused) {
  const char* const given = std::getenv("POLYCHRON_SEED");
  const auto seed = given == nullptr ? 1u : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937 random(seed);
  cv::Mat grey;
  cv::cvtColor(letter(), grey, cv::COLOR_BGR2GRAY);
  const auto bmp = small_bmp("\x04\0"sv, "\0\0\0\0"sv, 70) + std::string(24, '\1');
  const auto pnm =
      "P3 # by hand\n3 2 255 0 10 20 30 40 50 60 70 80 90 100 110 120 130 140 150 1 2"sv;
  for (const auto& whole :
       {ocr::encode_png(letter()), test_tool::half_black_png(PNG_COLOR_TYPE_PALETTE, 2, true),
        test_tool::jpeg(letter(), {false, 6}), test_tool::webp(letter()),
        test_tool::tiff(grey, true, 6), FileBytes(bmp.begin(), bmp.end()),
        FileBytes(pnm.begin(), pnm.end())})
    for (int round = 0; round < 300; ++round) {
      auto bytes = whole;
      for (auto changes = random() % 3 + 1; changes != 0; --changes) {
        const auto at = random() % bytes.size();
        // A width of millions is right, and takes its time: not where most formats have theirs.
        if (at < 16 || at > 26) bytes[at] = static_cast<unsigned char>(random());
      }
      try {
        const auto picture = decoded(bytes);
        BOOST_TEST(!picture.pixels.empty());
        BOOST_TEST(picture.pixels.type() == CV_8UC3);
      } catch (const polychron::Error& error) {
        BOOST_TEST((error.kind() == polychron::ErrorKind::bad_data), error.what());
      }
    }
}

BOOST_AUTO_TEST_CASE(too_many_pixels_are_refused_before_they_are_read) {
  auto png = test_tool::half_black_png(PNG_COLOR_TYPE_GRAY, 8);
  png[17] = 0x10;  // of the width's four bytes
  png[21] = 0x10;  // of the height's
  try {
    decoded(png);
    BOOST_TEST(false, "a picture of 2^40 pixels was read");
  } catch (const polychron::Error& error) {
    BOOST_TEST(error.message() == "it has more than 268435456 pixels");
    BOOST_TEST(error.object() == "picture 'a picture'");
  }
}

BOOST_AUTO_TEST_SUITE_END()
