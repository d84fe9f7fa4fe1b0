// Plain English is a test: the length of sentences and paragraphs in the pages, and phrases that
// they avoid. The same phrases in comments are warnings.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/style/prose.hpp"
#include "tests/style/text_of.hpp"

namespace fs = std::filesystem;

using style::Prose;
using style::root;
using style::text_of;
using style::Word;

namespace {

constexpr std::size_t sentence_aim = 25, sentence_limit = 30, paragraph_limit = 100;

struct Phrase {
  std::vector<std::string> words;
  std::string instead;
};

/// Phrases that a reader trips over, and the plain way to say the same.
const std::vector<Phrase> banned{
    {{"but", "for"}, "\"except\""},
    {{"likewise"}, "say again what is the same"},
    {{"whoever"}, "name the actor, the thread or the caller"},
    {{"whomever"}, "name the actor, the thread or the caller"},
    {{"of", "such"}, "\"of these\", or name them"},
    {{"so", "many"}, "the number, or its name"},
    {{"as", "that"}, "repeat the noun"},
    {{"for", "once"}, "say when, or leave it out"},
    {{"is", "what", "it", "is"}, "say what it is"},
    {{"not", "without"}, "\"with\""},
    {{"he"}, "\"it\" for an actor or a thread, \"they\" for a person"},
    {{"him"}, "\"it\" for an actor or a thread, \"them\" for a person"},
    {{"his"}, "\"its\" for an actor or a thread, \"their\" for a person"},
};

/// Beginnings that make a relative clause the subject of a sentence.
const std::vector<std::string> clause_openings{"What", "Who", "Whom", "Whether"};

struct Fault {
  std::size_t line;
  std::string message;
};

std::string beginning_of(std::span<const Word> words) {
  std::string text;
  for (const auto& word : words.first(std::min<std::size_t>(words.size(), 8)))
    text += (text.empty() ? "" : " ") + word.text;
  return text;
}

bool says(std::span<const Word> words, const Phrase& phrase) {
  if (words.size() < phrase.words.size()) return false;
  for (std::size_t i = 0; i < phrase.words.size(); ++i) {
    if (style::bare(words[i]) != phrase.words[i]) return false;
    // Punctuation within it makes it something else: "it is not, without doubt".
    const bool last = i + 1 == phrase.words.size();
    if (!last && std::isalnum(static_cast<unsigned char>(words[i].text.back())) == 0) return false;
  }
  return true;
}

std::vector<Fault> banned_phrases(const Prose& prose) {
  std::vector<Fault> faults;
  const std::span<const Word> words = prose.words;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const auto& phrase : banned)
      if (says(words.subspan(i), phrase))
        faults.push_back({words[i].line, "\"" + beginning_of(words.subspan(i)) +
                                             " ...\"; instead: " + phrase.instead});
  return faults;
}

/// Questions may begin with any word.
std::vector<Fault> clause_as_subject(std::span<const Word> sentence) {
  const auto& first = sentence.front().text;
  if (std::ranges::find(clause_openings, first) == clause_openings.end()) return {};
  if (sentence.back().text.ends_with('?')) return {};
  return {{sentence.front().line,
           "\"" + beginning_of(sentence) + " ...\"; instead: a noun, or name the actor"}};
}

std::vector<Fault> faults_of_comment(const Prose& comment) {
  auto faults = banned_phrases(comment);
  if (const auto sentences = style::sentences_of(comment); !sentences.empty())
    for (auto& fault : clause_as_subject(sentences.front())) faults.push_back(std::move(fault));
  return faults;
}

/// The pages that people write: docs/operators.md is made from the table of operators.
std::vector<std::string> written_pages() {
  std::vector<std::string> list;
  for (const auto& folder : {root, root / "docs"})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".md" && entry.path().filename() != "operators.md")
        list.push_back(fs::relative(entry.path(), root).string());
  BOOST_REQUIRE(list.size() > 10);
  return list;
}

/// The C++ files of every folder, except in those that git ignores.
std::vector<std::string> commented_files() {
  std::vector<std::string> list;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const auto& path = entry->path();
    if (path.filename() == "node_modules" || path.filename().string().starts_with("build"))
      entry.disable_recursion_pending();
    if (path.extension() == ".cpp" || path.extension() == ".hpp")
      list.push_back(fs::relative(path, root).string());
  }
  BOOST_REQUIRE(list.size() > 500);
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(english)

