#include "apps/text/tokenizer.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "apps/text/problem.hpp"
#include "apps/text/unicode.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t most_tokens = 1U << 22U;
constexpr std::size_t longest_control = 256;
/// GGUF's types of tokens.
constexpr double control_type = 3, user_type = 4;

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

// -- words ----------------------------------------------------------------------------------------

/// Cuts text into words by GPT-2's expression:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  /// The next word; empty at the end.
  std::string_view next() {
    if (text_.empty()) return {};
    auto length = suffix();
    if (length == 0) length = run();
    if (length == 0) length = space();
    const auto word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

 private:
  std::size_t suffix() const {
    for (const std::string_view known : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text_.starts_with(known)) return known.size();
    return 0;
  }
  /// A run of one class, with a space in front of it.
  std::size_t run() const {
    const std::size_t begin = text_.front() == ' ' ? 1 : 0;
    const auto kind = class_at(begin);
    return kind && *kind != CharClass::space ? end_of(*kind, begin) : 0;
  }
  /// All white space, without the last character if a word follows: it belongs to that.
  std::size_t space() const {
    const auto end = end_of(CharClass::space, 0);
    if (end == text_.size()) return end;
    std::size_t last = 0;
    for (std::size_t at = 0; at < end; at += code_point(text_.substr(at)).bytes) last = at;
    return last == 0 ? end : last;
  }
  std::optional<CharClass> class_at(std::size_t at) const {
    if (at >= text_.size()) return std::nullopt;
    return char_class(code_point(text_.substr(at)).code);
  }
  std::size_t end_of(CharClass kind, std::size_t at) const {
    while (class_at(at) == kind) at += code_point(text_.substr(at)).bytes;
    return at;
  }

  std::string_view text_;
};

/// Calls f(part) for each digit, and for the text between digits.
template <class F>
void each_part(std::string_view text, bool single_digits, F&& f) {
  std::size_t begin = 0;
  for (std::size_t at = 0; single_digits && at < text.size();) {
    const auto next = code_point(text.substr(at));
    if (char_class(next.code) == CharClass::number) {
      f(text.substr(begin, at - begin));
      f(text.substr(at, next.bytes));
      begin = at + next.bytes;
    }
    at += next.bytes;
  }
  f(text.substr(begin));
}

}  // namespace

// -- reading --------------------------------------------------------------------------------------

Tokenizer::Tokenizer(const Gguf& gguf) {
  const auto& kind = gguf.get<std::string>("tokenizer.ggml.model");
  if (kind != "gpt2") unsupported("a tokenizer of the kind " + quote(kind));
  const auto* const words = gguf.find<std::string>("tokenizer.ggml.pre");
  if (words == nullptr || (*words != "smollm" && *words != "gpt-2"))
    unsupported("a tokenizer that cuts words as " + quote(words == nullptr ? "" : *words));
  single_digits_ = *words == "smollm";
  read_tokens(gguf);
  read_ends(gguf);
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
    const auto type = types == nullptr ? 1 : (*types)[i];
    if ((type == control_type || type == user_type) && !names[i].empty()) {
      if (names[i].size() > longest_control)
        unsupported("a control token of " + std::to_string(names[i].size()) + " bytes");
      controls_.emplace(names[i], id);
      bytes_.push_back(type == user_type ? names[i] : "");
      continue;
    }
    by_name.emplace(names[i], id);
    bytes_.push_back(decoded(names[i]));
    if (bytes_.back().size() == 1) of_byte_.at(static_cast<unsigned char>(bytes_.back()[0])) = id;
  }
  read_merges(gguf, by_name);
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
    merges_.emplace(both, Merge{static_cast<std::uint32_t>(i), id_of(whole)});
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
  for (const auto* const name : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>"})
    if (const auto id = find(name)) ends_.push_back(*id);
  const auto* const add_first = gguf.find<bool>("tokenizer.ggml.add_bos_token");
  if (add_first != nullptr && *add_first) first_ = named("tokenizer.ggml.bos_token_id");
}

