// When the system is asked for large pages.
#include "base/large_pages.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using polychron::LargePages;

BOOST_AUTO_TEST_SUITE(large_pages)

BOOST_AUTO_TEST_CASE(are_wanted_as_long_as_they_come_fast) {
  LargePages pages;
  for (int i = 0; i < 1000; ++i) {
    BOOST_TEST(pages.wanted(), "page " << i);
    pages.came(90us);
  }
}

BOOST_AUTO_TEST_CASE(after_a_slow_one_come_small_ones_and_another_try) {
  LargePages pages;
  for (int attempt = 0; attempt < 3; ++attempt) {
    BOOST_TEST(pages.wanted(), "try " << attempt);
    pages.came(4ms);
    for (int i = 0; i < LargePages::pause; ++i)
      BOOST_TEST(!pages.wanted(), "try " << attempt << ", page " << i << " after it");
  }
  BOOST_TEST(pages.wanted());
  pages.came(90us);
  BOOST_TEST(pages.wanted());  // one that came fast has no pause
}

BOOST_AUTO_TEST_SUITE_END()
