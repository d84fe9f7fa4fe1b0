#include "protocol/openai.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

namespace polychron::server {

namespace {

namespace json = boost::json;

json::string json_string(std::string_view text) { return json::string(text.data(), text.size()); }

std::int64_t unix_seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

json::object usage_of(const text::Generated& generated) {
  const std::uint64_t prompt = generated.prompt_tokens, made = generated.tokens.size();
  return {{"prompt_tokens", prompt}, {"completion_tokens", made}, {"total_tokens", prompt + made}};
}

const char* reason_of(const text::Generated& generated) {
  return generated.reason == text::FinishReason::stop ? "stop" : "length";
}

json::object document_of(const CompletionHead& head, bool is_part, json::array choices) {
  const auto* kind = !head.is_chat ? "text_completion"
                     : is_part     ? "chat.completion.chunk"
                                   : "chat.completion";
  return {{"id", json_string(head.id)},
          {"object", json::string_view(kind)},
          {"created", unix_seconds(head.created)},
          {"model", json_string(head.model)},
          {"choices", std::move(choices)}};
}

std::string event_of(const json::object& document) {
  return "data: " + json::serialize(document) + "\n\n";
}

/// A token that is a part of a character has the name that OpenAI gives it.
std::string token_name(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name = "bytes:";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    ((name += "\\x") += digits[byte >> 4U]) += digits[byte & 15U];
  }
  return name;
}

/// JSON has no infinity: OpenAI's lowest one.
double finite(double logprob) { return std::max(logprob, -9999.0); }

json::object token_of(const text::TokenLogprob& token) {
  json::array bytes;
  for (const char c : token.text) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", json_string(token_name(token.text))},
          {"logprob", finite(token.logprob)},
          {"bytes", std::move(bytes)}};
}

json::value chat_logprobs(std::span<const text::ChosenToken> tokens) {
  json::array content;
  for (const auto& each : tokens) {
    json::array top;
    for (const auto& other : each.top) top.push_back(token_of(other));
    auto token = token_of(each.chosen);
    token["top_logprobs"] = std::move(top);
    content.push_back(std::move(token));
  }
  return json::object{{"content", std::move(content)}, {"refusal", nullptr}};
}

json::value prompt_logprobs(std::span<const text::ChosenToken> tokens, std::size_t offset) {
  json::array names, logprobs, tops, offsets;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& [chosen, top] = tokens[i];
    names.push_back(json_string(token_name(chosen.text)));
    logprobs.push_back(finite(chosen.logprob));
    json::object top_of;
    for (const auto& other : top)
      top_of.emplace(json_string(token_name(other.text)), finite(other.logprob));
    tops.push_back(std::move(top_of));
    offsets.push_back(offset);
    offset += characters_of(tokens.subspan(i, 1));
  }
  return json::object{{"tokens", std::move(names)},
                      {"token_logprobs", std::move(logprobs)},
                      {"top_logprobs", std::move(tops)},
                      {"text_offset", std::move(offsets)}};
}

/// Null without tokens.
json::value logprobs_of(const CompletionHead& head, std::span<const text::ChosenToken> tokens,
                        std::size_t offset) {
  if (tokens.empty()) return nullptr;
  return head.is_chat ? chat_logprobs(tokens) : prompt_logprobs(tokens, offset);
}

/// An event with one choice. `content`: of the delta, or the text.
std::string choice_event(const CompletionHead& head, json::object choice, json::value reason,
                         bool wants_usage) {
  choice["index"] = 0;
  if (!choice.contains("logprobs")) choice["logprobs"] = nullptr;
  choice["finish_reason"] = std::move(reason);
  auto document = document_of(head, true, {std::move(choice)});
  if (wants_usage) document["usage"] = nullptr;
  return event_of(document);
}

}  // namespace

std::string completion_document(const CompletionHead& head, const text::Generated& generated) {
  json::object choice{{"index", 0}};
  if (head.is_chat)
    choice["message"] = json::object{
        {"role", "assistant"}, {"content", json_string(generated.text)}, {"refusal", nullptr}};
  else
    choice["text"] = json_string(generated.text);
  choice["logprobs"] = logprobs_of(head, generated.logprobs, 0);
  choice["finish_reason"] = reason_of(generated);
  auto document = document_of(head, false, {std::move(choice)});
  document["usage"] = usage_of(generated);
  return json::serialize(document);
}

std::string first_event(const CompletionHead& head, bool wants_usage) {
  if (!head.is_chat) return {};
  json::object choice;
  choice["delta"] = json::object{{"role", "assistant"}, {"content", ""}};
  return choice_event(head, std::move(choice), nullptr, wants_usage);
}

