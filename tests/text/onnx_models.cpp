// ONNX language models: the tokens and probabilities of the same weights as GGUF, and files that
// are refused.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/text/fixture.hpp"
#include "tests/text/tiny_onnx.hpp"

using namespace polychron;
using text_tests::Export;
using text_tests::onnx_folder;
using text_tests::prompt_of;
using text_tests::TemporaryFile;
using text_tests::TemporaryFolder;
using text_tests::TinyModel;
using Files = std::map<std::string, std::string>;

namespace {

constexpr Export exports[] = {Export::grouped, Export::plain};

struct OnnxModelsFixture {
  Runtime runtime;
  Context context = runtime.create_context().get();

  text::Model load(const Files& files, const text::LoadOptions& options = {}) const {
    const TemporaryFolder folder(files);
    return text::Model::load(context, folder.path(), options);
  }
  Error error_of(const Files& files) const {
    try {
      static_cast<void>(load(files));
    } catch (const Error& error) {
      return error;
    }
    return {ErrorKind::internal, "it was loaded"};
  }
  void check_refused(const Files& files, ErrorKind kind, const std::string& words) const {
    const auto error = error_of(files);
    BOOST_TEST((error.root().kind() == kind), error.what());
    BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
};

/// The files with another name in place of one in the model. Names have the same length, since
/// lengths are in front of them.
Files renamed(Files files, const std::string& of, const std::string& to) {
  BOOST_REQUIRE(of.size() == to.size());
  auto& bytes = files.at("model.onnx");
  BOOST_REQUIRE(bytes.find(of) != std::string::npos);
  for (std::size_t at = 0; (at = bytes.find(of, at)) != std::string::npos; ++at)
    bytes.replace(at, of.size(), to);
  return files;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(onnx_models, OnnxModelsFixture)

// Prompts of one row, of a short piece with superfluous rows, and of several pieces.
BOOST_AUTO_TEST_CASE(probabilities_are_those_of_the_same_weights_as_gguf) {
  for (const auto* architecture : {"llama", "qwen2"})
    for (const auto kind : exports) {
      const TinyModel tiny(5, architecture);
      const TemporaryFile file(tiny.file().bytes());
      const auto expected = text::Model::load(context, file.path());
      const auto model = load(onnx_folder(tiny, kind));
      BOOST_TEST(model.has_chat());
      BOOST_TEST(model.context_length() == TinyModel::context);
      const auto all = static_cast<std::uint32_t>(tiny.tokens.size());
      double worst = 0;
      for (const std::size_t length : {1U, 2U, 12U, 65U, 150U}) {
        const text::GenerateOptions options{.max_tokens = 8, .top_logprobs = all};
        const auto made = model.generate(prompt_of(length), options).get();
        const auto wanted = expected.generate(prompt_of(length), options).get();
        BOOST_TEST(made.tokens == wanted.tokens, "a prompt of " << length);
        BOOST_TEST(made.text == wanted.text);
        BOOST_REQUIRE(made.logprobs.size() == wanted.logprobs.size());
        for (std::size_t i = 0; i < made.logprobs.size(); ++i)
          worst = std::max(
              worst, std::abs(made.logprobs[i].chosen.logprob - wanted.logprobs[i].chosen.logprob));
      }
      BOOST_TEST(worst < 1e-4, architecture << ": " << worst);
    }
}

// The first token behind a prompt reads keys and values that were rounded.
BOOST_AUTO_TEST_CASE(a_cache_may_have_another_type_than_the_model) {
  const TinyModel tiny(5);
  const auto all = static_cast<std::uint32_t>(tiny.tokens.size());
  for (const auto kind : exports) {
    const auto own = load(onnx_folder(tiny, kind)),
               rounded = load(onnx_folder(tiny, kind), {.cache_type = DataType::float16});
    double worst = 0;
    for (const std::size_t length : {12U, 150U}) {
      std::vector<double> logarithms(all);
      const text::GenerateOptions options{.max_tokens = 1, .top_logprobs = all};
      const auto exact = own.generate(prompt_of(length), options).get();
      const auto other = rounded.generate(prompt_of(length), options).get();
      for (const auto& each : exact.logprobs.at(0).top) logarithms.at(each.token) = each.logprob;
      for (const auto& each : other.logprobs.at(0).top)
        worst = std::max(worst, std::abs(each.logprob - logarithms.at(each.token)));
    }
    BOOST_TEST((0 < worst && worst < 1e-2), worst);
  }
}

// The context's last positions: superfluous rows of a piece would be behind its end.
BOOST_AUTO_TEST_CASE(a_context_may_be_filled_to_its_end) {
  const TinyModel tiny(5);
  const TemporaryFile file(tiny.file().bytes());
  const text::LoadOptions shorter{.context_length = 40};
  const auto expected = text::Model::load(context, file.path(), shorter);
  for (const auto kind : exports) {
    const auto model = load(onnx_folder(tiny, kind), shorter);
    for (const std::size_t length : {36U, 40U}) {
      const auto made = model.generate(prompt_of(length), {.max_tokens = 30}).get();
      BOOST_TEST(made.tokens ==
                 expected.generate(prompt_of(length), {.max_tokens = 30}).get().tokens);
    }
  }
}

BOOST_AUTO_TEST_CASE(chats_take_turns_and_have_the_bits_that_they_have_alone) {
  const TinyModel tiny(5);
  const auto model = load(onnx_folder(tiny, Export::grouped));
  const auto ask = [&](std::size_t i) {
    return model.generate(prompt_of(3 + 20 * i),
                          {.max_tokens = 10, .temperature = 2, .seed = i, .top_logprobs = 1});
  };
  std::vector<text::Generated> alone;
  for (std::size_t i = 0; i < 4; ++i) alone.push_back(ask(i).get());
  std::vector<Future<text::Generated>> together;
  for (std::size_t i = 0; i < 4; ++i) together.push_back(ask(i));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto made = together[i].get();
    BOOST_TEST(made.tokens == alone[i].tokens);
    for (std::size_t at = 0; at < made.logprobs.size(); ++at)
      BOOST_TEST(made.logprobs[at].chosen.logprob == alone[i].logprobs[at].chosen.logprob);
  }
}

BOOST_AUTO_TEST_CASE(logits_of_no_token_are_never_chosen) {
  const TinyModel tiny(5);
  auto files = onnx_folder(tiny, Export::grouped);
  const auto expected = load(files).generate("hello", {.max_tokens = 5}).get();
  files["model.onnx"] = onnx_bytes(tiny, Export::grouped, 7);
  BOOST_TEST(load(files).generate("hello", {.max_tokens = 5}).get().tokens == expected.tokens);
}

// onnx-community's folders have model files in a folder of their own.
BOOST_AUTO_TEST_CASE(a_models_file_may_be_named_itself) {
  const TinyModel tiny(5);
  auto files = onnx_folder(tiny, Export::grouped);
  const auto expected = load(files).generate("hello", {.max_tokens = 5}).get().tokens;
  auto model = files.extract("model.onnx");
  model.key() = "onnx/model_q4.onnx";
  files.insert(std::move(model));
  const TemporaryFolder folder(files);
  const auto loaded = text::Model::load(context, folder.path() / "onnx/model_q4.onnx");
  BOOST_TEST(loaded.label() == "model_q4");
  BOOST_TEST(loaded.generate("hello", {.max_tokens = 5}).get().tokens == expected);
}

BOOST_AUTO_TEST_CASE(a_text_ends_at_each_token_that_a_file_names) {
  const TinyModel tiny(5);
  const auto first = load(onnx_folder(tiny, Export::grouped))
                         .generate("hello", {.max_tokens = 1})
                         .get()
                         .tokens.front();
  const auto check = [&](const std::string& name, const std::string& text) {
    auto files = onnx_folder(tiny, Export::grouped);
    files[name] = text;
    BOOST_TEST(load(files).generate("hello", {.max_tokens = 5}).get().tokens.empty(), name);
  };
  const auto id = std::to_string(first);
  check("config.json", R"({"eos_token_id":)" + id + "}");
  check("generation_config.json", R"({"eos_token_id":[1,)" + id + "]}");
  check("genai_config.json", R"({"model":{"eos_token_id":)" + id + "}}");
}

BOOST_AUTO_TEST_CASE(models_of_another_kind_are_refused_by_name) {
  const TinyModel tiny(5);
  const auto grouped = onnx_folder(tiny, Export::grouped), plain = onnx_folder(tiny, Export::plain);
  const auto unknown = ErrorKind::not_supported;
  check_refused(renamed(grouped, "attention_mask", "pixel_values_1"), unknown, "'pixel_values_1'");
  check_refused(renamed(grouped, "past_key_values.1.", "past_key_values.7."), unknown,
                "'past_key_values.7.key'");
  check_refused(renamed(grouped, "past_key_values.0.", "past_key_values.7."), unknown,
                "without the input 'past_key_values.0.key'");
  check_refused(renamed(plain, "position_ids", "cache_places"), unknown, "'cache_places'");
  check_refused(renamed(grouped, "present.1.key", "present.1.kay"), unknown, "'present.1.key'");
  auto more = grouped;
  more["tokenizer.json"] = tokenizer_json(TinyModel(1, "gemma3"));
  check_refused(more, unknown, "logits of shape");
}

BOOST_AUTO_TEST_CASE(missing_and_damaged_files_are_named) {
  const auto whole = onnx_folder(TinyModel(5), Export::grouped);
  for (const auto* name : {"model.onnx", "tokenizer.json"}) {
    auto files = whole;
    files.erase(name);
    check_refused(files, ErrorKind::bad_data, name);
  }
  for (const auto* name : {"model.onnx", "tokenizer.json", "config.json", "generation_config.json",
                           "tokenizer_config.json"}) {
    auto files = whole;
    files[name].resize(files[name].size() / 2);
    check_refused(files, ErrorKind::bad_data, name == std::string("model.onnx") ? "model" : name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
