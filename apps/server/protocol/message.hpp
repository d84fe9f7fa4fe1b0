// A request and its answer, as both transports understand them.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <polychron/buffer.hpp>
#include <polychron/descriptor.hpp>
#include <polychron/text.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/refusal.hpp"
#include "protocol/wire_type.hpp"

namespace polychron::server {

/// A tensor on the wire: elements in row-major order, little-endian.
struct WireTensor {
  std::string name;
  WireType type = WireType::fp32;
  Shape shape;
  Buffer bytes;
};

/// An output that a request asks for.
struct WantedOutput {
  std::string name;
  bool binary = false;
};

/// What a language model is to go on with.
struct Generation {
  std::vector<text::Message> chat;  ///< empty: `prompt`
  std::string prompt;
  text::GenerateOptions options{};  ///< its label, deadline and cancellation are the server's
};

/// A text as the numbers of its tokens.
using TokenIds = std::vector<std::uint32_t>;

/// Texts for a sentence model.
using Sentences = std::vector<TokenIds>;

/// A vector for each text, one behind the other.
struct Vectors {
  std::vector<float> values;
  std::size_t width = 0;
};

struct InferRequest {
  std::string id;
  std::vector<WireTensor> inputs;
  std::vector<WantedOutput> outputs;  ///< empty: all of the model's
  bool binary_outputs = false;        ///< for outputs that the request does not name
  /// The parameter `timeout`, which Triton counts in microseconds. Absent: the model's default.
  std::optional<std::chrono::microseconds> timeout;
  std::optional<Generation> generation{};  ///< of a language model, in place of inputs
  std::optional<Sentences> sentences{};    ///< of a sentence model, in place of inputs
};

struct InferAnswer {
  std::string model;
  std::string version;
  std::string id;
  std::vector<WireTensor> outputs;
  text::Generated generated{};  ///< of a Generation, in place of outputs
  Vectors vectors{};            ///< of Sentences, in place of outputs
};

/// Parameters of Triton's extensions that would change the answer if they were ignored. Refused,
/// unless the value is 0 or "".
constexpr std::string_view unsupported_parameters[] = {"shared_memory_region", "classification",
                                                       "sequence_id"};

/// Bytes of a request's body. Tensors may borrow parts of the block, which lives as long as they.
struct Body {
  std::shared_ptr<void> block;
  std::span<std::byte> bytes;  ///< within the block
};

/// "FP32 [2, 3]".
std::string describe(WireType type, const Shape& shape);

/// The tensor's size in bytes. Throws Refusal if it is beyond what a tensor may have.
std::size_t wire_size(const WireTensor& tensor);

}  // namespace polychron::server
