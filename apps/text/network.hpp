// A language model's network, whatever file it comes from: its graphs, and what their inputs are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "apps/text/chat.hpp"
#include "apps/text/tokenizer.hpp"
#include "polychron/context.hpp"
#include "polychron/graph.hpp"

namespace polychron::text::detail {

/// The inputs and outputs of a network's graph. A network has inputs of its own besides these.
namespace port {
inline constexpr const char* length = "length";  ///< in: cached tokens of each chat, int32 [chats]
inline constexpr const char* rows = "rows";      ///< out: [2 * layers, groups, rows, features]
inline constexpr const char* logits = "logits";  ///< out: [rows, tokens]; if each row is a chat's
inline constexpr const char* caches = "cache";   ///< in front of a chat's number
/// In: keys and values of a chat: [2 * layers, groups, length of the context, features]. The graph
/// does not write it: keys and values of the new rows are an output, which its owner appends.
inline std::string cache(std::uint32_t chat) { return caches + std::to_string(chat); }
}  // namespace port

/// What a graph is built for: rows of one chat, or a row of each of several.
struct NetworkShape {
  std::uint32_t rows;     ///< of new tokens
  std::uint32_t context;  ///< length of a cache
  std::uint32_t chats = 1;
};

/// Sizes of keys and values.
struct CacheSizes {
  std::uint32_t layers, groups, features;
  DataType type = DataType::float32;
};

/// The descriptor of keys and values of `tokens` tokens.
OperandDescriptor cache_descriptor(const CacheSizes& sizes, std::uint32_t tokens);

/// A row of a step. A superfluous one has any token.
struct StepRow {
  TokenId token = 0;
  std::uint32_t position = 0;  ///< of the token in its chat
};

class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual CacheSizes cache() const = 0;
  /// True if a graph may have a row of each of several chats.
  virtual bool joins_chats() const = 0;
  /// Builds a graph. Of several rows of a chat each sees those before it; they give no logits. A
  /// row of a chat among others has the bits that it has alone. Rejects as GraphBuilder::build()
  /// does.
  virtual Future<Graph> build(const Context& context, const NetworkShape& shape,
                              const std::string& label) const = 0;
  /// No graph is built after this.
  virtual void drop_weights() = 0;
  /// Writes the inputs of its own, which are among `inputs`.
  virtual void write(Context context, const NamedTensors& inputs,
                     std::span<const StepRow> rows) const = 0;
};

/// A model's files, as read.
struct ModelFiles {
  Tokenizer tokenizer;
  ChatTemplate chat;
  std::uint32_t context_length;  ///< tokens for which the model was made
  std::unique_ptr<Network> network;
};

/// Throws Error: bad_data, not_supported, and as Context::create_constant_tensor() does. Without
/// `cache_type`, which is float32 or float16, it is float32.
ModelFiles read_gguf_model(const Context& context, const std::filesystem::path& file,
                           std::optional<DataType> cache_type = std::nullopt);

/// False also if nothing can be seen there.
bool is_folder(const std::filesystem::path& path);

/// `path`: the model, or the folder with model.onnx and the files of its tokenizer. Throws Error:
/// bad_data, not_supported, out_of_memory. Without `cache_type` the model's own type is taken.
ModelFiles read_onnx_model(const std::filesystem::path& path, std::optional<DataType> cache_type);

}  // namespace polychron::text::detail