std::size_t characters_of(std::span<const text::ChosenToken> tokens) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; };
  std::size_t count = 0;
  for (const auto& each : tokens)
    count += static_cast<std::size_t>(std::ranges::count_if(each.chosen.text, begins));
  return count;
}

std::string text_event(const CompletionHead& head, std::string_view text,
                       std::span<const text::ChosenToken> tokens, std::size_t offset,
                       bool wants_usage) {
  json::object choice;
  if (head.is_chat)
    choice["delta"] = json::object{{"content", json_string(text)}};
  else
    choice["text"] = json_string(text);
  choice["logprobs"] = logprobs_of(head, tokens, offset);
  return choice_event(head, std::move(choice), nullptr, wants_usage);
}

std::string last_events(const CompletionHead& head, const text::Generated& generated,
                        bool wants_usage) {
  json::object choice;
  if (head.is_chat)
    choice["delta"] = json::object();
  else
    choice["text"] = "";
  auto events = choice_event(head, std::move(choice), reason_of(generated), wants_usage);
  if (wants_usage) {
    auto document = document_of(head, true, {});
    document["usage"] = usage_of(generated);
    events += event_of(document);
  }
  return events + "data: [DONE]\n\n";
}

namespace {

std::string base64_of(std::span<const float> vector) {
  std::string text((vector.size_bytes() + 2) / 3 * 4 + 1, '\0');  // with the library's final zero
  const auto size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                    reinterpret_cast<const unsigned char*>(vector.data()),
                                    static_cast<int>(vector.size_bytes()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

/// The shortest digits that are read as the same float.
void append_numbers(std::string& text, std::span<const float> vector) {
  std::array<char, 32> digits{};
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) text += ',';
    const auto end = std::to_chars(digits.begin(), digits.end(), vector[i]).ptr;
    text.append(digits.begin(), end);
  }
}

}  // namespace

/// Writes the text itself: as a document of JSON, vectors would take many times their size.
std::string embedding_document(const EmbeddingRequest& request, const Vectors& vectors,
                               std::uint64_t tokens) {
  std::string text = R"({"object":"list","data":[)";
  text.reserve(vectors.values.size() * (request.is_base64 ? 6 : 13) + 256);
  const auto width = std::max<std::size_t>(vectors.width, 1);
  for (std::size_t at = 0; at < vectors.values.size(); at += width) {
    const auto vector = std::span(vectors.values).subspan(at, width);
    text += at == 0 ? "" : ",";
    text += R"({"object":"embedding","index":)" + std::to_string(at / width) + R"(,"embedding":)";
    if (request.is_base64) {
      text += '"' + base64_of(vector) + '"';
    } else {
      text += '[';
      append_numbers(text, vector);
      text += ']';
    }
    text += '}';
  }
  const auto count = std::to_string(tokens);
  return text + R"(],"model":)" + json::serialize(json_string(request.model)) +
         R"(,"usage":{"prompt_tokens":)" + count + R"(,"total_tokens":)" + count + "}}";
}

std::string encode_openai_error(const Refusal& refusal) {
  const auto status = refusal.status();
  const auto message = printable(refusal.message(), std::numeric_limits<std::size_t>::max());
  json::object error{{"message", json_string(message)}};
  error["type"] = status == Status::too_many       ? "rate_limit_error"
                  : static_cast<int>(status) < 500 ? "invalid_request_error"
                                                   : "server_error";
  error["param"] = nullptr;
  if (!refusal.field().empty()) error["param"] = json_string(refusal.field());
  error["code"] = nullptr;
  if (status == Status::too_many) error["code"] = "rate_limit_exceeded";
  if (status == Status::unauthorized) error["code"] = "invalid_api_key";
  if (status == Status::not_found && refusal.field() == "model") error["code"] = "model_not_found";
  return json::serialize(json::object{{"error", std::move(error)}});
}

std::string error_event(const Refusal& refusal) {
  return "data: " + encode_openai_error(refusal) + "\n\n";
}

namespace {

json::object listed(const ListedModel& model) {
  return {{"id", json_string(model.name)},
          {"object", "model"},
          {"created", unix_seconds(model.created)},
          {"owned_by", "polychron"}};
}

}  // namespace

std::string openai_model_document(const ListedModel& model) {
  return json::serialize(listed(model));
}

std::string openai_models_document(const std::vector<ListedModel>& models) {
  json::array list;
  for (const auto& each : models) list.push_back(listed(each));
  return json::serialize(json::object{{"object", "list"}, {"data", std::move(list)}});
}

}  // namespace polychron::server
