// Exact accounts: bytes, callbacks that wait, permits. Each limit is tried from both sides, and
// each account falls back to zero.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "messages/shared/admission.hpp"
#include "messages/shared/backlog.hpp"
#include "messages/shared/budget.hpp"
#include "messages/shared/survey.hpp"

using namespace polychron;
using msg::Admission;
using msg::Budget;
using msg::ConstantsReservation;
using msg::Permit;
using msg::Reservation;

namespace {

ops::ConstantBytes constant_of(std::size_t bytes) { return std::make_shared<const Buffer>(bytes); }

struct Gone final : detail::Origin {
  Error error() const noexcept override { return lost; }
  void post(std::shared_ptr<detail::Deferred>) const noexcept override {}
  const Error lost{ErrorKind::context_lost, "the context is gone"};
};

/// `meanwhile` runs while a caller waits.
std::unique_ptr<Admission> admission_of(std::uint64_t most, AdmissionPolicy policy,
                                        std::function<bool()> meanwhile = {}) {
  return std::make_unique<Admission>(
      Admission::Settings{.most = most,
                          .policy = policy,
                          .what = "operations in flight",
                          .now = [] { return msg::Clock::time_point(); },
                          .meanwhile = std::move(meanwhile)},
      std::make_shared<Gone>());
}

std::vector<Permit> all_of(Admission& admission) {
  std::vector<Permit> permits;
  for (std::uint64_t i = 0; i < admission.most(); ++i) permits.push_back(admission.enter());
  return permits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(accounts)

// -- bytes ----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_budget_gives_all_that_it_has_and_not_a_byte_more) {
  const auto budget = std::make_shared<Budget>(100);
  auto first = Reservation::take(budget, 60);
  BOOST_REQUIRE(first.has_value());
  BOOST_TEST(!Reservation::take(budget, 41).has_value());
  BOOST_TEST(budget->used() == 60U);
  auto second = Reservation::take(budget, 40);
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST(!Reservation::take(budget, 1).has_value());
  BOOST_TEST(Reservation::take(budget, 0).has_value());
  BOOST_TEST(budget->used() == 100U);
  first.reset();
  BOOST_TEST(budget->used() == 40U);
  second.reset();
  BOOST_TEST(budget->used() == 0U);
  BOOST_TEST(budget->peak() == 100U);
  BOOST_TEST(!budget->reserve(~std::uint64_t{0}));
}

BOOST_AUTO_TEST_CASE(a_reservation_that_moves_is_given_back_once) {
  const auto budget = std::make_shared<Budget>(100);
  {
    auto a = Reservation::take(budget, 10).value(), b = Reservation::take(budget, 20).value();
    auto c = std::move(a);
    BOOST_TEST(budget->used() == 30U);
    c = std::move(b);  // gives its own back
    BOOST_TEST(budget->used() == 20U);
    b = std::move(c);
    a = Reservation();
    BOOST_TEST(budget->used() == 20U);
    b = Reservation();
    BOOST_TEST(budget->used() == 0U);
  }
  BOOST_TEST(budget->used() == 0U);
}

BOOST_AUTO_TEST_CASE(shared_constants_count_once_until_the_last_holder_goes) {
  const auto budget = std::make_shared<Budget>(100);
  const auto a = constant_of(30), b = constant_of(20);
  auto first = ConstantsReservation::take(budget, 5, {a, b});
  BOOST_TEST(budget->used() == 55U);
  auto second = ConstantsReservation::take(budget, 7, {a});
  BOOST_TEST(budget->used() == 62U);
  auto third = ConstantsReservation::take(budget, 0, {b, b});  // one holder twice
  BOOST_TEST(budget->used() == 62U);
  first.reset();
  BOOST_TEST(budget->used() == 57U);
  third.reset();
  BOOST_TEST(budget->used() == 37U);
  auto moved = std::move(*second);
  second.reset();
  BOOST_TEST(budget->used() == 37U);
  moved = ConstantsReservation();
  BOOST_TEST(budget->used() == 0U);
  BOOST_TEST(ConstantsReservation::take(budget, 70, {a}).has_value());  // counted anew
}

BOOST_AUTO_TEST_CASE(constants_that_do_not_fit_leave_no_holder) {
  const auto budget = std::make_shared<Budget>(50);
  const auto a = constant_of(30), b = constant_of(20);
  const auto held = ConstantsReservation::take(budget, 0, {a});
  BOOST_TEST(!ConstantsReservation::take(budget, 1, {a, b}).has_value());
  BOOST_TEST(budget->used() == 30U);
  {
    const auto fits = ConstantsReservation::take(budget, 0, {a, b});
    BOOST_TEST(fits.has_value());
    BOOST_TEST(budget->used() == 50U);
  }
  BOOST_TEST(budget->used() == 30U);
}

// -- permits --------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(an_admission_gives_all_its_permits_and_not_one_more) {
  for (const std::uint64_t most : {1U, 2U, 63U, 64U, 65U, 1000U}) {
    const auto admission = admission_of(most, AdmissionPolicy::fail);
    for (int round = 0; round < 3; ++round) {
      auto permits = all_of(*admission);
      BOOST_TEST(admission->in_flight() == most);
      BOOST_TEST(!admission->try_enter_now());
      BOOST_CHECK_THROW(admission->enter(), Error);
      BOOST_TEST(admission->peak() == most);
      permits.pop_back();
      BOOST_TEST(admission->in_flight() == most - 1);
      BOOST_TEST(static_cast<bool>(admission->try_enter_now()));  // and is given back
    }
    BOOST_TEST(admission->in_flight() == 0U);
    BOOST_TEST(admission->refused() == 3U);  // try_enter_now() counts none
    BOOST_TEST(admission->blocked() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_permit_that_moves_is_given_back_once) {
  const auto admission = admission_of(4, AdmissionPolicy::fail);
  auto a = admission->enter(), b = admission->enter();
  Permit c = std::move(a);
  c = std::move(b);  // gives its own back
  BOOST_TEST(admission->in_flight() == 1U);
  const Permit copy = c;  // holds nothing
  BOOST_TEST(!copy);
  c.give_back();
  c.give_back();
  BOOST_TEST(admission->in_flight() == 0U);
}

// A busy lane lets waiting callers in once half of the permits are free, an idle one at once.
BOOST_AUTO_TEST_CASE(a_busy_lane_lets_callers_in_when_half_is_free) {
  for (const std::uint64_t most : {1U, 2U, 3U, 4U, 5U, 64U})
    for (const bool idle : {false, true}) {
      std::vector<Permit> permits;
      std::uint64_t returned = 0;
      const auto admission = admission_of(most, AdmissionPolicy::block, [&] {
        permits.back().give_back_in_passing(idle);
        permits.pop_back();
        ++returned;
        return true;
      });
      permits = all_of(*admission);
      const auto entered = admission->enter();
      BOOST_TEST(returned == (idle ? 1 : most - most / 2), most << " permits");
      BOOST_TEST(admission->blocked() == 1U);
      BOOST_TEST(!admission->anybody_waits());
      BOOST_TEST(admission->in_flight() == most - returned + 1);
      permits.clear();
    }
}

// -- callbacks that wait --------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_backlog_is_below_its_limit_or_not) {
  msg::Backlog backlog;
  const msg::Now now = [] { return msg::Clock::time_point(); };
  for (const std::uint64_t most : {1U, 3U}) {
    for (std::uint64_t i = 0; i < most; ++i) {
      BOOST_TEST(backlog.below(most));
      backlog.add();
    }
    BOOST_TEST(!backlog.below(most));
    BOOST_TEST(backlog.below(most + 1));
    Cancellation cancelled;
    cancelled.cancel();
    BOOST_CHECK_THROW(backlog.wait_below(most, {{}, detail::CancellationState::of(cancelled)}, now),
                      Error);
    backlog.take();
    BOOST_TEST(backlog.below(most));
    for (std::uint64_t i = 1; i < most; ++i) backlog.take();
  }
  backlog.add();
  backlog.close();  // nobody is kept
  BOOST_TEST(backlog.below(1));
}

// -- questions ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_survey_gives_its_permit_back_before_it_answers) {
  const auto admission = admission_of(1, AdmissionPolicy::fail);
  const auto origin = std::make_shared<Gone>();
  for (const std::size_t answers : {0U, 1U, 2U}) {
    const auto promise = Promise<std::vector<PendingOperation>>::make(origin);
    auto future = promise.future();
    auto survey = std::make_shared<msg::Survey>(promise, 2, origin, admission->enter());
    BOOST_TEST(admission->in_flight() == 1U);
    for (std::size_t i = 0; i < answers; ++i) survey->answer(std::vector<PendingOperation>(i + 1));
    BOOST_TEST(!future.ready());
    survey.reset();
    BOOST_TEST(admission->in_flight() == 0U);
    const auto found = future.take();
    BOOST_TEST(found.has_value() == (answers == 2));
    if (found) BOOST_TEST(found->size() == 3U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
