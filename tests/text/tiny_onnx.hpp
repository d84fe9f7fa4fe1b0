// The tiny model as an exported ONNX language model: a folder with model.onnx and the files of its
// tokenizer, as onnx-community publishes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace text_tests {

struct TinyModel;

/// How attention is written.
enum class Export : std::uint8_t {
  grouped,  ///< GroupQueryAttention, which rotates and finds positions by the mask
  plain     ///< operators of ONNX, with positions and a past that is put in front
};

/// The bytes of model.onnx: a decoder of llama's or qwen2's architecture. `extra_logits` more than
/// there are tokens are the most probable ones: nobody must choose them.
std::string onnx_bytes(const TinyModel& tiny, Export kind, std::uint32_t extra_logits = 0);

/// tokenizer.json; of byte-pair encoding, or of Gemma's tokens.
std::string tokenizer_json(const TinyModel& tiny);

/// All files of a folder, by name.
std::map<std::string, std::string> onnx_folder(const TinyModel& tiny, Export kind);

/// A folder that is gone with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::map<std::string, std::string>& files);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace text_tests
