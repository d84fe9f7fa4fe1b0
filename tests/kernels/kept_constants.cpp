// Equal constants are in memory once, and constants that differ anywhere are not taken for another.
#include "base/kept_once.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>
#include <vector>

using namespace polychron;

namespace {

KeptBytes bytes_of(std::size_t size, std::size_t changed = ~std::size_t{0}) {
  Buffer bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes.data()[i] = static_cast<std::byte>(i * 7);
  if (changed < size) bytes.data()[changed] ^= std::byte{1};
  return std::make_shared<const Buffer>(std::move(bytes));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kept_constants)

BOOST_AUTO_TEST_CASE(the_second_is_the_first) {
  const auto first = kept_once(bytes_of(5000));
  const auto given = bytes_of(5000);
  BOOST_TEST(kept_once(given) == first);
  BOOST_TEST(kept_once(first) == first);
}

BOOST_AUTO_TEST_CASE(one_bit_anywhere_is_another) {
  constexpr std::size_t size = 4096;
  const auto first = kept_once(bytes_of(size));
  for (std::size_t changed = 0; changed < size; ++changed) {
    const auto other = bytes_of(size, changed);
    const auto kept = kept_once(other);
    BOOST_REQUIRE_MESSAGE(kept == other, "a change at " << changed << " was not seen");
  }
  BOOST_TEST(kept_once(bytes_of(size + 1)) != first);
  BOOST_TEST(kept_once(bytes_of(size - 1)) != first);
}

BOOST_AUTO_TEST_CASE(nobody_is_kept_alive) {
  std::weak_ptr<const Buffer> first = kept_once(bytes_of(3000));
  BOOST_TEST(first.expired());
  const auto second = bytes_of(3000);
  BOOST_TEST(kept_once(second) == second);
}

BOOST_AUTO_TEST_CASE(small_ones_and_none_stay_as_they_are) {
  const auto first = kept_once(bytes_of(64)), second = bytes_of(64);
  BOOST_TEST(kept_once(second) == second);
  BOOST_TEST(kept_once(nullptr) == nullptr);
  const auto empty = std::make_shared<const Buffer>();
  BOOST_TEST(kept_once(empty) == empty);
}

BOOST_AUTO_TEST_CASE(many_threads_agree_in_the_end) {
  std::vector<std::jthread> threads;
  std::vector<std::vector<KeptBytes>> kept(4);
  for (auto& mine : kept)
    threads.emplace_back([&mine] {
      for (std::size_t i = 0; i < 200; ++i) mine.push_back(kept_once(bytes_of(2000 + i % 50)));
    });
  threads.clear();
  for (const auto& mine : kept)
    for (std::size_t i = 0; i < mine.size(); ++i) {
      BOOST_REQUIRE(mine[i]->size() == 2000 + i % 50);
      const auto again = kept_once(bytes_of(2000 + i % 50));
      BOOST_TEST((again->bytes().back() == mine[i]->bytes().back()));
    }
}

BOOST_AUTO_TEST_CASE(one_bit_anywhere_is_looked_up_elsewhere) {
  // Or each constant of a model would be compared with all others.
  constexpr std::size_t size = 4096;
  std::set<std::size_t> digests{content_digest(*bytes_of(size))};
  for (std::size_t changed = 0; changed < size; ++changed)
    BOOST_REQUIRE_MESSAGE(digests.insert(content_digest(*bytes_of(size, changed))).second,
                          "a change at " << changed << " was not seen");
}

BOOST_AUTO_TEST_CASE(a_process_may_be_forked_while_others_are_in_there) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  BOOST_TEST_MESSAGE("skipped: sanitizers do not follow the fork of a process with threads");
#else
  std::atomic<bool> enough{false};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&enough, mine = bytes_of(2000 + i)] {
      while (!enough) static_cast<void>(kept_once(mine));
    });
  int ended = 0;
  constexpr int forks = 200;
  for (int i = 0; i < forks; ++i) {
    const auto child = fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
      alarm(20);  // ends a child that hangs
      static_cast<void>(kept_once(bytes_of(3000)));
      _exit(0);
    }
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    ended += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
    if (ended != i + 1) break;
  }
  enough = true;
  BOOST_TEST(ended == forks, "child " << ended + 1 << " hangs");
#endif
}

BOOST_AUTO_TEST_SUITE_END()
