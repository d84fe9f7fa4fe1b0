// GGUF files: their metadata, and where their tensors are. Files come from strangers: every count
// and size is checked against the file before memory is taken for it.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/text/blocks.hpp"
#include "polychron/buffer.hpp"

namespace polychron::text::detail {

/// A value of the metadata. Integers of all sizes are one type, and so are floats. Elements of
/// arrays of numbers are doubles.
using MetaValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::string>,
                               std::vector<double>>;

/// A tensor of the file. GGUF has the innermost dimension first.
struct GgufTensor {
  const BlockType* type = nullptr;
  std::vector<std::uint32_t> dimensions;  ///< 1 to 4, none of them 0
  std::uint64_t offset = 0, bytes = 0;    ///< within the file
  std::uint64_t weights() const noexcept { return bytes / type->bytes * type->weights; }
};

/// The header of a file. Immutable.
struct Gguf {
  /// Metadata and descriptions of tensors take at most this, and their values at most 8 times it.
  static constexpr std::size_t most_header_bytes = 32U << 20U;

  /// Reads the header in `bytes`, the beginning of a file of `file_bytes`. Throws Error (bad_data,
  /// not_supported).
  static Gguf parse(std::span<const std::byte> bytes, std::uint64_t file_bytes);

  std::map<std::string, MetaValue, std::less<>> metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;

  /// Throws bad_data if there is no such tensor.
  const GgufTensor& tensor(std::string_view name) const;

  /// The value of `key`, or null if there is none. Throws bad_data if it has another type.
  template <class T>
  const T* find(std::string_view key) const {
    const auto at = metadata.find(key);
    if (at == metadata.end()) return nullptr;
    if (const auto* value = std::get_if<T>(&at->second)) return value;
    wrong_type(key);
  }
  /// The value of `key`. Throws bad_data also if there is none.
  template <class T>
  const T& get(std::string_view key) const {
    if (const T* value = find<T>(key)) return *value;
    missing(key);
  }
  /// An integer from 1 to `most`.
  std::uint32_t count(std::string_view key, std::uint32_t most) const;

 private:
  [[noreturn]] static void wrong_type(std::string_view key);
  [[noreturn]] static void missing(std::string_view key);
};

/// A file on disk, whose tensors are read one by one.
class GgufFile {
 public:
  /// Reads the header. Throws Error: bad_data, not_supported, out_of_memory.
  explicit GgufFile(std::filesystem::path path);
  const Gguf& header() const noexcept { return header_; }
  /// A copy of the tensor's blocks. Throws bad_data if the file has become shorter.
  Buffer read(const GgufTensor& tensor) const;

 private:
  std::filesystem::path path_;
  Gguf header_;
};

}  // namespace polychron::text::detail
