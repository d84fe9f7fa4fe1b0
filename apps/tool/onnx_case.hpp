// A test of the ONNX project's own suite: a directory with a model, inputs and expected outputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polychron/onnx.hpp"
#include "polychron/polychron.hpp"

namespace tool {

enum class OnnxOutcome { passed, failed, refused, skipped };

struct OnnxVerdict {
  OnnxOutcome outcome = OnnxOutcome::passed;
  std::string reason;                  ///< one line; empty if it passed
  std::vector<std::string> operators;  ///< of the model; empty if it could not be loaded
  std::vector<std::string> constants;  ///< inputs whose values the import needed
};

/// Runs tests one after the other. Used by one thread.
class OnnxRunner {
 public:
  explicit OnnxRunner(std::string device = "cpu");
  /// `directory` has model.onnx, and input_K.pb and output_K.pb in each test_data_set_N. Never
  /// throws because of the content of these files.
  OnnxVerdict run(const std::filesystem::path& directory);

 private:
  polychron::Runtime runtime_;
  const std::string device_;
  polychron::Context context_;
};

/// The directories at or below `root` that have a model.onnx, sorted. Throws
/// std::filesystem::filesystem_error.
std::vector<std::filesystem::path> find_onnx_tests(const std::filesystem::path& root);

}  // namespace tool
