// Features that only some of the stress tool's programs have: few bytes, several contexts,
// callbacks that make calls, faults by name.
#include <boost/test/unit_test.hpp>
#include <set>

#include "observe/stress/counter_check.hpp"
#include "observe/stress/explorer.hpp"
#include "observe/stress/model.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using stress::Kind;
using stress::Program;

namespace {

/// The history of a run of `program` in which nothing is wrong.
std::vector<stress::History> histories_of(const Program& program, std::uint64_t seed = 1) {
  stress::RandomStrategy strategy(seed);
  auto result = stress::run(program, strategy);
  BOOST_TEST(!result.finding, result.finding.value_or("") << "\n" << to_string(program));
  return std::move(result.histories);
}

std::optional<ErrorKind> kind_of(const std::optional<Error>& error) {
  return error ? std::optional(error->root().kind()) : std::nullopt;
}

bool says(const std::optional<std::string>& finding, const char* what) {
  return finding && finding->find(what) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wider_programs)

BOOST_AUTO_TEST_CASE(a_part_of_the_programs_has_each) {
  std::size_t few_bytes = 0, contexts = 0, foreign = 0, callbacks = 0, plain = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const auto program = stress::random_program(seed);
    const auto some = [&](auto is) {
      return std::ranges::any_of(program.clients,
                                 [&](const auto& calls) { return std::ranges::any_of(calls, is); });
    };
    const bool chained = some([](const auto& call) { return call.then; });
    few_bytes += program.few_bytes(), contexts += program.contexts > 1, callbacks += chained;
    foreign += some([](const auto& call) { return call.foreign; });
    plain += !program.few_bytes() && program.contexts == 1 && !chained;
  }
  for (const auto count : {few_bytes, contexts, foreign, callbacks}) BOOST_TEST(count > 30U);
  BOOST_TEST(plain > 300U);
}

BOOST_AUTO_TEST_CASE(tokens_hold_all_of_it) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto program = stress::random_program(seed);
    stress::RandomStrategy strategy(seed);
    const auto schedule = stress::run(program, strategy).schedule;
    Program replayed;
    const auto again = stress::replay(token_of(program, schedule), &replayed);
    BOOST_TEST((replayed == program), "seed " << seed);
    BOOST_TEST((again.schedule == schedule), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_only_that) {
  Program program;
  program.clients = {{{.kind = Kind::create, .tensor = 3}, {.kind = Kind::create, .tensor = 4}}};
  program.spare_bytes = 8;
  auto history = histories_of(program).at(0);
  BOOST_REQUIRE_EQUAL(history.calls.size(), 2U);
  BOOST_TEST(!history.calls[0].answer->error);
  BOOST_TEST((kind_of(history.calls[1].answer->error) == ErrorKind::out_of_memory));
  // With bytes enough the same answer is wrong.
  program.spare_bytes = 1024;
  BOOST_TEST(says(check(program, history), "was rejected"));
}

BOOST_AUTO_TEST_CASE(a_write_whose_copy_does_not_fit_is_done) {
  Program program;
  program.spare_bytes = 0;
  program.clients = {{{.kind = Kind::write, .tensor = 0, .value = 7},
                      {.kind = Kind::write, .tensor = 1, .value = 8, .way = 1},
                      {.kind = Kind::read, .tensor = 0},
                      {.kind = Kind::read, .tensor = 1}}};
  const auto history = histories_of(program).at(0);
  BOOST_REQUIRE_EQUAL(history.calls.size(), 4U);
  BOOST_TEST(history.calls[2].answer->value.value() == 7U);
  BOOST_TEST(history.calls[3].answer->value.value() == 8U);
}

BOOST_AUTO_TEST_CASE(wrong_counts_are_seen) {
  Program program;
  program.clients = {{{.kind = Kind::write, .tensor = 0, .value = 7},
                      {.kind = Kind::write, .tensor = 0, .value = 7, .way = 1},
                      {.kind = Kind::read, .tensor = 0, .way = 2}}};
  const auto history = histories_of(program).at(0);
  ContextStats stats;
  stats.writes = 2, stats.reads = 1, stats.builds = 2, stats.copies = 3, stats.copied_bytes = 24;
  stats.completed = 3;
  BOOST_TEST(check_counters(program, history, stats).value_or("") == "");
  auto wrong = stats;
  wrong.writes = 3;
  BOOST_TEST(says(check_counters(program, history, wrong), "writes are counted as 3, of 2"));
  wrong = stats, wrong.copies = 4, wrong.copied_bytes = 32;
  BOOST_TEST(says(check_counters(program, history, wrong), "copies are counted as 4"));
  wrong = stats, wrong.copied_bytes = 32;
  BOOST_TEST(says(check_counters(program, history, wrong), "copied bytes are counted as 32"));
  wrong = stats, wrong.completed = 2;
  BOOST_TEST(says(check_counters(program, history, wrong), "ends are counted as 2, expected 3"));
}

