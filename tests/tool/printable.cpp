// The tool's printing of names and messages that others have made.
#include "apps/tool/printable.hpp"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/tool/terminal.hpp"

BOOST_AUTO_TEST_SUITE(printable)

BOOST_AUTO_TEST_CASE(text_stays_and_the_rest_is_escaped) {
  using tool::printable;
  const std::string texts = "caf\xc3\xa9 \xe6\x96\x87 \xf0\x9f\x98\x80 \\ '~";
  BOOST_TEST(printable(texts) == texts);
  BOOST_TEST(printable("") == "");
  BOOST_TEST(printable(std::string("a\0b", 3)) == "a\\x00b");
  BOOST_TEST(printable("\x1b[31m\r\n\t\x7f") == "\\x1b[31m\\x0d\\x0a\\x09\\x7f");
  BOOST_TEST(printable("\xc2\x9b"
                       "31m") == "\\xc2\\x9b31m");  // C1: another ESC [
  BOOST_TEST(printable("\xe2\x80\xae"
                       "a") == "\\xe2\\x80\\xaea");   // from right to left
  BOOST_TEST(printable("\xff\xc3") == "\\xff\\xc3");  // no UTF-8, cut off
  BOOST_TEST(printable("\xc0\x9b\xe0\x80\x9b") == "\\xc0\\x9b\\xe0\\x80\\x9b");  // too long
  BOOST_TEST(printable("\xed\xa0\x80\xf4\x90\x80\x80") ==
             "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");  // a surrogate; beyond Unicode
}

BOOST_AUTO_TEST_CASE(json_stays_json) {
  const std::string odd = "\x1b[1m\x7f\xc2\x9b\xe2\x80\xae\xff\n\"\\";
  const auto text = tool::to_text({{odd, {odd, 1.5, "caf\xc3\xa9"}}});
  BOOST_TEST(!test_tool::is_obeyed_by_terminals(text), text);
  const auto value = nlohmann::json::parse(text);
  const std::string expected = "\x1b[1m\x7f\xc2\x9b\xe2\x80\xae\xef\xbf\xbd\n\"\\";
  BOOST_TEST(value.items().begin().key() == expected);
  BOOST_TEST(value[expected][0] == expected);
  BOOST_TEST(value[expected][2] == "caf\xc3\xa9");
}

BOOST_AUTO_TEST_CASE(no_bytes_get_through) {
  const auto seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 20, ' ');
    for (auto& c : text) c = static_cast<char>(random() % 3 == 0 ? random() : 0x80 | random() % 64);
    const auto shown = tool::printable(text);
    BOOST_TEST(!test_tool::is_obeyed_by_terminals(shown));
    BOOST_TEST(tool::printable(shown) == shown);
    const nlohmann::json as_json = shown;
    BOOST_CHECK_NO_THROW(static_cast<void>(as_json.dump()));  // it is UTF-8
    BOOST_TEST(!test_tool::is_obeyed_by_terminals(tool::to_text({text})));
  }
}

BOOST_AUTO_TEST_SUITE_END()
