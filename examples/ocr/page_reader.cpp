#include "examples/ocr/page_reader.hpp"

#include <deque>
#include <opencv2/core/utility.hpp>
#include <utility>

namespace ocr {
namespace {

using polychron::Buffer;
using polychron::Error;
using polychron::ErrorKind;
using polychron::Shape;

/// Pages of at most four sizes are served without building; lines have twelve widths.
constexpr std::size_t max_detector_graphs = 4;
constexpr std::size_t max_recognizer_graphs = 12;
/// Lines on their way at a time: enough to keep the device busy, and a bound for memory.
constexpr std::size_t max_in_flight = 16;

Buffer input_buffer(cv::Size size) {
  return Buffer::uninitialized(static_cast<std::size_t>(size.area()) * 3 * sizeof(float));
}

Shape input_shape(cv::Size size) {
  return {1, 3, static_cast<std::uint32_t>(size.height), static_cast<std::uint32_t>(size.width)};
}

/// A model of the wrong kind would otherwise be read as nonsense.
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
      detector_(context, files.detector, "detector", max_detector_graphs),
      recognizer_(context, files.recognizer, "recognizer", max_recognizer_graphs) {
  cv::setNumThreads(1);  // the processors are Polychron's
}

Page PageReader::read(const cv::Mat& picture, const Progress& progress) {
  if (picture.empty()) throw Error(ErrorKind::type_error, "the picture is empty");
  if (progress) progress("finding lines", 0, 1);
  const auto enlarged = enlarge_small_page(picture);
  const auto lines = find(enlarged);
  if (progress) progress("finding lines", 1, 1);
  const auto readings = recognize(enlarged, lines, progress);

  const float scale = static_cast<float>(picture.cols) / static_cast<float>(enlarged.cols);
  Page page{picture.size(), {}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [text, confidence] = readings[i];
    if (text.empty() || confidence < options_.min_confidence) continue;
    auto corners = lines[i];
    for (auto& corner : corners) corner *= scale;
    page.lines.push_back({text, confidence, corners});
  }
  return page;
}

std::vector<Corners> PageReader::find(const cv::Mat& picture) {
  const auto size = detector_size(picture.size(), options_.detection);
  auto& graph = detector_.graph_for(input_shape(size));
  auto input = input_buffer(size);
  fill_detector_input(picture, size, input.as<float>());
  auto map_shape = graph.input_shape();
  map_shape[1] = 1;
  expect_output(graph.output_shape(), map_shape, "detector");
  const auto map = graph.run(std::move(input)).get();
  return find_lines(map.as<float>(), size, picture.size(), options_.detection);
}

ShapedGraph& PageReader::graph_for_line(int width) {
  return recognizer_.graph_for(input_shape({width, line_height}));
}

std::vector<Reading> PageReader::recognize(const cv::Mat& picture,
                                           const std::vector<Corners>& lines,
                                           const Progress& progress) {
  std::vector<cv::Mat> cuts;
  for (const auto& corners : lines) {
    cuts.push_back(cut_line(picture, corners));
    graph_for_line(width_bucket(cuts.back().size()));  // all of them start to build now
  }

  std::vector<Reading> readings;
  std::deque<polychron::Future<Buffer>> in_flight;
  const auto finish_oldest = [&] {
    const auto probabilities = in_flight.front().get();
    in_flight.pop_front();
    readings.push_back(decode_greedily(probabilities.as<float>(), alphabet_));
    if (progress) progress("reading lines", readings.size(), lines.size());
  };
  for (const auto& line : cuts) {
    const int width = width_bucket(line.size());
    auto& graph = graph_for_line(width);
    const auto& output = graph.output_shape();
    const auto steps = output.size() == 3 ? output[1] : 0;
    expect_output(output, {1, steps, static_cast<std::uint32_t>(alphabet_.classes())},
                  "recognizer");
    auto input = input_buffer({width, line_height});
    fill_recognizer_input(line, width, input.as<float>());
    if (in_flight.size() == max_in_flight) finish_oldest();
    in_flight.push_back(graph.run(std::move(input)));
  }
  while (!in_flight.empty()) finish_oldest();
  return readings;
}

}  // namespace ocr
