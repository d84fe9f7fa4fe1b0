// The system is asked for large pages at the right time, for the right memory.
#include "base/large_pages.hpp"

#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <iostream>
#include <random>
#include <vector>

#include "polychron/buffer.hpp"

namespace polychron {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(large_pages)

BOOST_AUTO_TEST_CASE(are_wanted_as_long_as_they_come_fast) {
  LargePages pages;
  for (int i = 0; i < 1000; ++i) {
    BOOST_TEST(pages.wanted(), "page " << i);
    pages.came(i % 2 == 0 ? 90us : 1000us);
  }
}

BOOST_AUTO_TEST_CASE(after_a_slow_one_come_small_ones_and_another_try) {
  LargePages pages;
  for (int attempt = 0; attempt < 3; ++attempt) {
    BOOST_TEST(pages.wanted(), "try " << attempt);
    pages.came(attempt == 0 ? 1001us : 4000us);
    for (int i = 0; i < 63; ++i)
      BOOST_TEST(!pages.wanted(), "try " << attempt << ", page " << i << " after it");
  }
  BOOST_TEST(pages.wanted());
  pages.came(90us);
  BOOST_TEST(pages.wanted());  // one that came fast has no pause
}

BOOST_AUTO_TEST_CASE(pieces_are_all_whole_pages_and_no_others) {
  std::mt19937_64 random(1);
  constexpr std::size_t mib = 1U << 20U;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{8191},
        mib - 1, mib, 2 * mib, 4 * mib - 1, 4 * mib, 4 * mib + 1, 6 * mib, 77 * mib + 4097})
    for (int i = 0; i < 100; ++i) {
      std::uintptr_t begin = 64 * mib + random() % (4 * mib);
      if (i % 4 == 0) begin = begin / page_bytes * page_bytes;
      if (i % 8 == 0) begin = begin / large_page_bytes * large_page_bytes;
      const std::uintptr_t first = (begin + 4095) / 4096 * 4096,
                           last = (begin + size) / 4096 * 4096;
      std::uintptr_t at = first;
      std::size_t whole = 0;
      each_piece(begin, size, [&](std::uintptr_t piece, std::size_t bytes) {
        BOOST_TEST(piece == at, size << " bytes at " << begin << ": a piece at " << piece
                                     << ", expected at " << at);
        BOOST_TEST((bytes > 0 && bytes % 4096 == 0));
        BOOST_TEST(piece / (2 * mib) == (piece + bytes - 1) / (2 * mib));
        at = piece + bytes;
        if (bytes == 2 * mib) ++whole;
      });
      BOOST_TEST(at == std::max(first, last), size << " bytes at " << begin << ": ended at " << at);
      if (size >= 4 * mib) BOOST_TEST(whole >= size / (2 * mib) - 1);
    }
}

// Untouched memory: a buffer that is filled by reading a file. Memory that was used before is taken
// as it is, so single pages may be missing where nobody wrote.
BOOST_AUTO_TEST_CASE(a_large_buffer_is_in_memory_from_the_start) {
#ifdef MADV_POPULATE_WRITE
  alignas(4096) static std::byte own[4096];
  if (::madvise(own, sizeof own, MADV_POPULATE_WRITE) != 0) {
    std::cout << "skipped: this system gives no memory at once\n";
    return;
  }
  constexpr std::size_t mib = 1U << 20U;
  for (const std::size_t size : {mib, 3 * mib + 100, 8 * mib, 64 * mib + 5000})
    for (int again = 0; again < 2; ++again) {
      auto buffer = Buffer::uninitialized(size);
      std::size_t pages = 0, missing = 0;
      each_piece(
          reinterpret_cast<std::uintptr_t>(buffer.data()), size,
          [&](std::uintptr_t at, std::size_t bytes) {
            std::vector<unsigned char> resident(bytes / 4096);
            BOOST_REQUIRE(::mincore(reinterpret_cast<void*>(at), bytes, resident.data()) == 0);
            pages += resident.size();
            for (const auto page : resident) missing += (page & 1U) == 0 ? 1 : 0;
          });
      BOOST_TEST(missing <= pages / 100,
                 size << " bytes: " << missing << " of " << pages << " pages are missing");
    }
#else
  std::cout << "skipped: built without a way to have memory given at once\n";
#endif
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
