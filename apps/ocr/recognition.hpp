// Reading a line of text: cutting it out, the input of PP-OCR's recogniser, and the meaning of its
// answer. Pure functions and an immutable alphabet.
#pragma once

#include <cstddef>
#include <filesystem>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "apps/ocr/page.hpp"

namespace ocr {

/// Lines are scaled to this height.
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

/// Cuts a line out of the picture, turned so that it runs from left to right. A tall line is taken
/// to run upwards or downwards, and is turned to the left.
cv::Mat cut_line(const cv::Mat& picture, const Corners& corners);

/// The line scaled to line_height, with its proportions. It is squeezed if it is more than 640
/// times as long as it is high.
cv::Mat scaled_line(const cv::Mat& line);

/// The beginning and the width of a part of a scaled line.
struct Part {
  int start, width;
};

/// Long lines are read in parts, which overlap by four times their height, since the recogniser was
/// made for short ones. Parts begin where the recogniser makes a step.
std::vector<Part> parts_of_line(int width);

/// The width of the recogniser's input for a part: one of a few, so that parts share graphs.
int width_bucket(int width);

/// Fills `input`, [1, 3, line_height, width], with a part of a scaled line, normalised and padded.
void fill_recognizer_input(const cv::Mat& part, int width, std::span<float> input);

/// The recogniser's answer for one step: the best class and its probability.
struct Step {
  std::size_t best;
  float probability;
};

/// `probabilities` is [steps, classes]. Precondition: its size is a multiple of `classes`.
std::vector<Step> best_path(std::span<const float> probabilities, std::size_t classes);

/// Joins `next`, whose first step is step `start` of the line, to `path`. The seam lies where they
/// overlap, in the middle of a gap between characters that both see.
void join_paths(std::vector<Step>& path, std::span<const Step> next, std::size_t start);

struct Reading {
  std::string text;
  float confidence = 0;  ///< mean probability of the characters; 0 if there are none
};

/// Greedy decoding of connectionist temporal classification (Graves et al., ICML 2006): the best
/// class of each step, without repetitions and blanks.
Reading decode_greedily(std::span<const Step> path, const Alphabet& alphabet);

}  // namespace ocr
