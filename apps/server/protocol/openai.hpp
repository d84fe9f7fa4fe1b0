// OpenAI's forms of requests for text and for vectors, their answers and errors.
// Source: the OpenAPI description of api.openai.com/v1: completions, chat/completions, embeddings,
// models.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "protocol/message.hpp"

namespace polychron::server {

/// A request for text, of a chat or of a prompt.
struct Completion {
  std::string model;
  bool streams = false;
  bool wants_usage = false;  ///< at the end of a stream
  Generation generation;
};

/// Parses a request. Without a seed it gets `seed`. Throws Refusal (bad_request) that names the
/// field: an unknown one, or one that asks for something else than text of one choice.
Completion parse_completion(std::string_view body, bool is_chat, std::uint64_t seed);

/// What all documents of an answer have.
struct CompletionHead {
  bool is_chat = false;
  std::string id, model;
  std::chrono::system_clock::time_point created;
};

/// The answer as a whole.
std::string completion_document(const CompletionHead& head, const text::Generated& generated);

// Events of a stream: "data: {...}\n\n".
/// Of a chat: that the assistant begins. Else nothing.
std::string first_event(const CompletionHead& head, bool wants_usage);
/// `tokens`: those that came with the text, if they are wanted. `offset`: the characters before.
std::string text_event(const CompletionHead& head, std::string_view text,
                       std::span<const text::ChosenToken> tokens, std::size_t offset,
                       bool wants_usage);
/// Characters of the tokens' texts. One that is cut counts where it begins.
std::size_t characters_of(std::span<const text::ChosenToken> tokens);
/// The reason of the end, the usage if it is wanted, and [DONE].
std::string last_events(const CompletionHead& head, const text::Generated& generated,
                        bool wants_usage);
std::string error_event(const Refusal& refusal);

/// A request for a vector of each text.
struct EmbeddingRequest {
  std::string model;
  std::vector<std::string> texts;
  Sentences tokens;  ///< in place of texts
  bool is_base64 = false;
  std::optional<std::uint32_t> dimensions;
};

/// Parses a request. Throws Refusal (bad_request) that names the field.
EmbeddingRequest parse_embedding(std::string_view body);

/// The answer. `tokens` are those of all texts.
std::string embedding_document(const EmbeddingRequest& request, const Vectors& vectors,
                               std::uint64_t tokens);

/// {"error": {"message", "type", "param", "code"}}
std::string encode_openai_error(const Refusal& refusal);

/// A line of the list of models.
struct ListedModel {
  std::string name;
  std::chrono::system_clock::time_point created;
};
std::string openai_model_document(const ListedModel& model);
std::string openai_models_document(const std::vector<ListedModel>& models);

}  // namespace polychron::server
