// Reading a line of text: cutting it out, what goes into PP-OCR's recogniser, and what its answer
// means. Pure functions and an immutable alphabet.
#pragma once

#include <cstddef>
#include <filesystem>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "examples/ocr/page.hpp"

namespace ocr {

/// Lines are brought to this height.
inline constexpr int line_height = 48;

/// The characters that the recogniser tells apart. Class 0 is "nothing here", the classes after it
/// are the lines of the alphabet's file, the last is a space.
class Alphabet {
 public:
  /// Throws polychron::Error (bad_data): missing, unreadable, empty.
  static Alphabet load(const std::filesystem::path& path);
  explicit Alphabet(std::vector<std::string> characters);

  std::size_t classes() const noexcept { return characters_.size(); }
  const std::string& operator[](std::size_t index) const { return characters_.at(index); }

 private:
  std::vector<std::string> characters_;  ///< by class
};

/// Cuts a line out of the picture, turned so that it runs from left to right. Tall lines are taken
/// to run upwards or downwards, and turned to the left.
cv::Mat cut_line(const cv::Mat& picture, const Corners& corners);

/// The width that the recogniser's input gets for a line of `size`: one of a few, so that lines
/// share graphs. Lines that are longer than the largest are squeezed into it.
int width_bucket(cv::Size size);

/// Fills `input`, [1, 3, line_height, width], with the line, resized, normalised and padded.
void fill_recognizer_input(const cv::Mat& line, int width, std::span<float> input);

struct Reading {
  std::string text;
  float confidence = 0;  ///< mean probability of the characters; 0 if there are none
};

/// Greedy decoding of connectionist temporal classification (Graves et al., ICML 2006):
/// `probabilities` is [steps, classes]; the best class of each step, without repetitions and
/// blanks. Precondition: its size is a multiple of the alphabet's.
Reading decode_greedily(std::span<const float> probabilities, const Alphabet& alphabet);

}  // namespace ocr
