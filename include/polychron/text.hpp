// Language models: a GGUF file or an ONNX export in, text out, token by token. Link with
// polychron::text.
//
//   const auto model = polychron::text::Model::load(context, "SmolLM2-135M-Instruct.Q4_1.gguf");
//   const std::vector<polychron::text::Message> chat{{"user", "What is an actor?"}};
//   const auto answer = model.generate(chat, {.max_tokens = 100}).get();
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/braces.hpp"
#include "polychron/cancellation.hpp"
#include "polychron/context.hpp"
#include "polychron/descriptor.hpp"
#include "polychron/future.hpp"

namespace polychron::text {

namespace detail {
class ModelState;
}

/// Options of Model::load().
struct LoadOptions {
  std::string label{};  ///< in messages; empty: the name of the file without its extension, or of
                        ///< the folder
  /// Tokens of a prompt and its text together, at most. Keys and values of this number of tokens
  /// take memory during each generation. Less if the model was made for less.
  std::uint32_t context_length = 1024;
  /// Of keys and values between steps: float32, or float16, which takes half the memory and rounds
  /// them. Empty: float32; of an ONNX model its own.
  std::optional<DataType> cache_type{};
  /// Generations that run at once, at most; 1 or more. Up to 8 share a step, which reads the
  /// weights once; those of an ONNX model take turns. Others wait until one ends, in the order in
  /// which they came. So does one for whose keys and values ContextOptions::memory_limit leaves no
  /// room, if another one runs.
  std::uint32_t chats = 8;
  /// The clock of deadlines; empty: std::chrono::steady_clock. For a simulated world.
  std::function<std::chrono::steady_clock::time_point()> now{};
};

/// A message of a chat.
struct Message {
  std::string role;     ///< "system", "user" or "assistant"
  std::string content;  ///< names of control tokens in it are plain text
};

/// A token, and how probable it is by the model.
struct TokenLogprob {
  std::uint32_t token = 0;  ///< its number
  /// The natural logarithm of the probability, by the model's logits alone: before temperature,
  /// top_k and top_p.
  double logprob = 0;
  /// The bytes that it stands for, which may be a part of a character. Of a control token its name.
  std::string text{};
};

/// A token of a text, and the most probable ones in its place.
struct ChosenToken {
  TokenLogprob chosen;            ///< the token
  std::vector<TokenLogprob> top;  ///< the most probable first
};

/// Options of Model::generate().
struct GenerateOptions {
  std::string label{};             ///< of the generation; in messages
  std::uint32_t max_tokens = 256;  ///< of the new text; 1 or more
  /// Divides the logits. 0: the most probable token each time (greedy), and the next three options
  /// and the seed mean nothing.
  double temperature = 0;
  std::uint32_t top_k = 0;  ///< choose among the most probable tokens, as many; 0: all
  /// Choose among the most probable tokens that together have this probability: above 0, at most 1.
  double top_p = 1;
  /// The same seed gives the same text, whatever else runs beside it.
  std::uint64_t seed = 0;
  /// The text ends in front of the first of these. None of them is empty.
  std::vector<std::string> stop{};
  /// Also gives how probable each token is, and as many of the most probable ones in its place.
  std::optional<std::uint32_t> top_logprobs = std::nullopt;
  /// As in DispatchOptions. Act between two steps, also if the generation still waits, and reject
  /// the future (timed_out, aborted).
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// As `deadline`.
  std::optional<Cancellation> cancellation = std::nullopt;
  /// Receives the text piece by piece, in valid UTF-8. A piece has whole characters and nothing
  /// that may be the beginning of a stop string; a token may add none. Called where the runtime
  /// runs callbacks, never after the future is settled. An exception ends the generation. Other
  /// generations of the model wait meanwhile: it must not wait for one of them.
  std::function<void(std::string_view)> on_text{};
  /// With top_logprobs, receives each token in front of its text. Otherwise as on_text.
  std::function<void(const ChosenToken&)> on_token{};
};

/// The reason for the end of a text.
enum class FinishReason : std::uint8_t {
  stop,   ///< the model ended it, or a stop string did
  length  ///< max_tokens or the context length
};

/// The reply of Model::generate().
struct Generated {
  std::string text;                          ///< valid UTF-8: the pieces that on_text received
  std::vector<std::uint32_t> tokens;         ///< of the text, without the one that ended it
  std::vector<ChosenToken> logprobs;         ///< the same, with GenerateOptions::top_logprobs
  std::uint32_t prompt_tokens = 0;           ///< number of tokens of the prompt
  FinishReason reason = FinishReason::stop;  ///< of the end
};

/// Handle to a language model on a context. Copies are handles to the same model. A
/// default-constructed handle refers to nothing: every call refuses it (type_error).
///
/// Any number of generations may be under way: LoadOptions::chats run, the others wait. Each has
/// keys and values of its own. They share steps, and pieces of prompts take turns with these. None
/// changes a bit of another's text.
///
/// Thread-safety: every method may be called from any thread at any time.
class Model {
 public:
  /// A handle to nothing.
  Model() = default;
  /// False for a default-constructed or moved-from handle.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Reads a model and builds its graphs; waits until that is done. `path` is a GGUF file (.gguf),
  /// a folder with an ONNX export, model.onnx, and its tokenizer.json, or another ONNX file (.onnx)
  /// beside such a tokenizer (docs/text.md). Throws Error: bad_data (a file is missing, truncated
  /// or malformed), not_supported (an architecture, tokenizer, operator or type of weights that is
  /// not known), type_error, out_of_memory, and what GraphBuilder::build() rejects with.
  static Model load(const Context& context, const std::filesystem::path& path,
                    const LoadOptions& options = {});

  /// LoadOptions::label or its default.
  const std::string& label() const;
  /// LoadOptions::context_length, or the model's own if that is less.
  std::uint32_t context_length() const;
  /// LoadOptions::chats.
  std::uint32_t chats() const;
  /// True if the file has a chat template that is known.
  bool has_chat() const;
  /// The context that it runs on.
  Context context() const;

  /// The tokens of a text, in which names of control tokens mean these.
  std::vector<std::uint32_t> tokenize(std::string_view text) const;

  /// Continues `prompt`, in which names of control tokens mean these. Throws type_error (a prompt
  /// without tokens or longer than the context, an option out of range), out_of_memory. Rejects
  /// with timed_out, aborted, with the exception of on_text, and as the context's calls do.
  template <ArgumentOf<GenerateOptions> Options = GenerateOptions>
  FutureFrom<Generated, Options> generate(std::string_view prompt, Options&& options) const {
    return generate_with(prompt, options);
  }
  /// The same, for the next message of a chat. Throws not_supported if the model has no chat
  /// template that is known.
  template <ArgumentOf<GenerateOptions> Options = GenerateOptions>
  FutureFrom<Generated, Options> generate(const std::vector<Message>& chat,
                                          Options&& options) const {
    return generate_with(chat, options);
  }

 private:
  explicit Model(std::shared_ptr<const detail::ModelState> state) : state_(std::move(state)) {}
  const detail::ModelState& state() const;
  Future<Generated> generate_with(std::string_view prompt, const GenerateOptions& options) const;
  Future<Generated> generate_with(const std::vector<Message>& chat,
                                  const GenerateOptions& options) const;
  std::shared_ptr<const detail::ModelState> state_;
};

}  // namespace polychron::text
