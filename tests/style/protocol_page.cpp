// docs/protocol.md tells every message of messages/types.hpp, by protocol, and no other.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

using Messages = std::map<std::string, std::set<std::string>>;  ///< by protocol

/// The messages that `file` lists, each line's by the protocol that the last heading named.
Messages messages_in(const std::string& file, const std::regex& heading, const std::regex& entry) {
  std::ifstream in(std::filesystem::path(POLYCHRON_SOURCE_DIR) / file);
  BOOST_REQUIRE_MESSAGE(in, file << " cannot be read");
  Messages messages;
  std::string protocol;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, match, heading)) protocol = match[1];
    if (!std::regex_search(line, match, entry)) continue;
    BOOST_TEST(messages[protocol].insert(match[1]).second,
               file << " lists " << match[1] << " twice");
  }
  BOOST_REQUIRE(!messages.empty());
  return messages;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol_page)

BOOST_AUTO_TEST_CASE(the_page_and_the_type_ids_list_the_same_messages) {
  const auto in_code =
      messages_in("messages/types.hpp", std::regex(R"(^// (\w+)$)"),
                  std::regex(R"(^CAF_ADD_TYPE_ID\(polychron, \(polychron::msg::(\w+)\)\))"));
  const auto in_page =
      messages_in("docs/protocol.md", std::regex(R"(^## (\w+)$)"), std::regex(R"(^\| `(\w+)` \|)"));
  const auto check = [](const Messages& some, const Messages& others, const std::string& missing) {
    for (const auto& [protocol, messages] : some) {
      const auto other = others.find(protocol);
      for (const auto& message : messages)
        BOOST_TEST((other != others.end() && other->second.contains(message)),
                   protocol << ": " << message << " " << missing);
    }
  };
  check(in_code, in_page, "is not in docs/protocol.md");
  check(in_page, in_code, "is in docs/protocol.md but is no message");
}

BOOST_AUTO_TEST_SUITE_END()
