// The small file beside a model: NAME.json, or NAME/config.json.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <polychron/descriptor.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace polychron::server {

using Bindings = std::map<std::string, Shape>;

/// The smallest and the largest size of a free dimension.
struct SizeRange {
  std::uint32_t least = 0;
  std::uint32_t most = 0xffff'ffff;
};

/// Every field may be left out of the file.
struct ModelConfig {
  std::string code;  ///< a model made of code: which; empty: ONNX
  /// Numbers that the code knows by name.
  std::map<std::string, std::uint64_t> parameters;
  std::string label;             ///< in errors and recordings; empty: the model's name
  int lanes = 1;                 ///< runs side by side
  int threads = 0;               ///< of each lane; 0: those that other lanes leave
  std::uint64_t in_flight = 64;  ///< requests that wait or run; beyond it 429
  std::uint64_t memory_limit = std::uint64_t{4} << 30;
  std::size_t shapes = 16;              ///< graphs of different shapes that are kept
  std::uint32_t context_length = 1024;  ///< tokens of a prompt and its text, of language models
  std::uint32_t chats = 8;              ///< texts at once, of language models
  std::uint32_t max_batch = 1;          ///< rows that requests may have together; 1: not joined
  std::chrono::microseconds batch_window{0};  ///< the longest wait for others; 0: not joined
  std::size_t versions = 1;                   ///< the highest ones that are served
  std::chrono::milliseconds timeout{0};       ///< of requests that name none; 0: none
  Bindings bindings;                          ///< values of free dimensions, fixed for all requests
  std::map<std::string, SizeRange> sizes;     ///< by symbol: what requests may have
  std::vector<Bindings> warm;                 ///< shapes to build before the model serves
};

/// A number of ModelConfig, in one row for the command line, --config, NAME/config.json and the
/// document of a model's configuration. A test compares docs/serving.md.
struct ModelOption {
  std::string_view name;  ///< "memory_limit"; of the command line "--memory-limit"
  std::uint64_t least = 0, most = 0;
  std::string_view unit;  ///< "BYTES", "MS", "US"; "N": a plain number
  std::string_view help;
  std::uint64_t (*get)(const ModelConfig&) = nullptr;
  void (*set)(ModelConfig&, std::uint64_t) = nullptr;

  /// "memory-limit"
  std::string flag() const;
  /// "4 GiB"
  std::string default_text() const;
};

std::span<const ModelOption> model_options();

/// `text` over `defaults`. Throws Error (bad_data) that names the field; `what` names the file.
ModelConfig parse_config(std::string_view text, const ModelConfig& defaults,
                         const std::string& what);

/// All of a file. Throws Error (bad_data) that begins with `what` and its name.
std::string text_of_file(const std::filesystem::path& file, std::string_view what = {});

/// parse_config() of a file. Throws Error (bad_data).
ModelConfig read_config(const std::filesystem::path& file, const ModelConfig& defaults);

}  // namespace polychron::server
