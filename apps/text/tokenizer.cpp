#include "apps/text/tokenizer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <queue>
#include <system_error>
#include <tuple>
#include <utility>

#include "apps/text/problem.hpp"
#include "apps/text/unicode.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t most_tokens = 1U << 22U;
constexpr std::size_t longest_control = 256;

/// The names of tokens have a visible character for each byte: GPT-2's table, from character to
/// byte. Bytes that are not visible stand from U+0100 on.
std::optional<std::uint8_t> byte_of(std::uint32_t code) {
  static const auto table = [] {
    std::array<std::optional<std::uint8_t>, 324> made;
    std::uint32_t moved = 256;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
      made.at(visible ? byte : moved++) = static_cast<std::uint8_t>(byte);
    }
    return made;
  }();
  return code < table.size() ? table[code] : std::nullopt;
}

/// The bytes for which a token's name stands. A name with other characters stands for itself.
std::string decoded(std::string_view name) {
  std::string bytes;
  for (auto left = name; !left.empty();) {
    const auto next = code_point(left);
    const auto byte = byte_of(next.code);
    if (!byte) return std::string(name);
    bytes += static_cast<char>(*byte);
    left.remove_prefix(next.bytes);
  }
  return bytes;
}

/// SentencePiece's sign for a space is U+2581.
std::string with_spaces(std::string_view name) {
  constexpr std::string_view sign = "\u2581";
  std::string text;
  for (; !name.empty(); name.remove_prefix(name.starts_with(sign) ? sign.size() : 1))
    text += name.starts_with(sign) ? ' ' : name.front();
  return text;
}

/// The byte of a token "<0x0A>".
std::optional<std::uint8_t> byte_named(std::string_view name) {
  std::uint8_t byte = 0;
  if (name.size() != 6 || !name.starts_with("<0x") || name.back() != '>') return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
  if (error != std::errc() || end != name.data() + 5) return std::nullopt;
  return byte;
}

}  // namespace

// -- reading --------------------------------------------------------------------------------------

Tokenizer::Tokenizer(const Gguf& gguf, std::vector<TokenId> more_ends)
    : ends_(std::move(more_ends)) {
  const auto& kind = gguf.get<std::string>("tokenizer.ggml.model");
  if (kind == "gpt2") {
    const auto* const words = gguf.find<std::string>("tokenizer.ggml.pre");
    words_ = words == nullptr ? nullptr : word_rule(*words);
    if (words_ == nullptr)
      unsupported("a tokenizer that cuts words as " + quote(words == nullptr ? "" : *words));
  } else if (kind != "llama") {
    unsupported("a tokenizer of the kind " + quote(kind));
  }
  read_tokens(gguf);
  read_ends(gguf);
}

/// A control token, or one that the file's user has added. In a text that nobody trusts a name in
/// angle brackets is no token, whatever type the file gives it.
bool Tokenizer::read_own_token(const std::string& name, double type, TokenId id) {
  if ((type != control_type && type != user_type) || name.empty()) return false;
  if (name.size() > longest_control)
    unsupported("a control token of " + std::to_string(name.size()) + " bytes");
  const bool is_user = type == user_type && name.front() != '<';
  (is_user ? users_ : controls_).emplace(name, id);
  bytes_.push_back(type == user_type ? name : "");
  return true;
}

void Tokenizer::read_tokens(const Gguf& gguf) {
  const auto& names = gguf.get<std::vector<std::string>>("tokenizer.ggml.tokens");
  if (names.empty() || names.size() > most_tokens)
    malformed(std::to_string(names.size()) + " tokens");
  const auto* const types = gguf.find<std::vector<double>>("tokenizer.ggml.token_type");
  if (types != nullptr && types->size() != names.size())
    malformed(std::to_string(types->size()) + " types for " + std::to_string(names.size()) +
              " tokens");
  Names by_name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto type = types == nullptr ? normal_type : (*types)[i];
    if (read_own_token(names[i], type, id)) continue;
    if (words_ != nullptr) {
      by_name.emplace(names[i], id);
      bytes_.push_back(decoded(names[i]));
      const auto& bytes = bytes_.back();
      if (words_->takes_whole) names_.emplace(bytes, id);
      if (bytes.size() == 1) of_byte_.at(static_cast<unsigned char>(bytes[0])) = id;
      continue;
    }
    const auto byte = type == byte_type ? byte_named(names[i]) : std::nullopt;
    if (byte) of_byte_.at(*byte) = id;
    if (type == unknown_type) unknown_ = id;
    bytes_.push_back(byte                   ? std::string(1, static_cast<char>(*byte))
                     : type == unknown_type ? ""
                                            : with_spaces(names[i]));
    if (!byte && !bytes_.back().empty()) names_.emplace(bytes_.back(), id);
  }
  if (words_ != nullptr)
    read_merges(gguf, by_name);
  else
    read_scores(gguf);
}

