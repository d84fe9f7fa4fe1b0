// Decoders of each architecture against plain loops in double precision.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/text/fixture.hpp"
#include "tests/text/packed_file.hpp"

using namespace polychron;
using text_tests::File;
using text_tests::prompt_of;
using text_tests::TemporaryFile;
using text_tests::TinyModel;

namespace {

struct ArchitecturesFixture {
  Runtime runtime;
  Context context = runtime.create_context().get();

  text::Model load(const File& file, DataType cache_type = DataType::float32) const {
    const TemporaryFile written(file.bytes());
    const text::LoadOptions options{.label = "tiny", .cache_type = cache_type, .chats = 2};
    return text::Model::load(context, written.path(), options);
  }
  /// Logarithms of probabilities differ from those of plain loops by less than `most`.
  void check_probabilities(const TinyModel& tiny, const text::Model& model, double most,
                           const std::string& what) const;
  /// The error of loading the file.
  std::string error_of(const File& file) const {
    try {
      static_cast<void>(load(file));
    } catch (const Error& error) {
      return error.what();
    }
    return "it was loaded";
  }
};

double log_of_sum(const std::vector<double>& logits) {
  const auto most = *std::ranges::max_element(logits);
  double sum = 0;
  for (const auto logit : logits) sum += std::exp(logit - most);
  return most + std::log(sum);
}

// Prompts without pieces, with one that is longer than the window, and with several.
void ArchitecturesFixture::check_probabilities(const TinyModel& tiny, const text::Model& model,
                                               double most, const std::string& what) const {
  const auto all = static_cast<std::uint32_t>(tiny.tokens.size());
  double worst = 0;
  for (const std::size_t length : {1U, 2U, 30U, 130U}) {
    const auto prompt = prompt_of(length);
    const auto made = model.generate(prompt, {.max_tokens = 5, .top_logprobs = all}).get();
    auto tokens = model.tokenize(prompt);
    for (const auto& [chosen, top] : made.logprobs) {
      BOOST_REQUIRE(top.size() == all);
      const auto logits = tiny.logits(tokens);
      const auto sum = log_of_sum(logits);
      for (const auto& each : top)
        worst = std::max(worst, std::abs(each.logprob - (logits[each.token] - sum)));
      BOOST_TEST(chosen.token == top.front().token);
      tokens.push_back(chosen.token);
    }
    BOOST_TEST(!made.logprobs.empty());
  }
  BOOST_TEST(worst < most, what << ": " << worst);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(architectures, ArchitecturesFixture)

BOOST_AUTO_TEST_CASE(probabilities_are_those_of_plain_loops) {
  for (const auto* name : {"llama", "qwen2", "qwen3", "gemma3"})
    for (const bool packed : {false, true}) {
      TinyModel tiny(3, name);
      const auto model = load(packed ? packed_file(tiny) : tiny.file());
      check_probabilities(tiny, model, 1e-4, name + std::string(packed ? ", packed" : ""));
    }
}

// Keys and values are rounded to 11 bits.
BOOST_AUTO_TEST_CASE(a_cache_of_float16_gives_nearly_the_same) {
  for (const auto* name : {"llama", "qwen2", "qwen3", "gemma3"}) {
    TinyModel tiny(3, name);
    check_probabilities(tiny, load(tiny.file(), DataType::float16), 1e-2, name);
  }
  const TemporaryFile written(TinyModel().file().bytes());
  BOOST_CHECK_EXCEPTION(
      text::Model::load(context, written.path(), {.cache_type = DataType::int8}), Error,
      [](const Error& error) {
        return error.root().kind() == ErrorKind::type_error &&
               std::string(error.what())
                       .find("cache_type: expected float32 or float16, got int8") !=
                   std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(tensors_and_sizes_are_those_of_the_architecture) {
  for (const auto* name : {"qwen2", "qwen3", "gemma3"}) {
    auto other = TinyModel(3, name).file();
    other.add("general.name", std::string("other"));
    for (const auto* key : {"rope.dimension_count", "attention.value_length"}) {
      auto changed = other;
      changed.remove(std::string(name) + "." + key);
      changed.add(std::string(name) + "." + key, 8U);
      BOOST_TEST(error_of(changed).find(key) != std::string::npos, error_of(changed));
    }
    auto scaled = other;
    scaled.add(std::string(name) + ".rope.scaling.type", std::string("linear"));
    BOOST_TEST(error_of(scaled).find("'linear'") != std::string::npos);
  }
  auto without = TinyModel(3, "qwen2").file();
  std::erase_if(without.tensors,
                [](const auto& tensor) { return tensor.name == "blk.1.attn_k.bias"; });
  BOOST_TEST(error_of(without).find("'blk.1.attn_k.bias'") != std::string::npos);
  auto odd = TinyModel(3, "qwen3").file();
  odd.remove("qwen3.attention.key_length");
  odd.add("qwen3.attention.key_length", 23U);
  BOOST_TEST(error_of(odd).find("heads of queries") != std::string::npos, error_of(odd));
  auto huge = TinyModel(3, "qwen3").file();
  huge.remove("qwen3.attention.key_length");
  huge.add("qwen3.attention.key_length", 1U << 20U);
  BOOST_TEST(error_of(huge).find("heads of queries") != std::string::npos, error_of(huge));
  auto period = TinyModel(3, "gemma3").file();
  period.add("gemma3.attention.sliding_window_pattern", 2U);
  BOOST_TEST(error_of(period).find("sliding_window_pattern") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