BOOST_AUTO_TEST_CASE(sentences_of_pages_are_short) {
  for (const auto& page : written_pages()) {
    std::size_t sentences = 0, long_ones = 0;
    std::ostringstream which;
    for (const auto& paragraph : style::paragraphs_of(text_of(page))) {
      if (!paragraph.running) continue;
      for (const auto sentence : style::sentences_of(paragraph)) {
        const auto count = style::count_words(sentence);
        const auto line = sentence.front().line;
        BOOST_TEST(count <= sentence_limit, page << ":" << line << ": a sentence of " << count
                                                 << " words, \"" << beginning_of(sentence)
                                                 << " ...\"; instead: two, or a list");
        ++sentences;
        if (count <= sentence_aim) continue;
        ++long_ones;
        which << "\n" << page << ":" << line << ": " << beginning_of(sentence) << " ...";
      }
    }
    BOOST_TEST(long_ones * 10 <= sentences, page << ": " << long_ones << " of " << sentences
                                                 << " sentences have more than " << sentence_aim
                                                 << " words; make two of some:" << which.str());
  }
}

BOOST_AUTO_TEST_CASE(paragraphs_of_pages_are_short) {
  for (const auto& page : written_pages())
    for (const auto& paragraph : style::paragraphs_of(text_of(page))) {
      if (!paragraph.running || paragraph.words.empty()) continue;
      const auto count = style::count_words(paragraph.words);
      BOOST_TEST(count <= paragraph_limit,
                 page << ":" << paragraph.words.front().line << ": a paragraph of " << count
                      << " words; instead: two of one subject each, or a table");
    }
}

BOOST_AUTO_TEST_CASE(pages_use_plain_phrases) {
  for (const auto& page : written_pages())
    for (const auto& paragraph : style::paragraphs_of(text_of(page))) {
      auto faults = banned_phrases(paragraph);
      if (paragraph.running)
        for (const auto sentence : style::sentences_of(paragraph))
          for (auto& fault : clause_as_subject(sentence)) faults.push_back(std::move(fault));
      for (const auto& fault : faults)
        BOOST_TEST(false, page << ":" << fault.line << ": " << fault.message);
    }
}

BOOST_AUTO_TEST_CASE(comments_use_plain_phrases) {
  for (const auto& file : commented_files())
    for (const auto& comment : style::comments_of(text_of(file)))
      for (const auto& fault : faults_of_comment(comment))
        BOOST_WARN_MESSAGE(false, file << ":" << fault.line << ": " << fault.message);
}

BOOST_AUTO_TEST_CASE(it_finds_what_it_looks_for) {
  const auto count = [](const std::string& source) {
    std::size_t faults = 0;
    for (const auto& comment : style::comments_of(source))
      faults += faults_of_comment(comment).size();
    return faults;
  };
  BOOST_TEST(count("/// All lanes but\n/// for one wait.\nint a;\n") == 1U);
  BOOST_TEST(count("int a;  ///< likewise\n") == 1U);
  BOOST_TEST(count("// What is cut.\n\n// Who waits.\n") == 2U);
  BOOST_TEST(count("// What is cut? The end.\n") == 0U);
  BOOST_TEST(count("const char* a = \"// whoever\";\n") == 0U);

  const auto page = style::paragraphs_of(
      "# Heading\n\nOne `code span` and [a link\nof two](where.md#it). Two.\n\n- Item\n  goes on.\n"
      "- Item.\n\n```\nexample\n```\n\n| row |\n");
  BOOST_REQUIRE(page.size() == 5U);
  BOOST_TEST(!page[0].running);
  BOOST_TEST(style::count_words(page[1].words) == 8U);
  BOOST_TEST(page[1].words.back().line == 4U);
  BOOST_TEST(style::sentences_of(page[1]).size() == 2U);
  BOOST_TEST(style::count_words(page[2].words) == 3U);
  BOOST_TEST(!page[4].running);
}

BOOST_AUTO_TEST_SUITE_END()