void Tokenizer::read_scores(const Gguf& gguf) {
  scores_ = gguf.get<std::vector<double>>("tokenizer.ggml.scores");
  if (scores_.size() != size())
    malformed(std::to_string(scores_.size()) + " scores for " + std::to_string(size()) + " tokens");
  if (std::ranges::any_of(scores_, [](double score) { return std::isnan(score); }))
    malformed("a score of a token is not a number");
  const auto* const adds_space = gguf.find<bool>("tokenizer.ggml.add_space_prefix");
  adds_space_ = adds_space == nullptr || *adds_space;
}

void Tokenizer::read_merges(const Gguf& gguf, const Names& names) {
  const auto& merges = gguf.get<std::vector<std::string>>("tokenizer.ggml.merges");
  const auto id_of = [&](std::string_view name) {
    const auto at = names.find(name);
    if (at == names.end()) malformed("a merge with " + quote(name) + ", which is no token");
    return at->second;
  };
  std::string whole;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const std::string_view pair = merges[i];
    const auto space = pair.find(' ', 1);
    if (space == std::string_view::npos) malformed("the merge " + quote(pair) + " has no space");
    const auto left = pair.substr(0, space), right = pair.substr(space + 1);
    whole.assign(left).append(right);
    const std::pair both(id_of(left), id_of(right));
    merges_.emplace(both, Merge{static_cast<double>(i), id_of(whole)});
  }
}

