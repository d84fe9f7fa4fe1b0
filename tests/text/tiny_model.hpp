// Language models that tests make: a few layers of random weights, and a tokenizer with a token for
// each byte and a few merges: SentencePiece's for Gemma. With the same decoders once more, in plain
// loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace text_tests {

/// Bytes of a GGUF file under construction.
struct Bytes {
  std::string data;
  template <class T>
  Bytes& number(T value) {
    data.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Bytes& string(const std::string& value) {
    number(std::uint64_t{value.size()});
    data += value;
    return *this;
  }
};

/// GGUF's types of values.
enum Kind : std::uint32_t { u32 = 4, i32 = 5, f32 = 6, boolean = 7, text = 8, array = 9 };

struct FileTensor {
  std::string name;
  std::vector<std::uint64_t> dimensions;  ///< innermost first
  std::uint32_t type = 0;                 ///< F32
  std::string bytes;
  std::uint64_t offset = ~std::uint64_t{0};  ///< by default behind the one before
};

/// A file, whose parts a test may change before it is written.
struct File {
  std::uint32_t version = 3;
  std::vector<std::pair<std::string, Bytes>> values;  ///< key; type and value
  std::vector<FileTensor> tensors;

  File& add(const std::string& key, std::uint32_t value);
  File& add(const std::string& key, float value);
  File& add(const std::string& key, const std::string& value);
  File& add(const std::string& key, const std::vector<std::string>& value);
  /// Of int32.
  File& add(const std::string& key, const std::vector<std::int32_t>& value);
  File& add(const std::string& key, const std::vector<float>& value);
  void remove(const std::string& key);
  Bytes& value(const std::string& key);
  FileTensor& tensor(const std::string& name);
  std::string bytes() const;
};

/// A decoder's numbers, and its weights by name.
struct TinyModel {
  explicit TinyModel(std::uint64_t seed = 1, std::string of = "llama");

  static constexpr std::uint32_t width = 64, heads = 4, groups = 2, hidden = 96, context = 160;
  std::string architecture;
  std::uint32_t layers, features;
  std::uint32_t window;             ///< of all layers except the sixth; 0: there is none
  double base;                      ///< of the sixth layer if there is a window
  std::vector<std::string> tokens;  ///< as in the file
  std::vector<std::string> merges;
  std::vector<std::int32_t> types;  ///< of tokens
  std::map<std::string, std::vector<float>> weights;

  File file() const;
  std::uint32_t id_of(const std::string& token) const;
  /// The logits after `prompt`, in double precision and plain loops.
  std::vector<double> logits(const std::vector<std::uint32_t>& prompt) const;
  /// The most probable tokens, one after the other.
  std::vector<std::uint32_t> greedy(std::vector<std::uint32_t> prompt, std::size_t count) const;

 private:
  void add_byte_pairs();
  void add_sentence_pieces();
};

/// A file that is gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace text_tests
