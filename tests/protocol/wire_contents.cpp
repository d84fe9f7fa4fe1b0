// Calls as bytes without the contents that they bring.
#include <algorithm>

#include "messages/call_codec.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using msg::Call;

namespace {

msg::PayloadRef twelve_bytes() {
  const std::vector<std::byte> bytes(12, std::byte{1});
  return std::make_shared<msg::Payload>(Buffer::copy_of(bytes), msg::Reservation());
}

void rejected(const Result<Call>& call) {
  BOOST_REQUIRE(!call.has_value());
  BOOST_TEST((call.error().kind() == ErrorKind::bad_data), call.error().what());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wire_contents)

BOOST_AUTO_TEST_CASE(contents_can_be_left_out_but_for_their_number) {
  msg::wire::Writer writer;
  writer.contents = false;
  writer(Call(msg::WriteTensor{7, twelve_bytes(), "w", std::nullopt}));
  BOOST_TEST(
      writer.bytes.size() <
      msg::wire::to_bytes(Call(msg::WriteTensor{7, twelve_bytes(), "w", std::nullopt})).size());
  const auto read = msg::wire::from_bytes<Call>(writer.bytes, 12);
  BOOST_REQUIRE(read.has_value());
  const auto& write = std::get<msg::WriteTensor>(*read);
  BOOST_TEST(write.tensor == 7U);
  BOOST_TEST(write.label == "w");
  BOOST_TEST(std::ranges::equal(write.payload->view(), std::vector<std::byte>(12)));
  // Nobody makes up more bytes than the reader allows, which is none unless it says so.
  rejected(msg::wire::from_bytes<Call>(writer.bytes, 11));
  rejected(msg::wire::from_bytes<Call>(writer.bytes));
}

BOOST_AUTO_TEST_CASE(bytes_in_the_callers_hands_are_not_looked_at) {
  const std::vector<std::byte> bytes(12, std::byte{1});
  auto caller = std::make_shared<msg::Rendezvous>(bytes);
  const Call call(msg::WriteTensor{1, std::make_shared<msg::Payload>(caller, nullptr), "", {}});
  const auto read = msg::wire::from_bytes<Call>(msg::wire::to_bytes(call), 12);
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(std::ranges::equal(std::get<msg::WriteTensor>(*read).payload->view(),
                                std::vector<std::byte>(12)));
  std::get<msg::WriteTensor>(call).payload->meeting = nullptr;  // there is nobody to tell
}

BOOST_AUTO_TEST_SUITE_END()
