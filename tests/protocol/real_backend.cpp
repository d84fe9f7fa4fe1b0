// The stress tool's programs on the processor's kernels: the same graphs, the same numbers.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "kernels/cpu/cpu_backend.hpp"
#include "observe/stress/explorer.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// The processor's result of a graph of `inputs.size()` inputs.
std::uint64_t computed(const std::string& label, const std::vector<std::uint64_t>& inputs) {
  const auto backend = kernels::make_cpu_backend();
  const auto storage = [&](std::uint64_t value) {
    return backend->adopt(Buffer::copy_of(std::span<const std::uint64_t>(&value, 1))).value();
  };
  const auto plan = backend->compile(stress::computed_graph(label, inputs.size())).value();
  const auto instance = backend->instantiate(plan, {}).value();
  std::vector<std::unique_ptr<kernels::Storage>> owned;
  std::vector<kernels::Storage*> in;
  for (const auto value : inputs) in.push_back(owned.emplace_back(storage(value)).get());
  const auto out = storage(0);
  kernels::Storage* const outputs[] = {out.get()};
  BOOST_REQUIRE(backend->execute(*instance, in, outputs).result);
  std::uint64_t value = 0;
  BOOST_REQUIRE(backend->read(*out, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(real_backend)

BOOST_AUTO_TEST_CASE(the_kernels_compute_what_the_symbols_stand_for) {
  std::mt19937_64 random(seed_of_run());
  for (std::size_t i = 0; i < 200; ++i) {
    const auto label = "g" + std::to_string(i % 3);
    std::vector<std::uint64_t> inputs(1 + i % 3);
    // Small numbers, as programs write them, and such as results are.
    for (auto& input : inputs) input = i % 2 == 0 ? random() % 1000 : random();
    const auto expected = stress::symbolic_result(label, 0, inputs);
    BOOST_TEST(computed(label, inputs) == expected,
               label << ", case " << i << " of seed " << seed_of_run());
  }
}

BOOST_AUTO_TEST_CASE(operands_and_graphs_cannot_be_taken_for_each_other) {
  using stress::symbolic_result;
  const auto of = [](const char* graph, std::vector<std::uint64_t> inputs) {
    return symbolic_result(graph, 0, inputs);
  };
  BOOST_TEST(of("g1", {1, 2}) != of("g1", {2, 1}));
  BOOST_TEST(of("g0", {1}) != of("g1", {1}));
  BOOST_TEST(of("g0", {1}) != of("g1", {1, 0}));
  BOOST_TEST(of("g0", {of("g1", {1, 2})}) != of("g1", {of("g0", {1}), of("g0", {2})}));
}

BOOST_AUTO_TEST_CASE(thousands_of_programs_agree_with_the_model_on_real_kernels) {
  const auto before = threads_of_this_process();
  stress::Exploration exploration;
  exploration.seed = seed_of_run();
  exploration.schedules = 3000;
  exploration.swarm.backend = stress::Computes::real;
  const auto report = stress::explore(exploration);
  BOOST_TEST(report.schedules >= 3000U);
  if (report.finding)
    BOOST_ERROR(report.finding->what << "\n"
                                     << to_string(report.finding->program)
                                     << "  polychron stress --replay " << report.finding->token);
  // The world is one thread, and kernels of one thread start none.
  BOOST_TEST(threads_of_this_process() == before);
}

BOOST_AUTO_TEST_CASE(a_token_says_who_computes) {
  auto program = stress::random_program(5, {.backend = stress::Computes::real});
  stress::RandomStrategy strategy(5);
  const auto first = stress::run(program, strategy);
  stress::Program replayed;
  const auto again = stress::replay(stress::token_of(program, first.schedule), &replayed);
  BOOST_TEST((replayed == program));
  BOOST_TEST((again.schedule == first.schedule));
  BOOST_TEST(to_string(replayed).find("real kernels") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
