#include "apps/ocr/page_reader.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <opencv2/core/utility.hpp>
#include <utility>

#include "apps/ocr/reading_order.hpp"
#include "apps/ocr/turning.hpp"

namespace ocr {
namespace {

using polychron::Buffer;
using polychron::Error;
using polychron::ErrorKind;
using polychron::Shape;
using polychron::onnx::Session;
using polychron::onnx::Sessions;
using Bindings = std::map<std::string, Shape>;

/// Up to four page sizes are kept built; lines have twelve widths.
constexpr std::size_t max_detector_sessions = 4;
constexpr std::size_t max_recognizer_sessions = 12;
/// Lines in flight at a time: enough to keep the device busy, with a bound for memory.
constexpr std::size_t max_in_flight = 16;

Buffer input_buffer(cv::Size size) {
  return Buffer::uninitialized(static_cast<std::size_t>(size.area()) * 3 * sizeof(float));
}

Shape input_shape(cv::Size size) {
  return {1, 3, static_cast<std::uint32_t>(size.height), static_cast<std::uint32_t>(size.width)};
}

/// Throws bad_data if the model has not exactly one input and one output.
Sessions load(const polychron::Context& context, const std::filesystem::path& path,
              const std::string& label, std::size_t most) {
  const auto model = polychron::onnx::load(path);
  if (model.summary().inputs.size() != 1 || model.summary().outputs.size() != 1)
    throw Error(ErrorKind::bad_data, "expected a model with one input and one output")
        .with_object("model '" + path.string() + "'");
  return {context, model, {.most = most, .session = {.label = label}}};
}

Bindings of_size(const Sessions& sessions, cv::Size size) {
  return {{sessions.summary().inputs.front().name, input_shape(size)}};
}

/// Returns without waiting for the result. Any number of runs may be in flight.
polychron::Future<polychron::NamedBuffers> run(const Session& session, Buffer&& input) {
  polychron::NamedBuffers inputs;
  inputs.emplace_back(session.inputs().front().first, std::move(input));
  return session.run(std::move(inputs));
}

/// Refuses a model of the wrong kind, whose output would be read as nonsense.
void expect_output(const Shape& actual, const Shape& expected, const char* model) {
  if (actual != expected)
    throw Error(ErrorKind::bad_data, "its output has the shape " + polychron::to_string(actual) +
                                         ", expected " + polychron::to_string(expected))
        .with_object(std::string("the ") + model + " model");
}

}  // namespace

ModelFiles models_in(const std::filesystem::path& directory) {
  return {directory / "ch_PP-OCRv4_det_infer.onnx", directory / "ch_PP-OCRv4_rec_infer.onnx",
          directory / "ppocr_keys_v1.txt"};
}

PageReader::PageReader(polychron::Context context, const ModelFiles& files, ReaderOptions options)
    : options_(options),
      alphabet_(Alphabet::load(files.alphabet)),
      detector_(load(context, files.detector, "detector", max_detector_sessions)),
      recognizer_(load(context, files.recognizer, "recognizer", max_recognizer_sessions)) {
  cv::setNumThreads(1);  // the processors belong to Polychron
}

Page PageReader::read(const cv::Mat& picture, const Progress& progress) {
  if (picture.empty()) throw Error(ErrorKind::type_error, "the picture is empty");
  const auto [upright, quarters, lines, readings] =
      best_attempt(enlarge_small_page(picture), progress);

  const bool on_side = quarters % 2 != 0;
  const float scale =
      static_cast<float>(picture.cols) / static_cast<float>(on_side ? upright.rows : upright.cols);
  Page page{picture.size(), {}, 0, quarters * 90};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [text, confidence] = readings[i];
    if (text.empty()) continue;
    if (confidence < options_.min_confidence) {
      ++page.unreadable;
      continue;
    }
    auto corners = turned(lines[i], upright.size(), 4 - quarters);
    for (auto& corner : corners) corner *= scale;
    page.lines.push_back({text, confidence, corners});
  }
  return page;
}

PageReader::Attempt PageReader::attempt(cv::Mat picture, int quarters, std::vector<Corners> lines,
                                        const Progress& progress) {
  auto readings = recognize(picture, lines, progress);
  return {std::move(picture), quarters, std::move(lines), std::move(readings)};
}

