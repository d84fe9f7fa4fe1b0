#include "protocol/openai.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <limits>
#include <utility>

#include "protocol/document.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;

[[noreturn]] void wrong_field(const std::string& name, const std::string& why) {
  throw Refusal(Status::bad_request, "'" + name + "': " + why, std::nullopt, name);
}

/// The fields of a request, each of which is asked for once.
class OpenAiFields {
 public:
  explicit OpenAiFields(const json::object& object) : object_(object) {}

  /// Null where it is absent or null.
  const json::value* find(std::string_view name) {
    seen_.emplace_back(name);
    const auto* value = object_.if_contains(json::string_view(name.data(), name.size()));
    return value && value->is_null() ? nullptr : value;
  }
  bool flag(std::string_view name) {
    const auto* value = find(name);
    if (!value) return false;
    if (const auto* given = value->if_bool()) return *given;
    wrong_type(name, "true or false", *value);
  }
  std::string text(std::string_view name) {
    const auto* value = find(name);
    const auto* given = value ? value->if_string() : nullptr;
    if (!given) wrong_field(std::string(name), "expected a string");
    return {given->data(), given->size()};
  }
  double number(std::string_view name, double absent, double most) {
    const auto* value = find(name);
    if (!value) return absent;
    json::error_code failed;
    const auto given = value->to_number<double>(failed);
    if (failed || !(given >= 0 && given <= most))
      wrong_type(name, "a number from 0 to " + std::to_string(static_cast<int>(most)), *value);
    return given;
  }
  std::optional<std::uint32_t> count(std::string_view name, std::uint32_t least) {
    const auto* value = find(name);
    if (!value) return std::nullopt;
    const auto* given = value->if_int64();
    if (!given || *given < least || *given > std::numeric_limits<std::int32_t>::max())
      wrong_type(name, "a whole number of " + std::to_string(least) + " or more", *value);
    return static_cast<std::uint32_t>(*given);
  }
  /// Throws Refusal if there is a field that nobody has asked for: to ignore it might change the
  /// answer.
  void refuse_others() const {
    for (const auto& [key, value] : object_) {
      const std::string_view name(key.data(), key.size());
      if (std::ranges::find(seen_, name) != seen_.end()) continue;
      wrong_field(printable(name, 60), "unknown field");
    }
  }
  [[noreturn]] static void wrong_type(std::string_view name, const std::string& expected,
                                      const json::value& got) {
    wrong_field(std::string(name),
                "expected " + expected + ", got " + printable(json::serialize(got), 40));
  }

 private:
  const json::object& object_;
  std::vector<std::string> seen_;
};

/// They say something about the client, and nothing about the text.
constexpr std::string_view ignored_fields[] = {
    "user",  "metadata",     "safety_identifier",  "prompt_cache_key", "prompt_cache_retention",
    "store", "service_tier", "parallel_tool_calls"};

/// A field that is not supported, and the value that asks for nothing besides null, false, 0 and
/// what is empty.
struct NeutralField {
  std::string_view name, value;
};
constexpr NeutralField neutral_fields[] = {{"n", "1"},
                                           {"best_of", "1"},
                                           {"echo", ""},
                                           {"suffix", ""},
                                           {"logit_bias", ""},
                                           {"presence_penalty", ""},
                                           {"frequency_penalty", ""},
                                           {"tools", ""},
                                           {"tool_choice", R"("none")"},
                                           {"functions", ""},
                                           {"function_call", R"("none")"},
                                           {"response_format", R"({"type":"text"})"},
                                           {"modalities", R"(["text"])"}};

bool asks_nothing(const json::value& value) {
  if (const auto* given = value.if_bool()) return !*given;
  if (const auto* given = value.if_string()) return given->empty();
  if (const auto* given = value.if_array()) return given->empty();
  if (const auto* given = value.if_object()) return given->empty();
  if (const auto* given = value.if_double()) return *given == 0;
  return value == 0;
}

void refuse_unsupported(OpenAiFields& fields) {
  for (const auto name : ignored_fields) fields.find(name);
  for (const auto& [name, neutral] : neutral_fields) {
    const auto* value = fields.find(name);
    if (!value) continue;
    const auto text = json::serialize(*value);
    const bool is_zero = *value == 0 && (name == "n" || name == "best_of");
    if ((asks_nothing(*value) && !is_zero) || text == neutral) continue;
    wrong_field(std::string(name), printable(text, 40) + " is not supported");
  }
}

