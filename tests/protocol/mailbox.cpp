// The mailbox of an actor: order, who must wake its reader, and what goes when it closes.
#include "actors/engine/mailbox.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace polychron;
using engine::Mailbox;

namespace {

caf::mailbox_element_ptr element(int number, bool urgent = false) {
  const auto priority = urgent ? caf::message_priority::high : caf::message_priority::normal;
  return caf::make_mailbox_element(nullptr, caf::make_message_id(priority), {}, number);
}
int number_of(const caf::mailbox_element& element) { return element.content().get_as<int>(0); }
/// All that is there, in the order in which it is handled.
std::vector<int> drained(Mailbox& mailbox) {
  std::vector<int> numbers;
  for (mailbox.fetch(); const auto next = mailbox.pop(); mailbox.fetch())
    numbers.push_back(number_of(*next));
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mailbox)

BOOST_AUTO_TEST_CASE(first_come_first_served_but_for_what_is_urgent) {
  Mailbox box;
  for (const int n : {1, 2}) box.push(element(n));
  for (const int n : {11, 12}) box.push(element(n, true));
  box.fetch();
  box.push(element(3));
  box.push(element(13, true));
  BOOST_TEST(number_of(*box.peek()) == 11);
  BOOST_TEST(drained(box) == (std::vector<int>{11, 12, 13, 1, 2, 3}));
  BOOST_TEST(box.empty());
}

BOOST_AUTO_TEST_CASE(a_reader_that_has_nothing_to_do_is_woken_once) {
  Mailbox box;
  BOOST_TEST((box.push(element(1)) == Mailbox::Result::success));
  BOOST_TEST(!box.try_block());
  box.fetch();
  BOOST_TEST(!box.try_block());  // it has fetched, and not handled
  static_cast<void>(box.pop());
  BOOST_TEST(box.try_block());
  BOOST_TEST(box.peek() == nullptr);  // and looking does not wake it
  BOOST_TEST((box.push(element(2)) == Mailbox::Result::unblocked_reader));
  BOOST_TEST((box.push(element(3)) == Mailbox::Result::success));
  BOOST_TEST(drained(box) == (std::vector<int>{2, 3}));
}

BOOST_AUTO_TEST_CASE(any_can_be_put_first) {
  for (const int chosen : {1, 2, 3, 11, 12}) {
    Mailbox box;
    for (const int n : {1, 2, 3}) box.push(element(n));
    for (const int n : {11, 12}) box.push(element(n, true));
    box.fetch();
    const bool urgent = chosen > 10;
    const caf::mailbox_element* found = nullptr;
    (urgent ? box.urgent() : box.normal()).for_each([&](const caf::mailbox_element& e) {
      if (number_of(e) == chosen) found = &e;
    });
    BOOST_REQUIRE(found != nullptr);
    box.put_first(*found, urgent);
    box.push(element(4));
    std::vector<int> expected{chosen};
    for (const int n : {11, 12, 1, 2, 3, 4})
      if (n != chosen) expected.push_back(n);
    BOOST_TEST(drained(box) == expected);
  }
}

BOOST_AUTO_TEST_CASE(what_is_there_when_it_closes_goes_in_order) {
  for (const bool fetched : {false, true})
    for (const bool blocked : {false, true}) {
      Mailbox box;
      std::vector<int> expected;
      if (blocked) {
        BOOST_REQUIRE(box.try_block());
      } else {
        box.push(element(1));
        box.push(element(11, true));
        if (fetched) box.fetch();
        box.push(element(2));
        box.push(element(12, true));
        expected = {11, 12, 1, 2};
      }
      std::vector<int> dropped;
      box.close([&](const caf::mailbox_element& e) { dropped.push_back(number_of(e)); });
      BOOST_TEST(dropped == expected);
      BOOST_TEST(box.closed());
      BOOST_TEST(box.peek() == nullptr);
      BOOST_TEST((box.push(element(5)) == Mailbox::Result::queue_closed));
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_between_threads) {
  constexpr int writers = 3, each = 20'000;
  Mailbox box;
  std::atomic<int> wakes{0};
  std::vector<std::jthread> threads;
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&, w] {
      for (int i = 0; i < each; ++i)
        if (box.push(element(w * each + i)) == Mailbox::Result::unblocked_reader) {
          ++wakes;
          wakes.notify_one();
        }
    });
  std::vector<int> next(writers, 0);
  int woken = 0;
  for (int got = 0; got < writers * each;) {
    box.fetch();
    while (const auto e = box.pop()) {
      const int writer = number_of(*e) / each;
      BOOST_REQUIRE(number_of(*e) % each == next[static_cast<std::size_t>(writer)]++);
      ++got;
    }
    if (got == writers * each || !box.try_block()) continue;
    wakes.wait(woken++);
  }
  threads.clear();
  BOOST_TEST(box.empty());
}

BOOST_AUTO_TEST_SUITE_END()
