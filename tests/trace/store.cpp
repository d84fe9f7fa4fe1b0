// The memory of a recording by itself: random threads that write, renew their block and end, at any
// limit. Records are kept or counted as dropped, and the limit is used and not passed. Snapshots
// are consistent.
#include "observe/recording/store.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>
#include <vector>

#include "base/invariant.hpp"
#include "observe/recording/recorder.hpp"
#include "observe/trace/records.hpp"

using namespace polychron;
using recording::Store;

namespace {

/// Threads of one store, and what they wrote.
class Threads {
 public:
  Threads(Store& store, std::uint32_t seed) : store_(store), random_(seed) {}

  void step() {
    auto& current = threads_[random_() % threads_.size()];
    switch (random_() % 8) {
      case 0:
        store_.leave(current);
        BOOST_TEST(current.block == nullptr);
        return;
      case 1:
        store_.leave(current);
        current = {};  // another thread begins
        return;
      default:
        return write(current, 1 + random_() % (random_() % 16 == 0 ? 100'000 : 4'000));
    }
  }
  void begin(std::size_t most) {
    store_.begin(most);
    written_ = 0;
  }

  void check(std::size_t most) const {
    const auto contents = store_.contents();
    std::size_t bytes = 0;
    std::uint64_t records = 0;
    for (const auto& [block, published] : contents.blocks) {
      records += block->records;
      const bool is_live =
          std::ranges::any_of(threads_, [p = block](const auto& t) { return t.block == p; });
      bytes += is_live ? 0 : block->size;
      // A record is as many bytes of its block's thread.
      for (const auto byte : published)
        if (byte != static_cast<std::byte>(block->thread))
          BOOST_FAIL("a block has another thread's bytes");
    }
    BOOST_TEST(records + contents.dropped == written_);
    BOOST_TEST(bytes <= most);
  }

 private:
  void write(Store::Current& current, std::size_t bytes) {
    const auto free = [&] { return current.block->size - current.block->used; };
    ++written_;
    if (!current.block || current.epoch != store_.epoch() || free() < bytes) {
      try {
        store_.renew(current, bytes);
      } catch (const std::bad_alloc&) {
        BOOST_TEST(bytes > store_.most_bytes());
        return store_.count_dropped(1);
      }
    }
    auto& block = *current.block;
    BOOST_REQUIRE(free() >= bytes);
    std::fill_n(block.memory.get() + block.used, bytes, static_cast<std::byte>(block.thread));
    block.records = block.records + 1;
    block.used = block.used + bytes;
  }

