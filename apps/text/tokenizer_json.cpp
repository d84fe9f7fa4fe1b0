#include "apps/text/tokenizer_json.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/text/problem.hpp"
#include "apps/text/tokenizer.hpp"

namespace polychron::text::detail {

namespace {

[[noreturn]] void malformed_file(const std::string& why) { malformed("tokenizer.json: " + why); }
[[noreturn]] void unsupported_part(const std::string& what) {
  unsupported(what + " in tokenizer.json");
}

std::string type_of(const Json* part) { return string_of(member(part, "type")); }

/// The parts of a sequence; of anything else itself; of null none.
std::vector<const Json*> parts_of(const Json* part, const char* list) {
  if (part == nullptr) return {};
  if (type_of(part) != "Sequence") return {part};
  std::vector<const Json*> parts;
  if (const auto* const all = member(part, list); all != nullptr && all->is_array())
    for (const auto& each : *all) parts.push_back(&each);
  return parts;
}

/// The rule for words that an expression stands for.
std::string_view rule_of(const std::string& expression) {
  constexpr std::string_view head =
                                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})",
                             tail = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  for (const auto& [digits, name] :
       {std::pair<std::string_view, std::string_view>{"", "qwen2"}, {"{1,3}", "llama-bpe"}})
    if (expression == std::string(head).append(digits).append(tail)) return name;
  unsupported_part("the expression " + quote(expression) + " for words");
}

class TokenizerReader {
 public:
  explicit TokenizerReader(const Json& root) : root_(root), model_(member(&root, "model")) {}

  Gguf read() {
    if (type_of(model_) != "BPE") unsupported_part("a model of the type " + quote(type_of(model_)));
    for (const auto* const name : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!string_of(member(model_, name)).empty()) unsupported_part(name);
    is_sentence_piece_ = is_true(member(model_, "byte_fallback"));
    read_tokens();
    read_merges();
    is_sentence_piece_ ? read_spaces() : read_words();
    read_first();
    return std::move(made_);
  }

 private:
  void put(const char* key, MetaValue value) { made_.metadata[key] = std::move(value); }

  void read_tokens() {
    const auto* const vocabulary = member(model_, "vocab");
    const auto* const added = member(&root_, "added_tokens");
    if (vocabulary == nullptr || !vocabulary->is_object() || vocabulary->empty())
      malformed_file("it has no vocabulary");
    if (added != nullptr && !added->is_array()) malformed_file("'added_tokens' is no list");
    // Gaps between numbers are few.
    const auto count = vocabulary->size() + (added == nullptr ? 0 : added->size());
    most_ = 2 * static_cast<std::int64_t>(count) + 1024;
    const auto unknown = string_of(member(model_, "unk_token"));
    for (const auto& [name, id] : vocabulary->items()) {
      const bool is_byte = is_sentence_piece_ && name.size() == 6 && name.starts_with("<0x");
      add(name, integer_of(&id),
          is_byte           ? byte_type
          : name == unknown ? unknown_type
                            : normal_type);
    }
    if (added != nullptr)
      for (const auto& each : *added) add_own(each);
    put("tokenizer.ggml.tokens", tokens_);
    put("tokenizer.ggml.token_type", types_);
  }

  void add(const std::string& name, std::optional<std::int64_t> id, double type) {
    if (!id || *id < 0 || *id >= most_)
      malformed_file("the token " + quote(name) + " has no number from 0 to " +
                     std::to_string(most_ - 1));
    const auto at = static_cast<std::size_t>(*id);
    if (at >= tokens_.size()) {
      tokens_.resize(at + 1);
      types_.resize(at + 1, unused_type);
    }
    tokens_[at] = name;
    types_[at] = type;
  }

  void add_own(const Json& token) {
    const auto name = string_of(member(&token, "content"));
    for (const auto* const flag : {"single_word", "lstrip", "rstrip"})
      if (is_true(member(&token, flag)))
        unsupported_part("the token " + quote(name) + " with " + quote(flag));
    const bool is_unknown = is_sentence_piece_ && name == string_of(member(model_, "unk_token"));
    add(name, integer_of(member(&token, "id")),
        is_unknown                           ? unknown_type
        : is_true(member(&token, "special")) ? control_type
                                             : user_type);
  }

  /// "a b", or ["a", "b"].
  void read_merges() {
    const auto* const all = member(model_, "merges");
    if (all == nullptr || !all->is_array()) malformed_file("it has no merges");
    std::vector<std::string> merges;
    std::map<std::string, double, std::less<>> scores;  // of what merges make
    for (const auto& each : *all) {
      const bool is_pair = each.is_array() && each.size() == 2;
      const auto left = is_pair ? string_of(&each[0]) : std::string();
      auto text = is_pair ? left + " " + string_of(&each[1]) : string_of(&each);
      const auto space = is_pair ? left.size() : text.find(' ', 1);
      if (space == std::string::npos || space == 0 || space + 1 >= text.size())
        malformed_file("the merge " + quote(text) + " is no pair");
      const auto rank = -1 - static_cast<double>(scores.size());
      if (is_sentence_piece_)
        scores.emplace(text.erase(space, 1), rank);
      else
        merges.push_back(std::move(text));
    }
    if (!is_sentence_piece_) return put("tokenizer.ggml.merges", std::move(merges));
    std::vector<double> of_tokens;
    for (const auto& name : tokens_) {
      const auto score = scores.find(name);
      of_tokens.push_back(score == scores.end() ? 0 : score->second);
    }
    put("tokenizer.ggml.scores", std::move(of_tokens));
  }

