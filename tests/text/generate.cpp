// Generations: the right tokens, by the same seed the same ones, ends, limits, and errors.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/text/fixture.hpp"
#include "tests/text/packed_file.hpp"

using namespace polychron;
using text_tests::prompt_of;
using text_tests::TemporaryFile;
using text_tests::TinyModel;
using Tokens = std::vector<std::uint32_t>;

namespace {

struct GenerateFixture : text_tests::ModelFixture {
  text::Generated generate(std::string_view prompt, const text::GenerateOptions& options) const {
    return model.generate(prompt, options).get();
  }
  /// The error of a generation, thrown or rejected.
  Error error_of(std::string_view prompt, const text::GenerateOptions& options) const {
    try {
      static_cast<void>(generate(prompt, options));
    } catch (const Error& error) {
      return error;
    }
    return {ErrorKind::internal, "no error"};
  }
  void check_kind(ErrorKind kind, const text::GenerateOptions& options) const {
    const auto error = error_of("a", options);
    BOOST_TEST((error.root().kind() == kind), error.what());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(generate, GenerateFixture)

// 2, 3: without and with the graph of several rows. 65, 66, 130: pieces and what is left of them.
BOOST_AUTO_TEST_CASE(greedy_tokens_are_those_of_plain_loops) {
  for (const std::size_t length : {1U, 2U, 3U, 65U, 66U, 130U}) {
    const auto prompt = prompt_of(length);
    const auto tokens = model.tokenize(prompt);
    BOOST_REQUIRE(tokens.size() == length);
    auto expected = tiny.greedy(tokens, 6);
    const auto made = generate(prompt, {.max_tokens = 6});
    const auto last = static_cast<std::uint32_t>(tiny.tokens.size() - 1);
    if (const auto end = std::find(expected.begin(), expected.end(), last); end != expected.end())
      expected.erase(end, expected.end());
    BOOST_TEST(made.tokens == expected, "a prompt of " << length);
    BOOST_TEST(made.prompt_tokens == length);
  }
}

// Matrices that are stacked have one type or two. Strict contexts have no integers of 4 bits.
BOOST_AUTO_TEST_CASE(packed_weights_give_the_tokens_of_plain_loops) {
  const TemporaryFile written(packed_file(tiny).bytes());
  for (const bool strict : {false, true}) {
    const auto own = runtime.create_context({.strict = strict}).get();
    const auto packed_model = text::Model::load(own, written.path());
    for (const std::size_t length : {1U, 3U, 70U}) {
      const auto tokens = packed_model.tokenize(prompt_of(length));
      const auto made = packed_model.generate(prompt_of(length), {.max_tokens = 6}).get().tokens;
      auto expected = tiny.greedy(tokens, 6);
      expected.resize(made.size());  // the text may end before
      BOOST_TEST(made == expected, (strict ? "strict, " : "") << "a prompt of " << length);
      BOOST_TEST(!made.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_seed_decides_the_text_whatever_runs_beside_it) {
  const text::GenerateOptions hot{.max_tokens = 20, .temperature = 2, .seed = 7};
  auto other = hot;
  other.seed = 8;
  const auto alone = generate("hello", hot).tokens;
  std::vector<Future<text::Generated>> together;
  for (int i = 0; i < 4; ++i) {
    together.push_back(model.generate("hello", i % 2 == 0 ? hot : other));
    together.push_back(model.generate(prompt_of(70), other));
  }
  for (std::size_t i = 0; i < together.size(); ++i) {
    const auto made = together[i].get().tokens;
    if (i % 4 == 0) BOOST_TEST(made == alone);
    if (i % 4 == 2) BOOST_TEST(made != alone);
  }
}

BOOST_AUTO_TEST_CASE(top_k_and_top_p_of_nearly_nothing_are_greedy) {
  const auto greedy = generate("hello", {.max_tokens = 10}).tokens;
  BOOST_TEST(generate("hello", {.max_tokens = 10, .temperature = 5, .top_k = 1}).tokens == greedy);
  BOOST_TEST(generate("hello", {.max_tokens = 10, .temperature = 5, .top_p = 1e-9}).tokens ==
             greedy);
  BOOST_TEST(
      generate("hello", {.max_tokens = 10, .temperature = 5, .top_k = 5, .top_p = 1e-9}).tokens ==
      greedy);
  BOOST_TEST(generate("hello", {.max_tokens = 10, .temperature = 5, .seed = 1}).tokens != greedy);
}

// With a temperature that makes all tokens nearly equal, every one of the top three comes.
BOOST_AUTO_TEST_CASE(top_k_leaves_as_many) {
  std::set<std::uint32_t> first;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto made =
        generate("hello", {.max_tokens = 1, .temperature = 1e6, .top_k = 3, .seed = seed});
    if (!made.tokens.empty()) first.insert(made.tokens.front());
  }
  auto logits = tiny.logits(model.tokenize("hello"));
  std::set<std::uint32_t> expected;
  for (int i = 0; i < 3; ++i) {
    const auto best = std::max_element(logits.begin(), logits.end());
    expected.insert(static_cast<std::uint32_t>(best - logits.begin()));
    *best = -1e9;
  }
  expected.erase(static_cast<std::uint32_t>(tiny.tokens.size() - 1));  // that ends the text
  BOOST_TEST(first == expected);
}

BOOST_AUTO_TEST_CASE(pieces_are_whole_characters_and_make_the_text) {
  std::vector<std::string> pieces;
  text::GenerateOptions options{.max_tokens = 60, .temperature = 3, .seed = 3};
  options.on_text = [&](std::string_view piece) { pieces.emplace_back(piece); };
  const auto made = generate("hello", options);
  std::string joined;
  for (const auto& piece : pieces) joined += piece;
  BOOST_TEST(joined == made.text);
  BOOST_TEST(pieces.size() > 10U);
  // Random bytes are seldom UTF-8: the others are replaced.
  BOOST_TEST(made.text.find("\ufffd") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stop_string_ends_the_text_in_front_of_it) {
  const text::GenerateOptions whole{.max_tokens = 30, .temperature = 1, .seed = 5};
  const auto all = generate("hello", whole);
  BOOST_REQUIRE(all.text.size() > 12U);
  // A stop string of several tokens, from the middle of the text. Only ASCII, which is not
  // replaced.
  std::string stop;
  for (std::size_t at = all.text.size() / 3; at + 1 < all.text.size() && stop.empty(); ++at)
    if ((all.text[at] & 0x80) == 0 && (all.text[at + 1] & 0x80) == 0) stop = all.text.substr(at, 2);
  BOOST_REQUIRE(stop.size() == 2U);
  auto stopped = whole;
  std::string streamed;
  stopped.stop = {"never in the text", stop};
  stopped.on_text = [&](std::string_view piece) { streamed += piece; };
  const auto made = generate("hello", stopped);
  BOOST_TEST(made.text == all.text.substr(0, all.text.find(stop)));
  BOOST_TEST(streamed == made.text);
  BOOST_TEST((made.reason == text::FinishReason::stop));
}

BOOST_AUTO_TEST_CASE(the_context_ends_the_text) {
  const auto made = generate(prompt_of(TinyModel::context), {.max_tokens = 50});
  BOOST_TEST(made.tokens.size() <= 1U);
  const auto short_model = text::Model::load(context, file.path(), {.context_length = 8});
  const text::GenerateOptions options{.max_tokens = 50};
  const auto cut = short_model.generate("ABC", options).get();
  BOOST_TEST(cut.tokens.size() == 6U);  // the last one is not read again
  BOOST_TEST((cut.reason == text::FinishReason::length));
  BOOST_TEST(cut.tokens == tiny.greedy(model.tokenize("ABC"), 6));
  BOOST_CHECK_THROW(static_cast<void>(short_model.generate(prompt_of(9), options)), Error);
}

BOOST_AUTO_TEST_CASE(a_token_of_the_end_ends_the_text) {
  auto changed = tiny.file();
  const auto second = tiny.greedy(model.tokenize("hello"), 2).back();
  changed.remove("tokenizer.ggml.eos_token_id");
  const TemporaryFile written(changed.add("tokenizer.ggml.eos_token_id", second).bytes());
  const text::GenerateOptions options{.max_tokens = 50};
  const auto made = text::Model::load(context, written.path()).generate("hello", options).get();
  BOOST_TEST(made.tokens == tiny.greedy(model.tokenize("hello"), 1));
  BOOST_TEST((made.reason == text::FinishReason::stop));
}

BOOST_AUTO_TEST_CASE(cancelling_acts_at_the_next_token) {
  text::GenerateOptions options{.max_tokens = 150};
  const Cancellation cancellation;
  auto cancel = cancellation;
  std::size_t pieces = 0;
  options.temperature = 2;
  options.cancellation = cancellation;
  options.on_text = [&](std::string_view) {
    if (++pieces == 3) cancel.cancel();
  };
  const auto error = error_of("hello", options);
  BOOST_TEST((error.kind() == ErrorKind::aborted), error.what());
  BOOST_TEST(pieces == 3U);
  check_kind(ErrorKind::aborted, options);
  BOOST_TEST(pieces == 3U);
}

BOOST_AUTO_TEST_CASE(a_deadline_ends_the_generation) {
  check_kind(ErrorKind::timed_out, {.deadline = std::chrono::steady_clock::now()});
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_callback_rejects) {
  text::GenerateOptions options;
  options.on_text = [](std::string_view) { throw std::runtime_error("the client left"); };
  const auto error = error_of("hello", options);
  BOOST_TEST((error.kind() == ErrorKind::operation_error));
  BOOST_TEST(error.message() == "the client left");
}

BOOST_AUTO_TEST_CASE(tokens_come_with_their_probabilities) {
  const auto all = static_cast<std::uint32_t>(tiny.tokens.size());
  BOOST_TEST(generate("hello", {.max_tokens = 3}).logprobs.empty());
  // More than there are gives all.
  text::GenerateOptions options{.max_tokens = 12, .temperature = 3, .seed = 4};
  options.top_logprobs = 1000;
  std::vector<text::ChosenToken> told;
  std::size_t pieces = 0;
  options.on_token = [&](const text::ChosenToken& token) { told.push_back(token); };
  options.on_text = [&](std::string_view) { BOOST_TEST(++pieces <= told.size()); };
  const auto made = generate("hello", options);
  BOOST_REQUIRE(made.logprobs.size() == made.tokens.size());
  BOOST_REQUIRE(told.size() == made.tokens.size());
  bool was_another = false;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto& [chosen, top] = made.logprobs[i];
    BOOST_TEST(chosen.token == made.tokens[i]);
    BOOST_TEST(told[i].chosen.token == chosen.token);
    BOOST_REQUIRE(top.size() == all);
    double sum = 0;
    for (std::size_t j = 0; j < top.size(); ++j) {
      sum += std::exp(top[j].logprob);
      if (j > 0) BOOST_TEST(top[j].logprob <= top[j - 1].logprob);
      if (top[j].token == chosen.token) BOOST_TEST(top[j].logprob == chosen.logprob);
      if (top[j].token == all - 1) BOOST_TEST(top[j].text == "<|im_end|>");
      if (top[j].token == 'A') BOOST_TEST(top[j].text == "A");
    }
    BOOST_TEST(std::abs(sum - 1) < 1e-9);
    was_another = was_another || chosen.token != top.front().token;
  }
  BOOST_TEST(was_another);  // the seed chose one that was not the most probable
  options.top_logprobs = 0;
  options.on_token = {};
  options.on_text = {};
  BOOST_TEST(generate("hello", options).logprobs.at(1).top.empty());
  BOOST_TEST(generate("hello", options).logprobs.at(1).chosen.logprob ==
             made.logprobs.at(1).chosen.logprob);
}

BOOST_AUTO_TEST_CASE(an_exception_of_on_token_rejects) {
  text::GenerateOptions options{.top_logprobs = 1};
  options.on_token = [](const text::ChosenToken&) { throw std::runtime_error("the client left"); };
  BOOST_TEST(error_of("hello", options).message() == "the client left");
}

BOOST_AUTO_TEST_CASE(wrong_options_are_refused) {
  check_kind(ErrorKind::type_error, {.max_tokens = 0});
  check_kind(ErrorKind::type_error, {.temperature = -1});
  check_kind(ErrorKind::type_error, {.temperature = std::numeric_limits<double>::quiet_NaN()});
  check_kind(ErrorKind::type_error, {.top_p = 0});
  check_kind(ErrorKind::type_error, {.top_p = 1.5});
  check_kind(ErrorKind::type_error, {.stop = {""}});
  BOOST_TEST((error_of("", {}).kind() == ErrorKind::type_error));
  const text::GenerateOptions none;
  BOOST_CHECK_THROW(static_cast<void>(text::Model().generate("a", none)), Error);
  auto plain = tiny.file();
  plain.remove("tokenizer.chat_template");
  const TemporaryFile written(plain.bytes());
  const auto without = text::Model::load(context, written.path());
  const std::vector<text::Message> chat{{"user", "hello"}};
  BOOST_TEST(!without.has_chat());
  BOOST_CHECK_THROW(static_cast<void>(without.generate(chat, none)), Error);
  BOOST_TEST(without.generate("hello", none).get().prompt_tokens == 1U);
}

BOOST_AUTO_TEST_CASE(a_chat_is_chatml) {
  const std::vector<text::Message> chat{{"system", "hello"}, {"user", "cat"}};
  const text::GenerateOptions options{.max_tokens = 5};
  const auto made = model.generate(chat, options).get();
  const std::string prompt =
      "<|im_start|>system\nhello<|im_end|>\n<|im_start|>user\ncat<|im_end|>\n"
      "<|im_start|>assistant\n";
  const auto expected = generate(prompt, options);
  BOOST_TEST(made.tokens == expected.tokens);
  BOOST_TEST(made.prompt_tokens == expected.prompt_tokens);
}

BOOST_AUTO_TEST_CASE(a_destroyed_context_rejects) {
  text::GenerateOptions options{.max_tokens = 150, .temperature = 2};
  auto own = context;
  options.on_text = [&](std::string_view) { own.destroy(); };
  const auto error = error_of("hello", options);
  BOOST_TEST((error.root().kind() == ErrorKind::invalid_state), error.what());
  BOOST_TEST(error.object() == "model 'tiny'");
}

BOOST_AUTO_TEST_SUITE_END()