void Tokenizer::read_ends(const Gguf& gguf) {
  const auto named = [&](const char* key) -> std::optional<TokenId> {
    const auto* const id = gguf.find<std::int64_t>(key);
    if (id == nullptr) return std::nullopt;
    if (*id < 0 || std::cmp_greater_equal(*id, size())) malformed(quote(key) + " is no token");
    return static_cast<TokenId>(*id);
  };
  for (const auto* const key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
    if (const auto id = named(key)) ends_.push_back(*id);
  for (const auto* const name :
       {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<end_of_turn>"})
    if (const auto id = find(name)) ends_.push_back(*id);
  const auto* const add_first = gguf.find<bool>("tokenizer.ggml.add_bos_token");
  if (add_first == nullptr ? words_ == nullptr : *add_first)
    first_ = named("tokenizer.ggml.bos_token_id");
}

std::string Tokenizer::name_of(TokenId token) const {
  const auto control = std::ranges::find(controls_, token, &Names::value_type::second);
  return control == controls_.end() ? bytes_.at(token) : control->first;
}

bool Tokenizer::ends(TokenId token) const { return std::ranges::find(ends_, token) != ends_.end(); }

std::optional<TokenId> Tokenizer::find(std::string_view control) const {
  const auto at = controls_.find(control);
  return at == controls_.end() ? std::nullopt : std::optional(at->second);
}

// -- encoding -------------------------------------------------------------------------------------

/// A part of a word that is a token, or a character that is none. Merged into the one before it, it
/// is empty.
struct Tokenizer::Symbol {
  std::string_view text;
  std::optional<TokenId> token;
  std::size_t before, behind;
};

std::optional<Tokenizer::Merge> Tokenizer::merge_of(const Symbol& left, const Symbol& right) const {
  if (words_ != nullptr) {
    const auto at = merges_.find({*left.token, *right.token});
    return at == merges_.end() ? std::nullopt : std::optional(at->second);
  }
  const std::string_view whole(left.text.data(), left.text.size() + right.text.size());
  const auto at = names_.find(whole);
  if (at == names_.end()) return std::nullopt;
  return Merge{-scores_.at(at->second), at->second};
}

/// Bytes, or characters.
std::vector<Tokenizer::Symbol> Tokenizer::symbols_of(std::string_view word) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  const auto add = [&](std::string_view text, std::optional<TokenId> token) {
    symbols.push_back({text, token, symbols.size() - 1, symbols.size() + 1});
  };
  for (std::size_t at = 0, length = 1; at < word.size(); at += length) {
    if (words_ != nullptr) {
      if (const auto token = of_byte_[static_cast<unsigned char>(word[at])])
        add(word.substr(at, 1), token);
      continue;
    }
    length = code_point(word.substr(at)).bytes;
    const auto text = word.substr(at, length);
    const auto named = names_.find(text);
    add(text, named == names_.end() ? std::nullopt : std::optional(named->second));
  }
  return symbols;
}

/// Merges pairs in the order of their ranks, the leftmost of equal ones first. A list of symbols
/// and a queue of pairs: O(n log n), as a stranger's word may be as long as the prompt.
void Tokenizer::encode_word(std::string_view word, std::vector<TokenId>& tokens) const {
  if (words_ != nullptr && words_->takes_whole)
    if (const auto whole = names_.find(word); whole != names_.end())
      return tokens.push_back(whole->second);
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  auto symbols = symbols_of(word);
  if (symbols.empty()) return;
  symbols.front().before = symbols.back().behind = none;
  /// A pair is outdated once one of its symbols has grown or is empty.
  struct Pair {
    Merge merge;
    std::size_t left, right, left_size, right_size;
    bool operator>(const Pair& other) const {
      return std::tie(merge.rank, left) > std::tie(other.merge.rank, other.left);
    }
  };
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    const auto &a = symbols[left], &b = symbols[right];
    if (const auto merge = merge_of(a, b))
      pairs.push({*merge, left, right, a.text.size(), b.text.size()});
  };
  for (std::size_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
  while (!pairs.empty()) {
    const auto next = pairs.top();
    pairs.pop();
    auto &left = symbols[next.left], &right = symbols[next.right];
    if (left.text.size() != next.left_size || right.text.size() != next.right_size) continue;
    left.text = {left.text.data(), next.left_size + next.right_size};
    left.token = next.merge.whole;
    left.behind = right.behind;
    right.text = {};
    if (left.behind != none) symbols[left.behind].before = next.left;
    consider(left.before, next.left);
    consider(next.left, left.behind);
  }
  for (std::size_t i = 0; i != none; i = symbols[i].behind) {
    if (symbols[i].token) {
      tokens.push_back(*symbols[i].token);
      continue;
    }
    for (const char c : symbols[i].text)
      if (const auto token = of_byte_[static_cast<unsigned char>(c)]; token || unknown_)
        tokens.push_back(token ? *token : *unknown_);
  }
}

void Tokenizer::encode_text(std::string_view text, std::vector<TokenId>& tokens) const {
  if (text.empty()) return;
  if (words_ != nullptr)
    return each_word(text, *words_, [&](std::string_view word) { encode_word(word, tokens); });
  encode_word((adds_space_ ? " " : "") + with_spaces(text), tokens);
}

/// The name of the longest token of the file's own at the beginning of the text.
std::optional<std::string_view> Tokenizer::own_token_at(std::string_view text, bool trusted) const {
  std::size_t longest = 0;
  for (const auto* const names : {&users_, &controls_}) {
    if (names == &controls_ && !trusted) continue;
    for (std::size_t length = 1; length <= text.size(); ++length) {
      const auto beginning = text.substr(0, length);
      const auto next = names->lower_bound(beginning);
      if (next == names->end() || !next->first.starts_with(beginning)) break;
      if (next->first.size() == length) longest = std::max(longest, length);
    }
  }
  return longest == 0 ? std::nullopt : std::optional(text.substr(0, longest));
}

std::vector<TokenId> Tokenizer::encode(const std::vector<Segment>& segments) const {
  std::vector<TokenId> tokens;
  if (first_) tokens.push_back(*first_);
  std::string text;  // since the last token of the file's own
  for (const auto& segment : segments)
    for (auto left = segment.text; !left.empty();) {
      if (const auto name = own_token_at(left, segment.trusted)) {
        encode_text(text, tokens);
        text.clear();
        const auto control = segment.trusted ? find(*name) : std::nullopt;
        tokens.push_back(control ? *control : users_.find(*name)->second);
        left.remove_prefix(name->size());
      } else {
        text += left.front();
        left.remove_prefix(1);
      }
    }
  encode_text(text, tokens);
  return tokens;
}

}  // namespace polychron::text::detail
