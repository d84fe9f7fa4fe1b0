#include "apps/text/side_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include "apps/text/json.hpp"
#include "apps/text/problem.hpp"
#include "apps/text/tokenizer_json.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint64_t most_tokenizer_bytes = 64U << 20U, most_other_bytes = 4U << 20U;
constexpr std::uint32_t any_length = 1U << 20U;  // if no file tells one

std::string text_of(const std::filesystem::path& file, std::uint64_t most) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::string text(static_cast<std::size_t>(most + 1), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most)
    unsupported(quote(file.filename().string()) + " of more than " + std::to_string(most) +
                " bytes");
  return text;
}

/// An end is a number or a list of numbers.
void add_ends(const Json* ends, std::vector<TokenId>& to) {
  const auto add = [&](const Json& value) {
    if (const auto id = integer_of(&value); id && *id >= 0)
      to.push_back(
          static_cast<TokenId>(std::min<std::int64_t>(*id, std::numeric_limits<TokenId>::max())));
  };
  if (ends == nullptr) return;
  if (ends->is_array())
    for (const auto& each : *ends) add(each);
  else
    add(*ends);
}

/// A template, or several with names. Also the first of several tells the kind.
std::string template_in(const Json& config) {
  const auto* written = member(&config, "chat_template");
  if (written != nullptr && written->is_array() && !written->empty())
    written = member(&written->front(), "template");
  return string_of(written);
}

}  // namespace

SideFiles parse_side_files(const SideTexts& texts) {
  SideFiles files;
  files.context_length = any_length;
  files.metadata = tokenizer_metadata(parse_json(texts.tokenizer, "tokenizer.json"));
  auto& metadata = files.metadata.metadata;
  const auto parsed = [](const std::string& text, const char* name) {
    return text.empty() ? Json() : parse_json(text, name);
  };
  const auto own = parsed(texts.tokenizer_config, "tokenizer_config.json");
  const auto config = parsed(texts.config, "config.json");
  const auto genai = parsed(texts.genai_config, "genai_config.json");
  const auto* const genai_model = member(&genai, "model");
  auto written = texts.chat_template.empty() ? template_in(own) : texts.chat_template;
  if (!written.empty()) metadata["tokenizer.chat_template"] = std::move(written);
  add_ends(member(&config, "eos_token_id"), files.ends);
  const auto generation = parsed(texts.generation_config, "generation_config.json");
  add_ends(member(&generation, "eos_token_id"), files.ends);
  add_ends(member(genai_model, "eos_token_id"), files.ends);
  // A name, or an object that describes the token.
  const auto* const end = member(&own, "eos_token");
  const auto name = string_of(end != nullptr && end->is_object() ? member(end, "content") : end);
  const auto& names = files.metadata.get<std::vector<std::string>>("tokenizer.ggml.tokens");
  if (const auto at = std::ranges::find(names, name); !name.empty() && at != names.end())
    files.ends.push_back(static_cast<TokenId>(at - names.begin()));
  for (const auto* length :
       {member(&config, "max_position_embeddings"), member(genai_model, "context_length")})
    if (const auto value = integer_of(length); value && *value > 0)
      files.context_length =
          static_cast<std::uint32_t>(std::min<std::int64_t>(*value, files.context_length));
  return files;
}

SideFiles read_side_files(const std::filesystem::path& folder) {
  auto from = folder;
  std::error_code failed;
  if (!std::filesystem::exists(from / "tokenizer.json", failed) && from.filename() == "onnx")
    from = from.parent_path();
  SideTexts texts;
  texts.tokenizer = text_of(from / "tokenizer.json", most_tokenizer_bytes);
  if (texts.tokenizer.empty())
    malformed("there is no tokenizer.json beside the model: a language model needs it");
  const auto other = [&](const char* name) { return text_of(from / name, most_other_bytes); };
  texts.tokenizer_config = other("tokenizer_config.json");
  texts.chat_template = other("chat_template.jinja");
  texts.config = other("config.json");
  texts.generation_config = other("generation_config.json");
  texts.genai_config = other("genai_config.json");
  return parse_side_files(texts);
}

}  // namespace polychron::text::detail
