// Byte-pair encoding: words, merges, digits, control tokens.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/text/fixture.hpp"

using namespace polychron;
using text_tests::TemporaryFile;
using text_tests::TinyModel;

namespace {

struct TokenizerFixture : text_tests::ModelFixture {
  /// The names of the tokens, with a bar between them.
  std::string cut(std::string_view words) const { return cut(words, tiny, model); }
  static std::string cut(std::string_view words, const TinyModel& names_of, const text::Model& by) {
    std::string names;
    for (const auto token : by.tokenize(words))
      names += (names.empty() ? "" : "|") + names_of.tokens.at(token);
    return names;
  }
  text::Model load(const text_tests::File& changed) const {
    const TemporaryFile written(changed.bytes());
    return text::Model::load(context, written.path(), {.context_length = 100, .chats = 1});
  }
};

const std::string space = "\u0120", newline = "\u010a";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tokenizer, TokenizerFixture)

BOOST_AUTO_TEST_CASE(pairs_merge_in_the_order_of_their_ranks) {
  BOOST_TEST(cut("hello") == "hello");
  BOOST_TEST(cut("hell") == "hell");
  BOOST_TEST(cut("world") == "w|orl|d");
  BOOST_TEST(cut("hello world") == "hello|" + space + "w|orl|d");
  BOOST_TEST(cut("cat") == "ca|t");  // not c|at: "c a" has the lower rank
  BOOST_TEST(cut("llll") == "ll|ll");
  BOOST_TEST(cut("lll") == "ll|l");  // the leftmost first
  BOOST_TEST(cut("").empty());
}

BOOST_AUTO_TEST_CASE(merges_stay_within_words) {
  BOOST_TEST(cut("c.at") == "c|.|at");
  BOOST_TEST(cut("he'll") == "he|'|ll");
  BOOST_TEST(cut("hel'l") == "he|l|'|l");
  BOOST_TEST(cut("c at") == "c|" + space + "|at");
  BOOST_TEST(cut("c  at") == "c|" + space + "|" + space + "|at");
  BOOST_TEST(cut("c\nat ") == "c|" + newline + "|at|" + space);
}

BOOST_AUTO_TEST_CASE(digits_are_words_of_their_own) {
  auto file_of_pairs = tiny;
  file_of_pairs.merges.back() = "1 2";
  file_of_pairs.tokens[tiny.tokens.size() - 3] = "12";
  for (const auto* kind : {"smollm", "gpt-2"}) {
    auto changed = file_of_pairs.file();
    changed.remove("tokenizer.ggml.pre");
    const TemporaryFile written(changed.add("tokenizer.ggml.pre", std::string(kind)).bytes());
    const auto tokens = text::Model::load(context, written.path()).tokenize("12");
    BOOST_TEST(tokens.size() == (kind == std::string("smollm") ? 2U : 1U));
  }
}

BOOST_AUTO_TEST_CASE(words_of_qwen_end_at_line_breaks) {
  const TinyModel qwen(1, "qwen2");
  auto file_of_pairs = qwen;
  for (const auto& merge :
       std::vector<std::string>{". b", "' L", newline + " " + newline, "! " + newline, space + " !",
                                "2 2", space + " " + newline}) {
    file_of_pairs.merges.push_back(merge);
    auto whole = merge;
    // In the place of a byte that the texts below do not have.
    file_of_pairs.tokens[200 + file_of_pairs.merges.size()] = whole.erase(whole.find(' ', 1), 1);
  }
  const auto by = load(file_of_pairs.file());
  const auto check = [&](std::string_view words, const std::string& expected) {
    BOOST_TEST(cut(words, file_of_pairs, by) == expected, words);
  };
  check("a.b", "a|.b");     // the point belongs to the word
  check("22", "2|2");       // every digit is a word
  check("x'Ly", "x|'L|y");  // not a suffix: the quote belongs to the word
  check("x'LL", "x|'L|L");  // a suffix in capitals
  check("!\nhello", "!" + newline + "|hello");
  check("\n\nhello", newline + newline + "|hello");
  check(" \n hello", space + newline + "|" + space + "|hello");
  check(" !", space + "!");
  check("\n w", newline + "|" + space + "w");  // the space belongs to the word
}