  /// Spaces of SentencePiece: a sign in their place, and one in front of a text.
  void read_spaces() {
    bool adds_space = false, replaces = false;
    for (const auto* const part : parts_of(member(&root_, "normalizer"), "normalizers")) {
      if (type_of(part) == "Prepend")
        adds_space = true;
      else if (type_of(part) == "Replace" && string_of(member(part, "content")) == "\u2581")
        replaces = true;
      else
        unsupported_part("the normalizer " + quote(type_of(part)));
    }
    // Gemma's cuts at spaces, of which the normalizer has left none.
    for (const auto* const part : parts_of(member(&root_, "pre_tokenizer"), "pretokenizers"))
      if (!replaces || type_of(part) != "Split" ||
          string_of(member(member(part, "pattern"), "String")) != " ")
        unsupported_part("the pre_tokenizer " + quote(type_of(part)));
    if (!replaces) unsupported_part("a tokenizer that keeps spaces");
    put("tokenizer.ggml.model", std::string("llama"));
    put("tokenizer.ggml.add_space_prefix", adds_space);
  }

  /// How text is cut into words: the rule's name in GGUF.
  void read_words() {
    for (const auto* const part : parts_of(member(&root_, "normalizer"), "normalizers"))
      if (type_of(part) != "NFC") unsupported_part("the normalizer " + quote(type_of(part)));
    std::string_view split;
    bool cuts_digits = false, cuts_words = false, has_bytes = false;
    for (const auto* const part : parts_of(member(&root_, "pre_tokenizer"), "pretokenizers")) {
      const auto type = type_of(part);
      if (type == "Digits" && is_true(member(part, "individual_digits")) && !has_bytes) {
        cuts_digits = true;
      } else if (type == "Split" && split.empty() && !has_bytes &&
                 string_of(member(part, "behavior")) == "Isolated" &&
                 !is_true(member(part, "invert"))) {
        split = rule_of(string_of(member(member(part, "pattern"), "Regex")));
      } else if (type == "ByteLevel" && !has_bytes && !is_true(member(part, "add_prefix_space"))) {
        has_bytes = true;
        const auto* const cuts = member(part, "use_regex");
        cuts_words = cuts == nullptr || is_true(cuts);
      } else {
        unsupported_part("the pre_tokenizer " + quote(type) + " as it is");
      }
    }
    if (!has_bytes || split.empty() != cuts_words || (cuts_digits && !cuts_words))
      unsupported_part("a pre_tokenizer that cuts words in another way than is known here");
    const auto name = cuts_digits ? "smollm" : cuts_words ? "gpt-2" : split;
    if (is_true(member(model_, "ignore_merges")) != (name == "llama-bpe"))
      unsupported_part("'ignore_merges' with words of " + quote(name));
    put("tokenizer.ggml.model", std::string("gpt2"));
    put("tokenizer.ggml.pre", std::string(name));
  }

  /// A token in front of every text.
  void read_first() {
    put("tokenizer.ggml.add_bos_token", false);
    for (const auto* const part : parts_of(member(&root_, "post_processor"), "processors")) {
      if (type_of(part) == "ByteLevel") continue;
      const auto* const single = member(part, "single");
      if (type_of(part) != "TemplateProcessing" || single == nullptr || !single->is_array())
        unsupported_part("the post_processor " + quote(type_of(part)));
      const auto name_of = [](const Json& piece) {
        return string_of(member(member(&piece, "SpecialToken"), "id"));
      };
      if (single->size() == 1 && name_of(single->front()).empty()) continue;
      const auto name = single->size() == 2 ? name_of(single->front()) : std::string();
      const auto at = std::ranges::find(tokens_, name);
      if (name.empty() || !name_of(single->back()).empty() || at == tokens_.end())
        unsupported_part("a template of other parts than a token and the text");
      put("tokenizer.ggml.bos_token_id", std::int64_t{at - tokens_.begin()});
      put("tokenizer.ggml.add_bos_token", true);
    }
  }

  const Json& root_;
  const Json* const model_;
  bool is_sentence_piece_ = false;
  std::int64_t most_ = 0;  ///< tokens
  std::vector<std::string> tokens_;
  std::vector<double> types_;
  Gguf made_;
};

}  // namespace

Gguf tokenizer_metadata(const Json& tokenizer) { return TokenizerReader(tokenizer).read(); }

}  // namespace polychron::text::detail
