// Contexts do not hinder each other: an idle one is served while others have more to do than they
// can. Counted in calls, not in time.
#include <atomic>

#include "tests/api/fixture.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Clients that give a context more to do than it can carry out, up to a number of calls that takes
/// them a while.
class Flood {
 public:
  static constexpr std::uint64_t most = 3000000;

  explicit Flood(Rig& rig) {
    for (int i = 0; i < 2; ++i) {
      ContextOptions options;
      options.max_in_flight = 1U << 16U;  // a backlog that takes a while
      auto context = rig.runtime.create_context(options).get();
      for (int client = 0; client < 2; ++client)
        clients_.emplace_back([this, context] { run(context); });
    }
    // It is under way.
    while (calls_ < 1000) std::this_thread::yield();
  }
  ~Flood() { stop(); }
  void stop() {
    stop_ = true;
    clients_.clear();
  }
  bool exhausted() const { return calls_ >= most; }

 private:
  void run(Context context) {
    const auto t = context.create_tensor(Rig::floats()).get();
    const std::vector<float> values(4, 1);
    while (!stop_ && calls_ < most) {
      context.write_tensor(t, values);
      ++calls_;
    }
  }
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> calls_{0};
  std::vector<std::jthread> clients_;
};

RuntimeOptions threads(int count) {
  RuntimeOptions options;
  options.scheduler_threads = count;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fairness)

BOOST_AUTO_TEST_CASE(an_idle_context_is_served_while_others_are_flooded) {
  for (const int count : {1, 2}) {
    Rig rig({}, threads(count));
    const auto t = rig.tensor();
    Flood flood(rig);
    for (int i = 0; i < 20; ++i) static_cast<void>(rig.read(t));
    BOOST_TEST(!flood.exhausted(), count << " scheduler threads");
  }
}

BOOST_AUTO_TEST_CASE(the_idle_contexts_questions_and_end_are_served_too) {
  Rig rig({}, threads(1));
  Flood flood(rig);
  for (int i = 0; i < 5; ++i) {
    auto context = rig.runtime.create_context().get();
    const auto t = context.create_tensor(Rig::floats()).get();
    static_cast<void>(t.error().get());
    static_cast<void>(context.pending().get());
    auto read = context.read_tensor(t);
    context.destroy();
    static_cast<void>(read.take());
  }
  BOOST_TEST(!flood.exhausted());
}

BOOST_AUTO_TEST_SUITE_END()
