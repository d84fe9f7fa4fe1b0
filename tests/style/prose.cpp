#include "tests/style/prose.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>

namespace style {

namespace {

bool letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Markdown without its marks, on the same lines: code spans become one word, links become their
/// text.
std::string without_marks(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char closing = c == '`' ? '`' : ')';
    const bool link = c == ']' && i + 1 < text.size() && text[i + 1] == '(';
    if (c == '`' || link) {
      const auto end = text.find(closing, i + 1);
      if (c == '`') plain += "`code`";
      if (end == std::string::npos) continue;
      for (; i < end; ++i)
        if (text[i] == '\n') plain += '\n';
    } else if (c != '*' && c != '[' && c != ']') {
      plain += c;
    }
  }
  return plain;
}

std::vector<Word> words_of(const std::string& text, std::size_t line) {
  std::vector<Word> words;
  std::istringstream lines(text);
  for (std::string all; std::getline(lines, all); ++line) {
    std::istringstream in(all);
    for (std::string word; in >> word;) words.push_back({word, line});
  }
  return words;
}

/// The column where the line's comment begins; npos without one. Slashes in a literal do not count.
std::size_t comment_in(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        quoted = false;
    } else if (line[i] == '"') {
      quoted = true;
    } else if (line.compare(i, 3, "'\"'") == 0) {
      i += 2;
    } else if (line.compare(i, 4, "'\\\"'") == 0) {
      i += 3;
    } else if (line.compare(i, 2, "//") == 0) {
      return i;
    }
  }
  return std::string::npos;
}

/// The length of a list item's dash or number, with the spaces behind it; 0 if the line is no item.
std::size_t item_mark(const std::string& line) {
  const auto end = line.find_first_not_of("0123456789");
  if (end == std::string::npos) return 0;
  const bool number = end > 0 && line[end] == '.';
  const bool dash = end == 0 && (line[0] == '-' || line[0] == '*');
  const auto space = end + 1;
  if ((!number && !dash) || space >= line.size() || line[space] != ' ') return 0;
  const auto text = line.find_first_not_of(' ', space);
  return text == std::string::npos ? 0 : text;
}

/// Gathers lines, and cuts them into words when a paragraph ends.
class Gathering {
 public:
  void add(const std::string& text, std::size_t line) {
    if (text_.empty()) begin_ = line;
    text_ += text + '\n';
  }
  void end(bool running, bool marked) {
    running = running && !text_.starts_with("![");  // a picture, with its description
    if (!text_.empty())
      all_.push_back({words_of(marked ? without_marks(text_) : text_, begin_), running});
    text_.clear();
  }
  bool empty() const { return text_.empty(); }
  std::vector<Prose> take() { return std::move(all_); }

 private:
  std::string text_;
  std::size_t begin_ = 0;
  std::vector<Prose> all_;
};

}  // namespace

std::vector<Prose> paragraphs_of(const std::string& page) {
  Gathering paragraphs;
  std::istringstream lines(page);
  bool example = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    const bool fence = line.starts_with("```");
    if (fence) example = !example;
    const bool row = line.starts_with('|'), heading = line.starts_with('#');
    const auto mark = item_mark(line);
    if (fence || example || row || heading || mark > 0 || line.empty() || line.starts_with('<'))
      paragraphs.end(true, true);
    if (fence || example || line.empty() || line.starts_with('<')) continue;
    paragraphs.add(line.substr(mark), number);
    if (row || heading) paragraphs.end(false, true);
  }
  paragraphs.end(true, true);
  return paragraphs.take();
}

std::vector<Prose> comments_of(const std::string& source) {
  Gathering comments;
  std::istringstream lines(source);
  std::size_t number = 0, column = std::string::npos;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto begin = comment_in(line);
    const auto text = begin == std::string::npos ? begin : line.find_first_not_of("/<!", begin);
    const bool alone = line.find_first_not_of(' ') == begin;
    if (text == std::string::npos || !alone || begin != column) comments.end(true, false);
    if (text != std::string::npos) comments.add(line.substr(text), number);
    column = begin;
  }
  comments.end(true, false);
  return comments.take();
}

std::vector<std::span<const Word>> sentences_of(const Prose& prose) {
  std::vector<std::span<const Word>> sentences;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < prose.words.size(); ++i) {
    const auto& text = prose.words[i].text;
    const auto last = text.find_last_not_of(")\"'_");
    const bool stops = last != std::string::npos && std::strchr(".!?", text[last]) != nullptr;
    const bool ends = i + 1 == prose.words.size();
    const char next = ends ? 'A' : prose.words[i + 1].text.front();
    const bool begins = std::isupper(static_cast<unsigned char>(next)) != 0 ||
                        std::isdigit(static_cast<unsigned char>(next)) != 0 || next == '"' ||
                        next == '(' || next == '`';
    if (!ends && !(stops && begins)) continue;
    sentences.push_back(std::span(prose.words).subspan(begin, i + 1 - begin));
    begin = i + 1;
  }
  return sentences;
}

std::size_t count_words(std::span<const Word> words) {
  return static_cast<std::size_t>(std::ranges::count_if(
      words, [](const Word& word) { return std::ranges::any_of(word.text, letter_or_digit); }));
}

std::string bare(const Word& word) {
  const auto first = std::ranges::find_if(word.text, letter_or_digit);
  const auto last = std::find_if(word.text.rbegin(), word.text.rend(), letter_or_digit).base();
  std::string text(first, std::max(first, last));
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

}  // namespace style