  Store& store_;
  std::mt19937 random_;
  std::vector<Store::Current> threads_{5};
  std::uint64_t written_ = 0;
};

/// The bytes of blocks that are kept.
std::size_t kept_bytes(Store& store) {
  std::size_t bytes = 0;
  for (const auto& [block, published] : store.contents().blocks) bytes += block->size;
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(store)

BOOST_AUTO_TEST_CASE(what_was_written_is_kept_or_counted) {
  for (const std::size_t most : {std::size_t{1} << 12, std::size_t{1} << 16, std::size_t{1} << 20})
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      Store store;
      Threads threads(store, seed);
      BOOST_TEST_CONTEXT(most << " bytes, seed " << seed)
      for (int round = 0; round < 3; ++round) {
        threads.begin(most);
        for (int i = 0; i < 400; ++i) {
          threads.step();
          if (i % 20 == 0) threads.check(most);
        }
      }
    }
}

// Threads come and go, with a few records each: their room is for others.
BOOST_AUTO_TEST_CASE(the_limit_is_used_however_many_threads_end) {
  constexpr std::size_t most = std::size_t{1} << 16;
  Store store;
  store.begin(most);
  for (int i = 0; i < 2000; ++i) {
    Store::Current current;
    store.renew(current, 16);
    current.block->used = 16;
    current.block->records = 1;
    store.leave(current);
    BOOST_REQUIRE(kept_bytes(store) <= most);
  }
  const auto contents = store.contents();
  BOOST_TEST(contents.dropped == 0U);
  BOOST_TEST(contents.blocks.size() == 2000U);
  BOOST_TEST(kept_bytes(store) == 2000U * 16U);
}

BOOST_AUTO_TEST_CASE(the_oldest_go_first_and_no_more_than_must) {
  constexpr std::size_t most = std::size_t{1} << 16, block = most / 16;
  Store store;
  store.begin(most);
  Store::Current current;
  for (int i = 0; i < 100; ++i) {
    store.renew(current, block);
    current.block->used = block;
    current.block->records = 1;
    current.block->memory[0] = static_cast<std::byte>(i);
  }
  const auto contents = store.contents();
  BOOST_TEST(contents.blocks.size() == 16U);
  BOOST_TEST(contents.dropped == 84U);
  for (std::size_t i = 0; i < contents.blocks.size(); ++i)
    BOOST_TEST(std::to_integer<int>(contents.blocks[i].bytes[0]) == 84 + static_cast<int>(i));
}

// A thread that has not noticed yet that the recording it writes for is over.
BOOST_AUTO_TEST_CASE(pieces_of_an_earlier_recording_stay_out) {
  Store store;
  store.begin(1 << 16);
  Store::Current late, later;
  for (auto* current : {&late, &later}) {
    store.renew(*current, 16);
    current->block->used = 16;
    current->block->records = 1;
  }
  store.begin(1 << 16);
  store.leave(late);
  BOOST_TEST(store.contents().blocks.empty());
  store.renew(later, 16);
  BOOST_TEST(store.contents().blocks.size() == 1U);
  BOOST_TEST(store.contents().dropped == 0U);
  BOOST_TEST(kept_bytes(store) == std::size_t{4} << 10);
}

// A thread may be about to write when a snapshot is taken: that record is in the next one.
BOOST_AUTO_TEST_CASE(a_snapshot_does_not_grow) {
  Store store;
  store.begin(1 << 16);
  Store::Current current;
  store.renew(current, 32);
  current.block->used = 16;
  const auto before = store.contents();
  current.block->used = 32;
  BOOST_REQUIRE(before.blocks.size() == 1U);
  BOOST_TEST(before.blocks[0].bytes.size() == 16U);
  BOOST_TEST(store.contents().blocks[0].bytes.size() == 32U);
}

BOOST_AUTO_TEST_CASE(a_broken_invariant_ends_the_call_that_finds_it) {
  const auto names = [](const std::string& what) {
    return [what](const BrokenInvariant& broken) {
      return std::string(broken.what()).find(what) != std::string::npos;
    };
  };
  Store store;
  store.begin(1 << 16);
  Store::Current current;
  store.renew(current, 32);
  auto other_thread = current;
  store.leave(current);
  BOOST_CHECK_EXCEPTION(store.renew(other_thread, 32), BrokenInvariant,
                        names("a block is one thread's until it is complete"));
  BOOST_TEST(store.contents().blocks.size() == 1U);
}

// One thread tells another of each of its records. No snapshot has what the second recorded of one
// that it lacks.
BOOST_AUTO_TEST_CASE(a_snapshot_has_what_led_to_what_it_has) {
  const auto recorder = std::make_shared<recording::Recorder>([] { return recording::Time{}; });
  const auto observer = recorder->observer_for("", 1);
  recorder->begin({.max_bytes = 1 << 16});
  std::atomic<std::int64_t> told{0};
  std::atomic<bool> done{false};
  std::thread first([&] {
    for (std::int64_t i = 1; !done; told = i++) observer->waited(msg::CallerWait::reply, i);
  });
  std::thread second([&] {
    for (std::int64_t heard = 0; !done;)
      if (const auto now = told.load(); now != heard)
        observer->waited(msg::CallerWait::permit, heard = now);
  });
  for (int snapshot = 0; snapshot < 300; ++snapshot) {
    const auto records = trace::read_records(recording::file_of(recorder->contents(), 0));
    std::int64_t last[2] = {0, 0};
    for (const auto& [thread, wait] : records.caller_waits)
      last[wait.why] = std::max(last[wait.why], wait.begin);
    BOOST_TEST(last[0] >= last[1], "snapshot " << snapshot << " lacks what led to a record");
  }
  done = true;
  first.join();
  second.join();
}

BOOST_AUTO_TEST_SUITE_END()
