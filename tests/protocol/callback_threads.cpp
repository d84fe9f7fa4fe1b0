// The thread that runs callbacks: its waiters, and the objects that it holds meanwhile.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <thread>

#include "messages/shared/callbacks.hpp"
#include "tests/patience.hpp"

using namespace polychron;
using msg::Callbacks;

namespace {

struct Posted final : detail::Deferred {
  explicit Posted(std::function<void()> f) : call(std::move(f)) {}
  void run() override { call(); }
  std::function<void()> call;
};

void post(Callbacks& callbacks, std::function<void()> call) {
  callbacks.post(std::make_shared<Posted>(std::move(call)));
}

/// A callback that has begun and takes its time; `over` once it is at its end.
struct LongCallback {
  explicit LongCallback(Callbacks& callbacks) {
    post(callbacks, [begun = begun, over = over] {
      *begun = true;
      for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
      *over = true;
    });
    BOOST_REQUIRE(testing::comes([&] { return begun->load(); }));
  }
  std::shared_ptr<std::atomic<bool>> begun = std::make_shared<std::atomic<bool>>(false),
                                     over = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(callback_threads)

BOOST_AUTO_TEST_CASE(the_end_waits_for_the_callback_that_runs) {
  const auto callbacks = Callbacks::start({}, {});
  const LongCallback last(*callbacks);
  callbacks->stop();
  BOOST_TEST(last.over->load());
}

BOOST_AUTO_TEST_CASE(it_is_not_idle_while_a_callback_runs) {
  const auto callbacks = Callbacks::start({}, {});
  const LongCallback last(*callbacks);
  BOOST_TEST(callbacks->wait_until_idle(std::chrono::seconds(20)));
  BOOST_TEST(last.over->load());
  callbacks->stop();
}

BOOST_AUTO_TEST_CASE(what_was_posted_runs_before_the_end) {
  const auto callbacks = Callbacks::start({}, {});
  std::atomic<int> runs{0};
  for (int i = 0; i < 100; ++i) post(*callbacks, [&] { ++runs; });
  callbacks->stop();
  BOOST_TEST(runs == 100);
  post(*callbacks, [&] { ++runs; });
  BOOST_TEST(runs == 101);
}

// A callback's captures are the user's: their destructor may wait for a thread that posts.
BOOST_AUTO_TEST_CASE(captures_go_while_others_may_post) {
  struct Capture {
    Capture(std::atomic<bool>& goes, std::atomic<bool>& is_posted, bool& is_found)
        : going(goes), posted(is_posted), found(is_found) {}
    ~Capture() {
      going = true;
      found = testing::comes([this] { return posted.load(); });
    }
    std::atomic<bool>&going, &posted;
    bool& found;
  };
  std::atomic<bool> going{false}, posted{false};
  bool found = false;
  const auto callbacks = Callbacks::start({}, {});
  post(*callbacks, [capture = std::make_shared<Capture>(going, posted, found)] {});
  BOOST_REQUIRE(testing::comes([&] { return going.load(); }));
  post(*callbacks, [] {});
  posted = true;
  callbacks->stop();
  BOOST_TEST(found, "who posts waits for what a callback captured");
}

BOOST_AUTO_TEST_SUITE_END()
