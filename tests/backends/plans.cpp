// The promises of kernels/backend.hpp for plans, asked of every backend.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <set>
#include <thread>

#include "tests/backends/asking.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/scarcity/scarce.hpp"

namespace polychron::testing {
namespace {

using tests::GraphMaker;

}  // namespace

BOOST_AUTO_TEST_SUITE(plans)

BOOST_AUTO_TEST_CASE(plans_compute) {
  each(
      "computes",
      [](const Candidate&, Backend& backend) {
        Program program(backend);
        for (const std::uint64_t a : {1ULL, 77ULL, ~0ULL}) {
          BOOST_TEST(program.run(a, 5).result.has_value());
          BOOST_TEST(program.result() == program.expected());
        }
        // Other tensors than the last time.
        program.out[0] = backend.allocate(sizeof(std::uint64_t)).value();
        std::swap(program.in[0], program.in[1]);
        BOOST_TEST(program.run(8, 9).result.has_value());
        BOOST_TEST(program.result() == program.expected());
      },
      computes_nothing);
}

// The end is told once, by whatever thread; and finish() waits for it.
BOOST_AUTO_TEST_CASE(a_device_works_by_itself) {
  struct Counted final : kernels::Completion {
    void notify() noexcept override {
      ++count;
      count.notify_all();
    }
    std::atomic<int> count = 0;
  };
  each(
      "submits",
      [](const Candidate&, Backend& backend) {
        BOOST_TEST_REQUIRE(backend.submits());
        Program program(backend);
        program.run(1, 2).result.value();
        for (std::uint64_t round = 0; round < 20; ++round) {
          program.values = {round, 2 * round};
          for (std::size_t i = 0; i < 2; ++i)
            backend.write(*program.in[i], std::as_bytes(std::span(&program.values[i], 1))).value();
          const auto done = std::make_shared<Counted>();
          {
            std::vector<Storage*> inputs{program.in[0].get(), program.in[1].get()};
            std::vector<Storage*> outputs{program.out[0].get()};
            backend.submit(*program.instance, inputs, outputs, done);
          }
          if (round % 2 == 0) done->count.wait(0);
          BOOST_TEST(backend.finish(*program.instance).result.has_value());
          BOOST_TEST(program.result() == program.expected());
          done->count.wait(0);
          BOOST_TEST(done->count == 1);
        }
      },
      [](const Candidate& candidate) {
        return std::string(candidate.submits ? "" : "its lanes wait in execute()");
      });
}

BOOST_AUTO_TEST_CASE(lanes_share_a_plan) {
  each(
      "lanes share plans",
      [](const Candidate&, Backend& backend) {
        Program first(backend);
        Program second(backend);
        second.plan = first.plan;
        second.instance = backend.instantiate(first.plan, {}).value();
        first.run(3, 4).result.value();
        second.run(30, 40).result.value();
        first.execute().result.value();
        BOOST_TEST(first.result() == first.expected());
        BOOST_TEST(second.result() == second.expected());
        first.plan.reset();
        second.plan.reset();
        BOOST_TEST(first.run(5, 6).result.has_value());
        BOOST_TEST(first.result() == first.expected());
      },
      computes_nothing);
}

BOOST_AUTO_TEST_CASE(numbers_are_right_on_either_side) {
  each(
      "graph of many steps",
      [](const Candidate&, Backend& backend) {
        // A product, a reduction and a softmax may run on a device. cumulativeSum and float16 do
        // not.
        GraphMaker maker;
        const auto x = maker.input({2, 3});
        const auto w = maker.constant<float>({3, 3}, {1, 0, 0, 0, 2, 0, 0, 0, 3});
        const auto y = maker.node(ops::op("matmul"), {x, w}, {2, 3});
        const auto sum = maker.node(ops::op("cumulativeSum"), {y}, {2, 3},
                                    CumulativeSumAttributes{1, false, false});
        const auto more = maker.node(ops::op("add"), {sum, x}, {2, 3});
        const auto flat = maker.node(ops::op("reshape"), {more}, {6}, ReshapeAttributes{{6}});
        maker.output(more);
        maker.output(flat);
        maker.output(
            maker.node(ops::op("reduceSum"), {more}, {2, 1}, ReduceAttributes{{{1}}, true}));
        const auto plan = backend.compile(maker.share()).value();
        const auto instance = backend.instantiate(plan, {}).value();
        auto in = backend.allocate(24).value();
        std::vector<std::unique_ptr<Storage>> out;
        for (const std::size_t bytes : {24U, 24U, 8U})
          out.push_back(backend.allocate(bytes).value());
        const std::vector<float> values{1, 2, 3, 4, 5, 6};
        backend.write(*in, std::as_bytes(std::span(values))).value();
        Storage* const inputs[] = {in.get()};
        Storage* const outputs[] = {out[0].get(), out[1].get(), out[2].get()};
        std::vector<double> seconds(plan->labels().size(), -1);
        BOOST_TEST(backend.profile(*instance, inputs, outputs, seconds).result.has_value());
        BOOST_TEST(plan->describe().size() == seconds.size());
        for (const double time : seconds) BOOST_TEST(time >= 0);
        const auto floats = [&](const Storage& storage) {
          std::vector<float> numbers(storage.bytes() / sizeof(float));
          backend.read(storage, std::as_writable_bytes(std::span(numbers))).value();
          return numbers;
        };
        const std::vector<float> expected{2, 7, 17, 8, 19, 38};  // y: 1 4 9, 4 10 18
        BOOST_TEST(floats(*out[0]) == expected, boost::test_tools::per_element());
        BOOST_TEST(floats(*out[1]) == expected, boost::test_tools::per_element());
        BOOST_TEST(floats(*out[2]) == (std::vector<float>{26, 65}),
                   boost::test_tools::per_element());
      },
      computes_little);
}

BOOST_AUTO_TEST_CASE(execution_allocates_nothing) {
  each(
      "no allocation",
      [](const Candidate&, Backend& backend) {
        Program program(backend);
        program.run(1, 2).result.value();
        const OwnAllocationFails first(1);
        const auto status = program.execute();
        BOOST_TEST(!first.happened());
        BOOST_TEST(status.result.has_value());
      },
      [](const Candidate& candidate) { return candidate.allocates; });
}

BOOST_AUTO_TEST_CASE(threads_compile_while_others_work) {
  each(
      "compiles beside",
      [](const Candidate&, Backend& backend) {
        Program program(backend);
        std::vector<std::shared_ptr<kernels::Plan>> plans;
        std::thread compiler([&] {
          for (int i = 0; i < 4; ++i)
            plans.push_back(backend.compile(stress::computed_graph("other", 2)).value());
        });
        bool right = true;
        for (std::uint64_t i = 0; i < 8; ++i)
          right &= program.run(i, 1).result.has_value() && program.result() == program.expected();
        compiler.join();
        right &= program.run(8, 1).result.has_value() && program.result() == program.expected();
        BOOST_TEST(right);
        BOOST_TEST(plans.size() == 4U);
      },
      [](const Candidate& candidate) { return candidate.computes_nothing + candidate.one_thread; });
}

BOOST_AUTO_TEST_CASE(lanes_run_at_the_same_time) {
  each(
      "lanes side by side",
      [](const Candidate& candidate, Backend& backend) {
        constexpr int lanes = 2;
        std::latch all(lanes);
        std::atomic<int> wrong = 0;
        Program first(backend), second(backend);
        second.instance = backend.instantiate(first.plan, {}).value();
        const auto run = [&](Program& program, std::uint64_t from) {
          all.arrive_and_wait();
          const std::uint64_t runs = candidate.name == "gpu" ? 20 : 5000;
          for (std::uint64_t i = 0; i < runs; ++i)
            wrong += !program.run(from + i, i).result || program.result() != program.expected();
        };
        std::thread other([&] { run(second, 1'000'000); });
        run(first, 1);
        other.join();
        BOOST_TEST(wrong == 0);
      },
      [](const Candidate& candidate) { return candidate.computes_nothing + candidate.one_thread; });
}

BOOST_AUTO_TEST_CASE(equal_constants_are_known_as_one) {
  each(
      "constants shared",
      [](const Candidate&, Backend& backend) {
        GraphMaker maker;
        const auto weights = maker.random({64, 64});
        const auto x = maker.input({64, 64});
        maker.output(maker.node(ops::op("add"), {x, weights}, {64, 64}));
        const auto one = backend.compile(maker.share()).value();
        const auto other = backend.compile(maker.share()).value();
        std::set<ops::ConstantBytes> all;
        const std::set<ops::ConstantBytes> of_one(one->constants().begin(), one->constants().end());
        BOOST_TEST(of_one.size() == one->constants().size());
        for (const auto& plan : {one, other})
          all.insert(plan->constants().begin(), plan->constants().end());
        BOOST_TEST(kernels::total_bytes(kernels::Constants(all.begin(), all.end())) ==
                   64U * 64U * sizeof(float));
        BOOST_TEST(one->constant_bytes() >= 64U * 64U * sizeof(float));
      },
      computes_little);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