bool Tokenizer::ends(TokenId token) const { return std::ranges::find(ends_, token) != ends_.end(); }

std::optional<TokenId> Tokenizer::find(std::string_view control) const {
  const auto at = controls_.find(control);
  return at == controls_.end() ? std::nullopt : std::optional(at->second);
}

// -- encoding -------------------------------------------------------------------------------------

std::optional<Tokenizer::Merge> Tokenizer::merge_of(TokenId left, TokenId right) const {
  const auto at = merges_.find({left, right});
  return at == merges_.end() ? std::nullopt : std::optional(at->second);
}

/// Merges pairs in the order of their ranks, the leftmost of equal ones first. A list of symbols
/// and a queue of pairs: O(n log n), as a stranger's word may be as long as the prompt.
void Tokenizer::encode_word(std::string_view word, std::vector<TokenId>& tokens) const {
  struct Symbol {
    std::optional<TokenId> token;  ///< empty: merged into the one before
    std::size_t before, behind;
  };
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (const char c : word)
    if (const auto token = of_byte_[static_cast<unsigned char>(c)])
      symbols.push_back({*token, symbols.size() - 1, symbols.size() + 1});
  if (symbols.empty()) return;
  symbols.front().before = symbols.back().behind = none;
  /// rank, left symbol, both tokens, right symbol: outdated once a symbol has another token.
  using Pair = std::tuple<std::uint32_t, std::size_t, TokenId, TokenId, std::size_t>;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    const auto a = *symbols[left].token, b = *symbols[right].token;
    if (const auto merge = merge_of(a, b)) pairs.emplace(merge->rank, left, a, b, right);
  };
  for (std::size_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
  while (!pairs.empty()) {
    const auto [rank, left, a, b, right] = pairs.top();
    pairs.pop();
    if (symbols[left].token != a || symbols[right].token != b || symbols[left].behind != right)
      continue;
    symbols[left].token = merge_of(a, b)->whole;
    symbols[left].behind = symbols[right].behind;
    symbols[right].token.reset();
    if (symbols[left].behind != none) symbols[symbols[left].behind].before = left;
    consider(symbols[left].before, left);
    consider(left, symbols[left].behind);
  }
  for (std::size_t i = 0; i != none; i = symbols[i].behind) tokens.push_back(*symbols[i].token);
}

void Tokenizer::encode_text(std::string_view text, std::vector<TokenId>& tokens) const {
  each_part(text, single_digits_, [&](std::string_view part) {
    Words words(part);
    for (auto word = words.next(); !word.empty(); word = words.next()) encode_word(word, tokens);
  });
}

std::vector<TokenId> Tokenizer::encode(const std::vector<Segment>& segments) const {
  std::vector<TokenId> tokens;
  if (first_) tokens.push_back(*first_);
  std::string text;  // since the last control token
  const auto control_at = [&](std::string_view at) -> std::optional<std::size_t> {
    std::optional<std::size_t> longest;
    for (std::size_t length = 1; length <= at.size(); ++length) {
      const auto beginning = at.substr(0, length);
      const auto next = controls_.lower_bound(beginning);
      if (next == controls_.end() || !next->first.starts_with(beginning)) break;
      if (next->first.size() == length) longest = length;
    }
    return longest;
  };
  for (const auto& segment : segments) {
    if (!segment.trusted) {
      text += segment.text;
      continue;
    }
    for (auto left = segment.text; !left.empty();) {
      if (const auto length = control_at(left)) {
        encode_text(text, tokens);
        text.clear();
        tokens.push_back(*find(left.substr(0, *length)));
        left.remove_prefix(*length);
      } else {
        text += left.front();
        left.remove_prefix(1);
      }
    }
  }
  encode_text(text, tokens);
  return tokens;
}

}  // namespace polychron::text::detail
