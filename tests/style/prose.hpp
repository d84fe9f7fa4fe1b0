// Prose as words: the paragraphs of a page, and the comments of a source file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace style {

struct Word {
  std::string text;      ///< with its punctuation
  std::size_t line = 0;  ///< in the file, counted from 1
};

struct Prose {
  std::vector<Word> words;
  bool running = true;  ///< false: a heading, a picture or a row of a table, which has no sentences
};

/// The paragraphs, list items, headings and table rows of a page in Markdown. Examples and the
/// targets of links are left out. A code span is one word.
std::vector<Prose> paragraphs_of(const std::string& page);

/// The comments of a C++ file: one for each run of lines whose comments begin in the same column.
/// A line that has only the slashes divides it.
std::vector<Prose> comments_of(const std::string& source);

/// A sentence ends with a word in . ! or ? if the next word begins as a sentence does: with a
/// capital, a digit, a quotation mark, a parenthesis or a code span.
std::vector<std::span<const Word>> sentences_of(const Prose& prose);

/// Words that have a letter or a digit.
std::size_t count_words(std::span<const Word> words);

/// The word without the punctuation around it, in lower case.
std::string bare(const Word& word);

}  // namespace style
