// How pages that were read are told: as text or as JSON on standard output, and what is to be
// doubted on standard error.
#pragma once

#include <cstddef>
#include <string>

#include "examples/ocr/page.hpp"
#include "examples/ocr/picture.hpp"

namespace tool {

/// Lines that are read with less are called uncertain: most of them have a mistake.
inline constexpr float certain = 0.87f;

/// Tells each page as it comes: of one picture its text or object alone, of several with their
/// names. Used by one thread.
class OcrOutput {
 public:
  OcrOutput(bool json, std::size_t pictures) : json_(json), several_(pictures > 1) {}

  void add(const std::string& name, const ocr::Picture& picture, const ocr::Page& page);
  /// A picture that could not be read, and was told about on standard error.
  void add_failure(const std::string& name, const std::string& why);
  /// After the last one.
  void end();

 private:
  void begin_text(const std::string& name);
  void add_json(const std::string& object);

  bool json_, several_;
  std::size_t told_ = 0;
};

}  // namespace tool
