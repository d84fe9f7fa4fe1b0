// The output of recognized pages: text or JSON on standard output, and uncertain lines on standard
// error.
#pragma once

#include <cstddef>
#include <string>

#include "apps/ocr/page.hpp"
#include "apps/ocr/picture.hpp"

namespace tool {

/// Lines with a lower confidence are called uncertain: most of them have a mistake.
inline constexpr float certain = 0.87f;

/// Prints each page when it is ready: for one picture only its text or object, for several with
/// their names. Used by one thread.
class OcrOutput {
 public:
  OcrOutput(bool json, std::size_t pictures) : json_(json), several_(pictures > 1) {}

  void add(const std::string& name, const ocr::Picture& picture, const ocr::Page& page);
  /// Adds a picture that failed and was reported on standard error.
  void add_failure(const std::string& name, const std::string& why);
  /// Call it after the last picture.
  void end();

 private:
  void begin_text(const std::string& name);
  void add_json(const std::string& object);

  bool json_, several_;
  std::size_t told_ = 0;
};

}  // namespace tool
