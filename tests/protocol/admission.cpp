// Admission by itself: a permit when something ends at the wrong moment, and the waking of every
// waiting caller.
#include "messages/shared/admission.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tests/patience.hpp"

using namespace polychron;
using msg::Admission;

namespace {

struct Loss final : detail::Origin {
  Error error() const noexcept override { return lost; }
  void post(std::shared_ptr<detail::Deferred>) const noexcept override {}
  const Error lost{ErrorKind::context_lost, "the context is gone"};
};

/// One place. `meanwhile` runs while a caller waits; without it threads wait.
std::unique_ptr<Admission> one_place(std::function<bool()> meanwhile = {}) {
  return std::make_unique<Admission>(
      Admission::Settings{.most = 1,
                          .policy = AdmissionPolicy::block,
                          .what = "operations in flight",
                          .now = [] { return msg::Clock::time_point(); },
                          .meanwhile = std::move(meanwhile)},
      std::make_shared<Loss>());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admission)

BOOST_AUTO_TEST_CASE(who_is_admitted_while_the_context_goes_gives_the_place_back) {
  std::unique_ptr<Admission> admission;
  msg::Permit first;
  admission = one_place([&] {
    first.give_back();
    admission->close();
    return true;
  });
  first = admission->enter();
  try {
    const auto second = admission->enter();
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::context_lost));
  }
  BOOST_TEST(admission->in_flight() == 0U);
  BOOST_TEST(!admission->anybody_waits());
}

BOOST_AUTO_TEST_CASE(who_is_admitted_while_its_wait_fails_gives_the_place_back) {
  std::unique_ptr<Admission> admission;
  msg::Permit first;
  admission = one_place([&]() -> bool {
    first.give_back();
    throw std::bad_alloc();
  });
  first = admission->enter();
  BOOST_CHECK_THROW(admission->enter(), std::bad_alloc);
  BOOST_TEST(admission->in_flight() == 0U);
  BOOST_TEST(!admission->anybody_waits());
}

BOOST_AUTO_TEST_CASE(who_gives_up_takes_no_place_and_leaves_none_waiting) {
  std::unique_ptr<Admission> admission;
  const Cancellation cancellation;
  admission = one_place([&] {
    Cancellation(cancellation).cancel();
    return true;
  });
  auto first = admission->enter();
  try {
    const auto second = admission->enter({{}, detail::CancellationState::of(cancellation)});
    BOOST_ERROR("it was cancelled");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::aborted));
  }
  BOOST_TEST(admission->in_flight() == 1U);
  BOOST_TEST(!admission->anybody_waits());
  first.give_back();
  BOOST_TEST(admission->in_flight() == 0U);
}

BOOST_AUTO_TEST_CASE(newcomers_do_not_overtake_who_waits) {
  std::unique_ptr<Admission> admission;
  msg::Permit first;
  bool overtook = false;
  admission = one_place([&] {
    overtook = static_cast<bool>(admission->try_enter_now());
    first.give_back();
    overtook = overtook || static_cast<bool>(admission->try_enter_now());
    return true;
  });
  first = admission->enter();
  const auto second = admission->enter();
  BOOST_TEST(static_cast<bool>(second));
  BOOST_TEST(!overtook);
}

// A place that is given back between a look and the sleep behind it must wake the sleeper.
BOOST_AUTO_TEST_CASE(a_place_that_goes_back_and_forth_is_always_found) {
  constexpr int threads = 3, turns = 40'000;
  const auto admission = one_place();
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i)
    callers.emplace_back([&] {
      try {
        for (int turn = 0; turn < turns; ++turn) {
          auto place = admission->enter();
          place.give_back_in_passing(turn % 2 == 0);
          if (turn % 2 != 0) admission->settle();
        }
        ++done;
      } catch (const Error&) {  // closed: a waiting caller was not woken
      }
    });
  const bool all = testing::comes([&] { return done == threads; });
  if (!all) admission->close();
  for (auto& caller : callers) caller.join();
  BOOST_TEST(all, "a caller waits, and the place is free");
  BOOST_TEST(admission->in_flight() == 0U);
  BOOST_TEST(!admission->anybody_waits());
}

BOOST_AUTO_TEST_SUITE_END()
