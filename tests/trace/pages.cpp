// The data in a page, read as a browser reads them: base64, inflated, JSON.
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "observe/trace/page.hpp"
#include "tests/trace/recorded.hpp"

using namespace polychron;
using testing::Recorded;
using Json = nlohmann::json;

namespace {

trace::JoinedTrace some_story(const std::string& label, int dispatches = 5) {
  Recorded recorded({.steps = true}, {.lanes = 2});
  const auto a = recorded.tensor("a"), b = recorded.tensor(label);
  const auto graph = recorded.graph("g");
  for (int i = 0; i < dispatches; ++i) recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}});
  recorded.context.read_tensor(b).get();
  recorded.runtime.shutdown();
  return recorded.story();
}

std::string decoded(std::string_view base64) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  BOOST_REQUIRE(base64.size() % 4 == 0);
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : base64.substr(0, base64.find('='))) {
    const auto value = digits.find(c);
    BOOST_REQUIRE(value != std::string_view::npos);
    bits = bits << 6 | static_cast<unsigned>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

/// The text that is deflated in a page of observe/viewer/.
std::string unpacked(const std::string& page, std::size_t size) {
  constexpr std::string_view open = R"(<script id="trace" type="application/x-polychron-trace">)";
  const auto begin = page.find(open);
  BOOST_REQUIRE(begin != std::string::npos);
  const auto end = page.find("</script>", begin);
  const auto text = std::string_view(page).substr(begin + open.size(), end - begin - open.size());
  const auto bytes = decoded(text);
  std::string result(size + 1, '\0');
  uLongf length = result.size();
  BOOST_REQUIRE(uncompress(reinterpret_cast<Bytef*>(result.data()), &length,
                           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  result.resize(length);
  return result;
}

void check_columns(const Json& data, const trace::JoinedTrace& story) {
  const auto& events = data["events"];
  for (const auto& [name, column] : events.items())
    BOOST_TEST(column.size() == story.events.size(), name);
  for (const auto& [name, column] : data["messages"].items())
    BOOST_TEST(column.size() == story.messages.size(), name);
  trace::Time begin = 0;
  for (std::size_t i = 0; i < story.events.size(); ++i) {
    begin += events["begin"][i].get<trace::Time>();
    BOOST_TEST(begin == story.events[i].begin);
    BOOST_TEST(data["strings"][events["name"][i].get<std::size_t>()] == story.events[i].name);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pages)

BOOST_AUTO_TEST_CASE(the_page_has_the_story_in_it) {
  const auto story = some_story("\xff\xfe </script>");
  const auto data = trace::page_data({story, "title"});
  check_columns(Json::parse(data), story);
  const auto page = trace::page({story, "title"});
  BOOST_TEST(page.find("@TRACE@") == std::string::npos);
  BOOST_TEST(unpacked(page, data.size()) == data);
}

BOOST_AUTO_TEST_CASE(every_call_and_handling_is_a_step) {
  const auto story = some_story("b");
  const auto data = Json::parse(trace::page_data({story, "title"}));
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < story.events.size(); ++i) {
    const auto kind = story.events[i].kind;
    if (kind != trace::Event::Kind::operation && kind != trace::Event::Kind::step)
      expected.push_back(i);
  }
  BOOST_TEST(data["schedule"]["events"].get<std::vector<std::size_t>>() == expected,
             boost::test_tools::per_element());
  BOOST_TEST(data["strings"][data["schedule"]["verdict"].get<std::size_t>()] == "");
  BOOST_TEST(data["other"].is_null());
}

BOOST_AUTO_TEST_CASE(what_the_check_finds_is_the_verdict) {
  auto story = some_story("b", 1);
  // The context is at two things at a time.
  const auto handled = testing::events_where(story, [&](const trace::Event& event) {
    return event.kind == trace::Event::Kind::handling &&
           story.actors[event.actor].kind == "context";
  });
  BOOST_REQUIRE(handled.size() > 1U);
  story.events[handled[0]].duration = story.length;
  const auto data = Json::parse(trace::page_data({story, "title"}));
  const std::string verdict = data["strings"][data["schedule"]["verdict"].get<std::size_t>()];
  BOOST_TEST(verdict.find("before it was done with") != std::string::npos, verdict);
}

BOOST_AUTO_TEST_CASE(two_stories_are_in_one_page) {
  const auto first = some_story("b"), second = some_story("c", 3);
  const trace::Titled other{second, "second"};
  const auto data = trace::page_data({first, "first"}, &other);
  const auto json = Json::parse(data);
  check_columns(json, first);
  check_columns(json["other"], second);
  BOOST_TEST(json["title"] == "first");
  BOOST_TEST(json["other"]["title"] == "second");
  BOOST_TEST(json["other"]["other"].is_null());
  BOOST_TEST(unpacked(trace::page({first, "first"}, &other), data.size()) == data);
}

BOOST_AUTO_TEST_CASE(of_nothing_there_is_a_page_as_well) {
  Runtime runtime;
  runtime.start_trace();
  const auto story = trace::join(runtime.trace());
  BOOST_TEST(story.events.empty());
  const auto data = Json::parse(trace::page_data({story, ""}));
  BOOST_TEST(data["events"]["kind"].empty());
  BOOST_TEST(data["schedule"]["events"].empty());
}

BOOST_AUTO_TEST_SUITE_END()
