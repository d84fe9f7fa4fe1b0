// tokenizer.json: the tokens of the same tokenizer in a GGUF file, and what is refused.
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/text/fixture.hpp"
#include "tests/text/tiny_onnx.hpp"

using namespace polychron;
using text_tests::TemporaryFile;
using text_tests::TemporaryFolder;
using text_tests::TinyModel;

namespace {

struct JsonTokenizerFixture {
  Runtime runtime;
  Context context = runtime.create_context().get();

  /// A decoder with this tokenizer.
  text::Model load(const TinyModel& tokens, const std::string& json) const {
    TinyModel decoder(1);
    decoder.tokens = tokens.tokens;
    decoder.types = tokens.types;
    decoder.weights["token_embd.weight"] = tokens.weights.at("token_embd.weight");
    auto files = onnx_folder(decoder, text_tests::Export::grouped);
    files["tokenizer.json"] = json;
    const TemporaryFolder folder(files);
    return text::Model::load(context, folder.path(), {.context_length = 20});
  }
  text::Model load(const std::string& json) const { return load(TinyModel(1), json); }
  void check_refused(const std::string& json, ErrorKind kind, const std::string& words) const {
    try {
      static_cast<void>(load(json));
      BOOST_ERROR("it was loaded");
    } catch (const Error& error) {
      BOOST_TEST((error.root().kind() == kind), error.what());
      BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
      BOOST_TEST(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
};

std::string with(std::string json, const std::string& of, const std::string& text) {
  const auto at = json.find(of);
  BOOST_REQUIRE(at != std::string::npos);
  return json.replace(at, of.size(), text);
}

/// A text of pieces that merge, split, or are tokens of their own.
std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> pieces{
      "hello", " world", "cat",    "\n",           "  ",    " ",     "12",   "'ll",
      "or",    "\u00e9", "\u4e2d", "<|im_start|>", "<bos>", "<tag>", "\n\n", "h",
      "LL",    "\t",     "!",      "...\n",        "\xff",  "c a",   " \n ", "l"};
  std::string text;
  for (auto left = random() % 20; left > 0; --left) text += pieces[random() % pieces.size()];
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(json_tokenizer, JsonTokenizerFixture)

BOOST_AUTO_TEST_CASE(tokens_are_those_of_the_gguf_file) {
  const auto seed = text_tests::seed_of_run();
  for (const auto* name : {"llama", "qwen2", "gemma3"}) {
    BOOST_TEST_CONTEXT(name << ", POLYCHRON_SEED=" << seed) {
      std::mt19937_64 random(seed);
      const TinyModel tiny(1, name);
      const TemporaryFile file(tiny.file().bytes());
      const auto expected = text::Model::load(context, file.path(), {.context_length = 20});
      const auto model = load(tiny, tokenizer_json(tiny));
      for (int i = 0; i < 200; ++i) {
        const auto text = random_text(random);
        BOOST_TEST(model.tokenize(text) == expected.tokenize(text), text);
      }
    }
  }
}

// Merges as pairs; a word that is a token is one, whatever merges there are.
BOOST_AUTO_TEST_CASE(words_of_llama_3) {
  TinyModel tiny(1, "qwen2");
  tiny.tokens[200] = "123";
  tiny.tokens[201] = "abcd";
  auto json = with(tokenizer_json(tiny), "\\\\p{N}|", "\\\\p{N}{1,3}|");
  check_refused(json, ErrorKind::not_supported, "ignore_merges");
  json = with(json, R"("model":{)", R"("model":{"ignore_merges":true,)");
  json = with(json, R"("h e")", R"(["h","e"])");
  const auto model = load(tiny, json);
  const auto cut = [&](std::string_view text) {
    std::string names;
    for (const auto token : model.tokenize(text))
      names += (names.empty() ? "" : "|") + tiny.tokens.at(token);
    return names;
  };
  BOOST_TEST(cut("1231234") == "123|123|4");
  BOOST_TEST(cut("abcd abcde hello") == "abcd|\u0120|a|b|c|d|e|\u0120|hello");
}

BOOST_AUTO_TEST_CASE(a_token_may_stand_in_front_of_each_text) {
  const TinyModel tiny(1);
  const auto json = tokenizer_json(tiny);
  const auto first =
      with(json, R"("model":{)",
           R"("post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},)"
           R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<|im_start|>"}},)"
           R"({"Sequence":{"id":"A"}}]}]},"model":{)");
  BOOST_TEST(load(first).tokenize("a").front() == tiny.id_of("<|im_start|>"));
  BOOST_TEST(load(json).tokenize("a").size() == 1U);
  check_refused(with(first, R"({"SpecialToken")", R"({"Sequence":{}},{"SpecialToken")"),
                ErrorKind::not_supported, "template");
}

BOOST_AUTO_TEST_CASE(other_tokenizers_are_refused_by_name) {
  const auto json = tokenizer_json(TinyModel(1));
  const auto unknown = ErrorKind::not_supported;
  check_refused(with(json, R"("type":"BPE")", R"("type":"Unigram")"), unknown, "'Unigram'");
  check_refused(with(json, R"("use_regex":true)", R"("use_regex":false)"), unknown, "cuts words");
  check_refused(with(json, R"("add_prefix_space":false)", R"("add_prefix_space":true)"), unknown,
                "'ByteLevel'");
  check_refused(with(json, R"("Digits")", R"("Whitespace")"), unknown, "'Whitespace'");
  check_refused(with(json, R"("version")", R"("normalizer":{"type":"Lowercase"},"version")"),
                unknown, "'Lowercase'");
  check_refused(with(json, R"("special":true)", R"("special":true,"rstrip":true)"), unknown,
                "'rstrip'");
  const auto qwen = with(tokenizer_json(TinyModel(1, "qwen2")), "\\\\p{L}+|", "\\\\p{L}|");
  check_refused(qwen, unknown, "expression");
}

BOOST_AUTO_TEST_CASE(damage_is_refused) {
  const auto json = tokenizer_json(TinyModel(1));
  const auto bad = ErrorKind::bad_data;
  check_refused(with(json, R"("h e")", R"("he")"), bad, "'he'");
  check_refused(with(json, R"("h e")", R"("h \uffff")"), bad, "no token");
  check_refused(with(json, R"("h e")", "7"), bad, "merge");
  check_refused(with(json, R"("merges")", R"("marges")"), bad, "no merges");
  check_refused(with(json, R"("vocab":{)", R"("vocab":{"far":4000000000,)"), bad, "'far'");
  check_refused(with(json, R"("vocab":{)", R"("vocab":{"less":-1,)"), bad, "'less'");
  check_refused(with(json, R"("id":)", R"("id":"x","no":)"), bad, "number");
  check_refused(with(json, R"("vocab":{)", R"("vocab":{},"other":{)"), bad, "no vocabulary");
  check_refused("[]", ErrorKind::not_supported, "''");
  const std::string deep(100, '[');
  check_refused(deep, ErrorKind::not_supported, "so deep");
}

BOOST_AUTO_TEST_SUITE_END()