BOOST_AUTO_TEST_CASE(what_is_another_contexts_is_refused_at_once) {
  Program program;
  program.contexts = 2;
  program.clients = {{{.kind = Kind::write, .tensor = 0, .value = 7, .context = 1},
                      {.kind = Kind::write, .tensor = 0, .value = 9, .foreign = true},
                      {.kind = Kind::dispatch, .tensor = 1, .inputs = {0}, .foreign = true},
                      {.kind = Kind::compute, .context = 1, .foreign = true},
                      {.kind = Kind::read, .tensor = 0, .foreign = true},
                      {.kind = Kind::read, .tensor = 0, .context = 1}}};
  const auto histories = histories_of(program);
  BOOST_REQUIRE_EQUAL(histories.size(), 2U);
  BOOST_REQUIRE_EQUAL(histories[0].calls.size(), 3U);
  for (const auto& made : histories[0].calls) {
    const auto& error = made.thrown ? made.thrown : made.answer->error;
    BOOST_TEST((kind_of(error) == ErrorKind::type_error), to_string(made.call));
    BOOST_TEST(!made.submitted, to_string(made.call));
  }
  BOOST_TEST(histories[1].calls.back().answer->value.value() == 7U);
  // Had it been taken, that would be wrong.
  auto taken = histories[0];
  taken.calls[0].thrown.reset();
  taken.calls[0].submitted = true;
  BOOST_TEST(says(check(part_of(program, 0), taken), "was taken"));
}

BOOST_AUTO_TEST_CASE(a_context_that_is_lost_leaves_the_other_as_it_was) {
  Program program;
  program.contexts = 2;
  program.faults = {{.point = stress::FaultPoint::execute, .kind = ErrorKind::context_lost}};
  program.clients = {{{.kind = Kind::write, .tensor = 0, .value = 7, .context = 1},
                      {.kind = Kind::dispatch, .tensor = 1, .inputs = {0}},
                      {.kind = Kind::read, .tensor = 1},
                      {.kind = Kind::dispatch, .tensor = 1, .inputs = {0}, .context = 1},
                      {.kind = Kind::read, .tensor = 1, .context = 1}}};
  const auto histories = histories_of(program);
  BOOST_TEST(histories.at(0).calls.back().answer->error.has_value());
  BOOST_TEST(histories.at(1).calls.back().answer->value.value() ==
             stress::symbolic_result("g0", 0, std::vector<std::uint64_t>{7}));
}

BOOST_AUTO_TEST_CASE(callbacks_call_back_in) {
  Program program;
  program.clients = {{{.kind = Kind::create, .tensor = 3, .then = true},
                      {.kind = Kind::write, .tensor = 3, .value = 5},
                      {.kind = Kind::pending, .then = true},
                      {.kind = Kind::read, .tensor = 3, .then = true},
                      {.kind = Kind::destroy_tensor, .tensor = 3}}};
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto history = histories_of(program, seed).at(0);
    std::vector<std::size_t> order;
    for (const auto& made : history.calls) order.push_back(made.index);
    const auto at = [&](std::size_t index) { return std::ranges::find(order, index); };
    BOOST_TEST((at(0) < at(1) && at(1) != order.end()), "seed " << seed);
    if (at(3) != order.end()) BOOST_TEST((at(2) < at(3)), "seed " << seed);
    orders.insert(order);
  }
  // The client goes on meanwhile.
  BOOST_TEST(orders.size() > 1U);
}

// Nobody gives the leases back but the run itself, when the clients have made their calls.
BOOST_AUTO_TEST_CASE(callbacks_may_call_when_leases_go_back_at_the_end) {
  Program destroys, reads;
  destroys.clients = {{{.kind = Kind::read, .tensor = 0, .then = true},
                       {.kind = Kind::destroy_tensor, .tensor = 0}},
                      {{.kind = Kind::lend, .tensor = 0}}};
  reads.clients = {{{.kind = Kind::lend, .tensor = 1},
                    {.kind = Kind::read, .tensor = 1, .then = true},
                    {.kind = Kind::read, .tensor = 0}},
                   {{.kind = Kind::lend, .tensor = 0, .way = 1}}};
  for (const auto& program : {destroys, reads})
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
      BOOST_TEST(histories_of(program, seed).at(0).calls.size() > 2U, "seed " << seed);
}

BOOST_AUTO_TEST_CASE(only_such_faults_are_drawn_as_are_named) {
  std::set<stress::FaultPoint> drawn;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto program = stress::random_program(
        seed, {.faults = {stress::FaultPoint::instantiate, stress::FaultPoint::read}});
    for (const auto& fault : program.faults) drawn.insert(fault.point);
    BOOST_TEST(stress::random_program(seed, {.faults = {}}).faults.empty());
  }
  BOOST_TEST((drawn == std::set{stress::FaultPoint::instantiate, stress::FaultPoint::read}));
}

BOOST_AUTO_TEST_SUITE_END()
