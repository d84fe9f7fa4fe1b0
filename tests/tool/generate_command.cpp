// polychron generate, as a user types it, on a model of random weights.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>

#include "tests/text/tiny_model.hpp"
#include "tests/text/tiny_onnx.hpp"
#include "tests/tool/command.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::run_tool;

struct GenerateCommandFixture {
  text_tests::TemporaryFile file{text_tests::TinyModel().file().bytes()};

  test_tool::Outcome generate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"generate", file.path().string()});
    return run_tool(more);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(generate_command, GenerateCommandFixture)

BOOST_AUTO_TEST_CASE(a_seed_prints_the_same_text) {
  const auto sampled = [&](const std::string& seed) {
    return generate({"hello", "--temperature", "3", "--max-tokens", "40", "--seed", seed});
  };
  const auto first = sampled("1"), again = sampled("1"), other = sampled("2");
  BOOST_TEST(first.exit_code == 0, first.errors);
  BOOST_TEST(first.output == again.output);
  BOOST_TEST(first.output != other.output);
  BOOST_TEST(first.output.ends_with('\n'));
}

BOOST_AUTO_TEST_CASE(a_folder_of_an_onnx_model_prints_the_text_of_the_gguf_file) {
  const text_tests::TemporaryFolder folder(
      onnx_folder(text_tests::TinyModel(), text_tests::Export::grouped));
  const auto expected = generate({"hello", "--max-tokens", "20"});
  for (const auto& path : {folder.path(), folder.path() / "model.onnx"}) {
    const auto made = run_tool({"generate", path.string(), "hello", "--max-tokens", "20"});
    BOOST_TEST(made.exit_code == 0, made.errors);
    BOOST_TEST(made.output == expected.output);
  }
}

BOOST_AUTO_TEST_CASE(control_characters_are_escaped) {
  for (const auto* seed : {"1", "2", "3"}) {
    const auto outcome =
        generate({"hello", "--raw", "--temperature", "50", "--max-tokens", "140", "--seed", seed});
    BOOST_TEST(outcome.exit_code == 0, outcome.errors);
    BOOST_TEST(outcome.output.find("\\x") != std::string::npos, outcome.output);
    BOOST_TEST(std::ranges::none_of(outcome.output, [](char c) {
      return std::iscntrl(static_cast<unsigned char>(c)) != 0 && c != '\n' && c != '\t';
    }));
  }
}

BOOST_AUTO_TEST_CASE(time_goes_to_standard_error) {
  const auto outcome = generate({"hello", "--raw", "--time", "--max-tokens", "2"});
  BOOST_TEST(outcome.errors.find("1 tokens of the prompt") != std::string::npos, outcome.errors);
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  check_mistake(run_tool({"generate", "none.gguf", "hello"}), "none");
  check_mistake(generate({"hello", "--top-p", "0"}), "--top-p");
  check_mistake(generate({std::string(400, 'A')}), "expected at most");
  check_mistake(generate({}), "PROMPT");
}

BOOST_AUTO_TEST_SUITE_END()
