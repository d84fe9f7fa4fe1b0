// Byte-pair encoding: words, merges, digits, control tokens.
#include <boost/test/unit_test.hpp>

#include "tests/text/fixture.hpp"

using namespace polychron;
using text_tests::TemporaryFile;

namespace {

struct TokenizerFixture : text_tests::ModelFixture {
  /// The names of the tokens, with a bar between them.
  std::string cut(std::string_view words) const {
    std::string names;
    for (const auto token : model.tokenize(words))
      names += (names.empty() ? "" : "|") + tiny.tokens.at(token);
    return names;
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