std::vector<std::string> stops_of(OpenAiFields& fields) {
  constexpr std::size_t most = 16, longest = 256;
  std::vector<std::string> stops;
  const auto* value = fields.find("stop");
  if (!value) return stops;
  const auto add = [&](const json::value& each) {
    const auto* text = each.if_string();
    if (!text || text->empty() || text->size() > longest || stops.size() == most)
      OpenAiFields::wrong_type(
          "stop", "at most 16 strings, of 1 to " + std::to_string(longest) + " bytes", *value);
    stops.emplace_back(text->data(), text->size());
  };
  if (const auto* list = value->if_array())
    for (const auto& each : *list) add(each);
  else
    add(*value);
  return stops;
}

/// A string, or an array of {"type": "text", "text": ...}.
std::string content_of(OpenAiFields& message, const std::string& what) {
  const auto* content = message.find("content");
  if (const auto* text = content ? content->if_string() : nullptr)
    return {text->data(), text->size()};
  const auto* parts = content ? content->if_array() : nullptr;
  if (!parts) wrong_field(what + ".content", "expected a string, or an array of texts");
  std::string all;
  for (const auto& each : *parts) {
    const auto* part = each.if_object();
    const auto* type = part ? part->if_contains("type") : nullptr;
    const auto* text = part ? part->if_contains("text") : nullptr;
    if (!type || *type != "text" || !text || !text->is_string())
      wrong_field(what + ".content",
                  "expected {\"type\": \"text\", \"text\": \"...\"} alone, got " +
                      printable(json::serialize(each), 60));
    all.append(text->get_string().data(), text->get_string().size());
  }
  return all;
}

std::vector<text::Message> messages_of(OpenAiFields& fields) {
  const auto* value = fields.find("messages");
  const auto* list = value ? value->if_array() : nullptr;
  if (!list || list->empty()) wrong_field("messages", "expected an array of messages");
  std::vector<text::Message> chat;
  for (const auto& each : *list) {
    const auto what = "messages[" + std::to_string(chat.size()) + "]";
    const auto* object = each.if_object();
    if (!object) wrong_field(what, "expected an object");
    OpenAiFields message(*object);
    const auto* given = message.find("role");
    const auto* role = given ? given->if_string() : nullptr;
    text::Message made;
    if (role) made.role.assign(role->data(), role->size());
    if (made.role == "developer") made.role = "system";  // its newer name
    if (made.role != "system" && made.role != "user" && made.role != "assistant")
      wrong_field(what + ".role", "expected system, developer, user or assistant");
    made.content = content_of(message, what);
    for (const auto name : {"name", "refusal"}) message.find(name);
    message.refuse_others();
    chat.push_back(std::move(made));
  }
  return chat;
}

std::string prompt_of(OpenAiFields& fields) {
  const auto* value = fields.find("prompt");
  if (const auto* list = value ? value->if_array() : nullptr; list && list->size() == 1)
    value = &list->front();
  const auto* text = value ? value->if_string() : nullptr;
  if (!text) wrong_field("prompt", "expected one string");
  return {text->data(), text->size()};
}

/// Of a chat true and a number beside it; of a prompt the number itself.
std::optional<std::uint32_t> top_logprobs_of(OpenAiFields& fields, bool is_chat) {
  const auto bounded = [&](std::string_view name, std::uint32_t most) {
    const auto count = fields.count(name, 0);
    if (count && *count > most)
      OpenAiFields::wrong_type(name, "a whole number from 0 to " + std::to_string(most), *count);
    return count;
  };
  const auto* given = fields.find("logprobs");
  if (!is_chat) return given && *given == false ? std::nullopt : bounded("logprobs", 5);
  const bool wanted = fields.flag("logprobs");
  const auto count = bounded("top_logprobs", 20);
  if (!wanted && count.value_or(0) > 0)
    wrong_field("top_logprobs", "expected \"logprobs\": true beside it");
  return wanted ? std::optional(count.value_or(0)) : std::nullopt;
}