PageReader::Attempt PageReader::best_attempt(const cv::Mat& picture, const Progress& progress) {
  auto upright = picture;
  int quarters = 0;
  auto lines = find(upright, progress);
  if (lies_on_a_side(lines)) {
    quarters = 3;  // a quarter would do as well: the code below finds out if it is upside down
    upright = turned(picture, quarters);
    lines = find(upright, progress);
  }
  auto first = attempt(upright, quarters, lines, progress);
  const auto certainty_of_first = certainty(first.lines, first.readings);
  if (lines.empty() || certainty_of_first >= options_.min_certainty) return first;

  // Upside down, a line may be found without its ends, or as two.
  const auto turned_over = turned(upright, 2);
  auto second = attempt(turned_over, (quarters + 2) % 4, find(turned_over, progress), progress);
  return certainty(second.lines, second.readings) > certainty_of_first ? second : first;
}

std::vector<Corners> PageReader::find(const cv::Mat& picture, const Progress& progress) {
  if (progress) progress("finding lines", 0, 1);
  const auto size = detector_size(picture.size(), options_.detection);
  auto lines = find(picture, size);
  const auto smaller = size_for_large_type(lines, picture.size(), size);
  if (smaller != size)
    if (auto whole = find(picture, smaller); !whole.empty()) lines = std::move(whole);
  if (progress) progress("finding lines", 1, 1);
  return lines;
}

std::vector<Corners> PageReader::find(const cv::Mat& picture, cv::Size size) {
  detector_.prepare(of_size(detector_, size));  // is built while the picture is resized
  auto input = input_buffer(size);
  fill_detector_input(picture, size, input.as<float>());
  const auto session = detector_.at(of_size(detector_, size));
  auto map_shape = input_shape(size);
  map_shape[1] = 1;
  expect_output(session.outputs().front().second.shape, map_shape, "detector");
  const auto outputs = run(session, std::move(input)).get();
  return find_lines(outputs.front().second.as<float>(), size, picture.size(), options_.detection);
}

std::vector<Reading> PageReader::recognize(const cv::Mat& picture,
                                           const std::vector<Corners>& lines,
                                           const Progress& progress) {
  struct LinePart {
    std::size_t line;
    Part part;
    cv::Mat pixels;
  };
  const auto size_of = [](const Part& part) {
    return cv::Size(width_bucket(part.width), line_height);
  };
  std::vector<LinePart> parts;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const auto scaled = scaled_line(cut_line(picture, lines[line]));
    for (const auto& part : parts_of_line(scaled.cols)) {
      parts.push_back({line, part, scaled.colRange(part.start, part.start + part.width)});
      recognizer_.prepare(of_size(recognizer_, size_of(part)));  // all are built from now on
    }
  }

  std::vector<std::vector<Step>> paths(lines.size());
  std::deque<polychron::Future<polychron::NamedBuffers>> in_flight;
  std::size_t finished = 0;
  const auto finish_oldest = [&] {
    const auto outputs = in_flight.front().get();
    const auto& probabilities = outputs.front().second;
    in_flight.pop_front();
    const auto& [line, part, pixels] = parts[finished++];
    auto path = best_path(probabilities.as<float>(), alphabet_.classes());
    // Converts pixels to steps, as this model has them. The rest of a part that others follow is
    // padding.
    const auto pixels_wide = static_cast<std::size_t>(width_bucket(part.width));
    const auto steps_before = [&](int pixel) {
      return static_cast<std::size_t>(pixel) * path.size() / pixels_wide;
    };
    join_paths(paths[line], path, steps_before(part.start));
    const bool is_last = finished == parts.size() || parts[finished].line != line;
    if (!is_last) paths[line].resize(steps_before(part.start) + steps_before(part.width));
    if (progress && is_last) progress("reading lines", line + 1, lines.size());
  };
  for (const auto& [line, part, pixels] : parts) {
    const auto size = size_of(part);
    const auto session = recognizer_.at(of_size(recognizer_, size));
    const auto& output = session.outputs().front().second.shape;
    const auto steps = output.size() == 3 ? output[1] : 0;
    expect_output(output, {1, steps, static_cast<std::uint32_t>(alphabet_.classes())},
                  "recognizer");
    auto input = input_buffer(size);
    fill_recognizer_input(pixels, size.width, input.as<float>());
    if (in_flight.size() == max_in_flight) finish_oldest();
    in_flight.push_back(run(session, std::move(input)));
  }
  while (!in_flight.empty()) finish_oldest();

  std::vector<Reading> readings;
  for (const auto& path : paths) readings.push_back(decode_greedily(path, alphabet_));
  return readings;
}

}  // namespace ocr
