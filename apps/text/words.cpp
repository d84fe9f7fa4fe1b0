#include "apps/text/words.hpp"

#include <algorithm>
#include <array>

namespace polychron::text::detail {

namespace {

constexpr std::array word_rules{
    WordRule{.name = "gpt-2", .cuts_digits = false, .has_lines = false},
    WordRule{.name = "smollm", .cuts_digits = true, .has_lines = false},
    WordRule{.name = "qwen2", .cuts_digits = false, .has_lines = true},
    WordRule{.name = "llama-bpe",
             .cuts_digits = false,
             .has_lines = true,
             .most_digits = 3,
             .takes_whole = true},
};

bool is_line_break(char c) noexcept { return c == '\r' || c == '\n'; }

/// Cuts text by one of two expressions, in which \s, \p{L} and \p{N} are Unicode's. GPT-2's is
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// and GPT-4's, in which Qwen has single digits, \p{N}, and Llama 3 has up to three,
///   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
///   |\s*[\r\n]+|\s+(?!\S)|\s+
class Words {
 public:
  Words(std::string_view text, const WordRule& rule)
      : text_(text), has_lines_(rule.has_lines), most_digits_(rule.most_digits) {}
  /// The next word; empty at the end.
  std::string_view next() {
    if (text_.empty()) return {};
    auto length = suffix();
    if (length == 0) length = has_lines_ ? run_of_lines() : run();
    if (length == 0) length = space();
    const auto word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

 private:
  std::size_t suffix() const {
    for (const std::string_view known : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (has(known)) return known.size();
    return 0;
  }
  bool has(std::string_view known) const {
    return text_.size() >= known.size() &&
           std::ranges::equal(text_.substr(0, known.size()), known, [&](char c, char expected) {
             return c == expected ||
                    (has_lines_ && c >= 'A' && c <= 'Z' && c - 'A' + 'a' == expected);
           });
  }
  /// A run of one class, with a space in front of it.
  std::size_t run() const {
    const std::size_t begin = text_.front() == ' ' ? 1 : 0;
    const auto kind = class_at(begin);
    return kind && *kind != CharClass::space ? end_of(*kind, begin) : 0;
  }
  /// The same by GPT-4's expression.
  std::size_t run_of_lines() const {
    const auto first = *class_at(0);
    if (first == CharClass::number) return digits();
    const auto begin = first == CharClass::letter ? 0 : code_point(text_).bytes;
    const bool takes_first = begin == 0 || !is_line_break(text_.front());
    if (takes_first && class_at(begin) == CharClass::letter)
      return end_of(CharClass::letter, begin);
    const std::size_t other = text_.front() == ' ' ? 1 : 0;
    if (class_at(other) != CharClass::other) return 0;
    auto end = end_of(CharClass::other, other);
    while (end < text_.size() && is_line_break(text_[end])) ++end;
    return end;
  }
  std::size_t digits() const {
    std::size_t end = 0;
    for (std::uint32_t i = 0; i < most_digits_ && class_at(end) == CharClass::number; ++i)
      end += code_point(text_.substr(end)).bytes;
    return end;
  }
  /// All white space, without the last character if a word follows: it belongs to that. With lines,
  /// up to the last line break.
  std::size_t space() const {
    const auto end = end_of(CharClass::space, 0);
    if (has_lines_)
      if (const auto last = text_.substr(0, end).find_last_of("\r\n"); last != text_.npos)
        return last + 1;
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
  const bool has_lines_;
  const std::uint32_t most_digits_;
};

/// Calls f(part) for each digit, and for the text between digits.
template <class F>
void each_part(std::string_view text, bool cuts_digits, F&& f) {
  std::size_t begin = 0;
  for (std::size_t at = 0; cuts_digits && at < text.size();) {
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

const WordRule* word_rule(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(word_rules, name, &WordRule::name);
  return found == word_rules.end() ? nullptr : found;
}

void each_word(std::string_view text, const WordRule& rule,
               const std::function<void(std::string_view word)>& f) {
  each_part(text, rule.cuts_digits, [&](std::string_view part) {
    Words words(part, rule);
    for (auto word = words.next(); !word.empty(); word = words.next()) f(word);
  });
}

}  // namespace polychron::text::detail