void read_options(OpenAiFields& fields, bool is_chat, std::uint64_t seed,
                  text::GenerateOptions& options) {
  constexpr auto all = std::numeric_limits<std::int32_t>::max();
  auto most = fields.count("max_tokens", 1);
  if (is_chat)
    if (const auto newer = fields.count("max_completion_tokens", 1)) most = newer;
  options.max_tokens = most.value_or(is_chat ? all : 16);  // OpenAI's defaults
  options.temperature = fields.number("temperature", 1, 2);
  options.top_p = fields.number("top_p", 1, 1);
  if (options.top_p == 0) wrong_field("top_p", "expected a number above 0");
  options.top_k = fields.count("top_k", 0).value_or(0);  // not OpenAI's, but usual
  options.seed = seed;
  if (const auto* given = fields.find("seed")) {
    if (!given->is_int64()) OpenAiFields::wrong_type("seed", "a whole number", *given);
    options.seed = static_cast<std::uint64_t>(given->get_int64());
  }
  options.stop = stops_of(fields);
  options.top_logprobs = top_logprobs_of(fields, is_chat);
}

bool wants_usage_of(OpenAiFields& fields, bool streams) {
  const auto* given = fields.find("stream_options");
  if (!given) return false;
  const auto* object = given->if_object();
  if (!object || !streams)
    wrong_field("stream_options", "expected an object, and \"stream\": true beside it");
  OpenAiFields options(*object);
  options.find("include_obfuscation");
  const bool wanted = options.flag("include_usage");
  options.refuse_others();
  return wanted;
}

}  // namespace

Completion parse_completion(std::string_view body, bool is_chat, std::uint64_t seed) {
  const auto document = parse_document(body);
  const auto* root = document.root.if_object();
  if (!root) bad_request("expected an object of JSON");
  OpenAiFields fields(*root);
  Completion completion;
  completion.model = fields.text("model");
  completion.streams = fields.flag("stream");
  completion.wants_usage = wants_usage_of(fields, completion.streams);
  auto& generation = completion.generation;
  if (is_chat)
    generation.chat = messages_of(fields);
  else
    generation.prompt = prompt_of(fields);
  read_options(fields, is_chat, seed, generation.options);
  refuse_unsupported(fields);
  fields.refuse_others();
  return completion;
}

namespace {

constexpr auto* input_forms = "a string, tokens, or an array of either";

TokenIds tokens_of(const json::array& list, const json::value& input) {
  TokenIds tokens;
  for (const auto& each : list) {
    const auto* number = each.if_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max())
      OpenAiFields::wrong_type("input", input_forms, input);
    tokens.push_back(static_cast<std::uint32_t>(*number));
  }
  return tokens;
}

void read_input(OpenAiFields& fields, EmbeddingRequest& request) {
  constexpr std::size_t most = 2048;  // OpenAI's
  const auto* input = fields.find("input");
  if (!input) wrong_field("input", std::string("expected ") + input_forms);
  const auto add = [&](const json::value& each) {
    const auto* text = each.if_string();
    const auto* tokens = each.if_array();
    if (text && request.tokens.empty())
      request.texts.emplace_back(text->data(), text->size());
    else if (tokens && !tokens->empty() && request.texts.empty())
      request.tokens.push_back(tokens_of(*tokens, *input));
    else
      OpenAiFields::wrong_type("input", input_forms, *input);
  };
  const auto* list = input->if_array();
  if (!list || (!list->empty() && list->front().is_number())) return add(*input);
  if (list->empty() || list->size() > most)
    wrong_field("input", "expected 1 to " + std::to_string(most) + " texts, got " +
                             std::to_string(list->size()));
  for (const auto& each : *list) add(each);
}

}  // namespace

EmbeddingRequest parse_embedding(std::string_view body) {
  const auto document = parse_document(body);
  const auto* root = document.root.if_object();
  if (!root) bad_request("expected an object of JSON");
  OpenAiFields fields(*root);
  EmbeddingRequest request;
  request.model = fields.text("model");
  read_input(fields, request);
  if (const auto* form = fields.find("encoding_format")) {
    request.is_base64 = *form == "base64";
    if (!request.is_base64 && *form != "float")
      OpenAiFields::wrong_type("encoding_format", R"("float" or "base64")", *form);
  }
  request.dimensions = fields.count("dimensions", 1);
  for (const auto name : ignored_fields) fields.find(name);
  fields.refuse_others();
  return request;
}

}  // namespace polychron::server