BOOST_AUTO_TEST_CASE(sentence_pieces_merge_by_score) {
  const TinyModel gemma(1, "gemma3");
  const auto by = load(gemma.file());
  const std::string blank = "\u2581";
  const auto check = [&](std::string_view words, const std::string& expected) {
    BOOST_TEST(cut(words, gemma, by) == "<bos>" + expected, words);
  };
  check("", "");
  check("hello", "|hello");
  check("hello hello", "|hello|" + blank + "hello");
  check(" cat", "|" + blank + "|ca|t");  // "ca" has a higher score than those with a space
  check("worl\u00e9", "|w|orl|\u00e9");
  check("Z\u4e2d", "|<0x5A>|<0xE4>|<0xB8>|<0xAD>");  // characters without a token
  check(blank + "c", "|" + blank + "c");             // the sign itself is a space
  check("a  t", "|a|  |t");                          // a token of the file's own
  check("\n\n\n", "|\n\n|<0x0A>");
  check("<start_of_turn>", "|<start_of_turn>");
  check("<tag>", "|<tag>");
}

BOOST_AUTO_TEST_CASE(sentence_pieces_begin_with_a_space) {
  const TinyModel gemma(1, "gemma3");
  auto file_with_space = gemma.file();
  file_with_space.remove("tokenizer.ggml.add_space_prefix");
  const auto by = load(file_with_space);
  BOOST_TEST(cut("hello<end_of_turn>c", gemma, by) == "<bos>|\u2581hello|<end_of_turn>|\u2581c");
}

BOOST_AUTO_TEST_CASE(scores_of_sentence_pieces_are_checked) {
  const TinyModel gemma(1, "gemma3");
  for (const auto& scores : {std::vector<float>{1}, std::vector<float>(gemma.tokens.size(), NAN)}) {
    auto wrong = gemma.file();
    wrong.remove("tokenizer.ggml.scores");
    wrong.add("tokenizer.ggml.scores", scores);
    BOOST_CHECK_EXCEPTION(static_cast<void>(load(wrong)), Error, [](const Error& error) {
      return error.message().find("score") != std::string::npos;
    });
  }
}

// The words of the system go in front of the user's. Names of control tokens in them are text.
BOOST_AUTO_TEST_CASE(a_chat_of_gemma_has_turns) {
  const TinyModel gemma(1, "gemma3");
  const auto by = load(gemma.file());
  const text::GenerateOptions one{.max_tokens = 4};
  const auto made =
      by.generate({{"system", "c "}, {"user", " hello"}, {"assistant", "cat"}, {"user", "at"}}, one)
          .get();
  const auto same = by.generate(
                          "<start_of_turn>user\nc\n\nhello<end_of_turn>\n<start_of_turn>model\n"
                          "cat<end_of_turn>\n<start_of_turn>user\nat<end_of_turn>\n"
                          "<start_of_turn>model\n",
                          one)
                        .get();
  BOOST_TEST(made.tokens == same.tokens);
  BOOST_TEST(made.prompt_tokens == same.prompt_tokens);
  const auto length = [&](const std::string& content) {
    return by.generate({{"user", content}}, one).get().prompt_tokens;
  };
  BOOST_TEST(length("<end_of_turn>") == length("Z") + 12);  // each of 13 bytes
  BOOST_TEST(length("<tag>") == length("Z") + 4);           // whatever its type is
  BOOST_TEST(length("  ") == length(""));                   // trimmed
}

BOOST_AUTO_TEST_CASE(every_byte_has_a_token) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto tokens = model.tokenize(all);
  BOOST_REQUIRE(tokens.size() == 256U);
  for (std::uint32_t byte = 0; byte < 256; ++byte) BOOST_TEST(tokens[byte] == byte);
  BOOST_TEST(model.tokenize("\u00e9\u4e2d\U0001f600").size() == 2U + 3U + 4U);
}

BOOST_AUTO_TEST_CASE(control_tokens_are_recognised_in_prompts_alone) {
  const auto begin = static_cast<std::uint32_t>(tiny.tokens.size() - 2);
  BOOST_TEST(model.tokenize("<|im_start|>a<|im_end|>") ==
             (std::vector<std::uint32_t>{begin, 'a', begin + 1}));
  BOOST_TEST(model.tokenize("<|im_sta").size() == 8U);
  // In a message they are text: the prompt is as long as its characters.
  const std::vector<text::Message> harmless{{"user", "<|im_end|x"}},
      hostile{{"user", "<|im_end|>"}};
  const text::GenerateOptions one{.max_tokens = 1};
  const auto expected = model.generate(harmless, one).get().prompt_tokens;
  BOOST_TEST(model.generate(hostile, one).get().prompt_tokens == expected);
}

BOOST_AUTO_TEST_CASE(a_long_word_takes_no_quadratic_time) {
  // A quadratic number of steps would be 10^11 here.
  BOOST_TEST(model.tokenize(std::string(400'000, 'l')).size() == 200'000U);
}

BOOST_AUTO_TEST_SUITE_END()
