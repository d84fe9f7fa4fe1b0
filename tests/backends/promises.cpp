// The promises of kernels/backend.hpp, asked of every backend. The last case prints a table:
// promise by backend.
#include <atomic>
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <iostream>
#include <latch>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "stress/symbolic_graph.hpp"
#include "tests/backends/candidates.hpp"
#include "tests/backends/counted_new.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron::testing {
namespace {

using kernels::Backend;
using kernels::Storage;
using tests::GraphMaker;

/// Promise, then backend: "kept", or why it was not asked.
std::map<std::string, std::map<std::string, std::string>>& answers() {
  static std::map<std::string, std::map<std::string, std::string>> table;
  return table;
}

/// The reason why a promise does not apply to a candidate, or "".
using Exempt = std::function<std::string(const Candidate&)>;

std::size_t failures() {
  const auto test = boost::unit_test::framework::current_test_case().p_id;
  return boost::unit_test::results_collector.results(test).p_assertions_failed;
}

/// Asks `ask` of each candidate.
void each(
    const std::string& promise, const std::function<void(const Candidate&, Backend&)>& ask,
    const Exempt& exempt = [](const Candidate&) { return ""; }) {
  for (const Candidate& candidate : candidates()) {
    auto& answer = answers()[promise][candidate.name];
    const auto reason = candidate.absent.empty() ? exempt(candidate) : candidate.absent;
    if (!reason.empty()) {
      std::cout << "skipped: " << candidate.name << ": " << promise << ": " << reason << "\n";
      answer = candidate.absent.empty() ? "-" : "absent";
      continue;
    }
    BOOST_TEST_CONTEXT(candidate.name) {
      const auto before = failures();
      try {
        ask(candidate, *candidate.make());
      } catch (const std::exception& error) {
        BOOST_ERROR("thrown: " << error.what());
      }
      answer = before == failures() ? "kept" : "BROKEN";
    }
  }
}

std::vector<std::byte> random_bytes(std::size_t count) {
  static std::mt19937 random(1);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = std::byte(random() & 0xff);
  return bytes;
}

std::vector<std::byte> read(Backend& backend, const Storage& storage) {
  std::vector<std::byte> bytes(storage.bytes(), std::byte{0xee});
  backend.read(storage, bytes).value();
  return bytes;
}

bool same(const Candidate& candidate, std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto count = std::min(a.size(), candidate.kept_bytes);
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), count) == 0;
}

constexpr std::size_t sizes[] = {8, 9, 64, 1000, 4096, 100'003};

std::string computes_nothing(const Candidate& candidate) { return candidate.computes_nothing; }
std::string computes_little(const Candidate& candidate) {
  return candidate.computes_nothing + candidate.computes_by_label;
}

/// A plan of a graph that every backend can compute, with storage for a run.
struct Program {
  explicit Program(Backend& of, const std::string& label = "sum") : backend(of) {
    plan = backend.compile(stress::computed_graph(label, 2)).value();
    instance = backend.instantiate(plan, {}).value();
    for (int i = 0; i < 2; ++i) in.push_back(backend.allocate(sizeof(std::uint64_t)).value());
    out.push_back(backend.allocate(sizeof(std::uint64_t)).value());
  }
  kernels::ExecuteStatus run(std::uint64_t a, std::uint64_t b) {
    values = {a, b};
    for (std::size_t i = 0; i < 2; ++i)
      backend.write(*in[i], std::as_bytes(std::span(&values[i], 1))).value();
    return execute();
  }
  kernels::ExecuteStatus execute() {
    Storage* const inputs[] = {in[0].get(), in[1].get()};
    Storage* const outputs[] = {out[0].get()};
    return backend.execute(*instance, inputs, outputs);
  }
  std::uint64_t result() {
    std::uint64_t value = 0;
    backend.read(*out[0], std::as_writable_bytes(std::span(&value, 1))).value();
    return value;
  }
  std::uint64_t expected(const std::string& label = "sum") const {
    return stress::symbolic_result(label, 0, values);
  }
  Backend& backend;
  std::shared_ptr<kernels::Plan> plan;
  std::unique_ptr<kernels::PlanInstance> instance;
  std::vector<std::unique_ptr<Storage>> in, out;
  std::vector<std::uint64_t> values;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(promises)

BOOST_AUTO_TEST_CASE(new_storage_is_zero) {
  each("zeros", [](const Candidate&, Backend& backend) {
    for (const auto size : sizes)
      for (int round = 0; round < 2; ++round) {  // the second time over memory that was used
        const auto storage = backend.allocate(size).value();
        BOOST_TEST(storage->bytes() == size);
        BOOST_TEST(read(backend, *storage) == std::vector<std::byte>(size));
        backend.write(*storage, random_bytes(size)).value();
      }
  });
}

BOOST_AUTO_TEST_CASE(bytes_are_kept_exactly) {
  each("bytes exact", [](const Candidate& candidate, Backend& backend) {
    for (const auto size : sizes) {
      const auto one = backend.allocate(size).value(), other = backend.allocate(size).value();
      const auto a = random_bytes(size), b = random_bytes(size);
      backend.write(*one, a).value();
      backend.write(*other, b).value();
      BOOST_TEST(same(candidate, read(backend, *one), a));
      BOOST_TEST(same(candidate, read(backend, *other), b));
    }
  });
}

BOOST_AUTO_TEST_CASE(sizes_have_to_agree) {
  each(
      "sizes checked",
      [](const Candidate&, Backend& backend) {
        const auto storage = backend.allocate(64).value();
        auto bytes = random_bytes(64);
        backend.write(*storage, bytes).value();
        for (const std::size_t wrong : {0U, 63U, 65U}) {
          std::vector<std::byte> other(wrong);
          BOOST_TEST((backend.write(*storage, other).error().kind() == ErrorKind::internal));
          BOOST_TEST((backend.read(*storage, other).error().kind() == ErrorKind::internal));
        }
        BOOST_TEST(read(backend, *storage) == bytes);
      },
      [](const Candidate& candidate) { return candidate.takes_any_size; });
}

BOOST_AUTO_TEST_CASE(adopted_memory_comes_back) {
  each("adopt, surrender", [](const Candidate& candidate, Backend& backend) {
    for (const auto size : sizes) {
      const auto before = random_bytes(size), after = random_bytes(size);
      Buffer buffer = Buffer::copy_of(before);
      auto storage = backend.adopt(std::move(buffer)).value();
      BOOST_TEST(buffer.detached());
      BOOST_TEST(same(candidate, read(backend, *storage), before));
      backend.write(*storage, after).value();
      const Buffer back = backend.surrender(std::move(storage)).value();
      BOOST_TEST(same(candidate, back.bytes(), after));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_same_buffer_comes_back) {
  each(
      "same buffer",
      [](const Candidate&, Backend& backend) {
        alignas(64) std::byte room[64] = {};
        bool freed = false;
        auto storage =
            backend.adopt(Buffer::adopt(room, sizeof room, [&](auto*, auto) { freed = true; }))
                .value();
        const Buffer back = backend.surrender(std::move(storage)).value();
        BOOST_TEST(!freed);
        BOOST_TEST(back.data() == room);
      },
      [](const Candidate& candidate) { return candidate.copies_adopted; });
}

BOOST_AUTO_TEST_CASE(memory_of_any_address_is_adopted) {
  each("any address", [](const Candidate& candidate, Backend& backend) {
    const auto bytes = random_bytes(64);
    std::vector<std::byte> room(65);
    std::memcpy(room.data() + 1, bytes.data(), 64);
    auto storage = backend.adopt(Buffer::adopt(room.data() + 1, 64, [](auto*, auto) {})).value();
    BOOST_TEST(same(candidate, read(backend, *storage), bytes));
  });
}

BOOST_AUTO_TEST_CASE(a_map_shows_the_storage_or_is_refused) {
  each("map", [](const Candidate& candidate, Backend& backend) {
    const auto storage = backend.allocate(64).value();
    const auto bytes = random_bytes(64);
    backend.write(*storage, bytes).value();
    const auto mapped = backend.map(*storage);
    if (!mapped) {
      BOOST_TEST((mapped.error().kind() == ErrorKind::not_supported));
      return;
    }
    BOOST_TEST(
        std::memcmp(mapped->data(), bytes.data(), std::min<std::size_t>(mapped->size(), 8)) == 0);
    std::memset(mapped->data(), 7, mapped->size());
    BOOST_TEST(same(candidate, read(backend, *storage), std::vector<std::byte>(64, std::byte{7})));
  });
}

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
        const auto before = allocations();
        const auto status = program.execute();
        BOOST_TEST(allocations() == before);
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

BOOST_AUTO_TEST_CASE(too_much_memory_is_an_error) {
  each(
      "out of memory",
      [](const Candidate&, Backend& backend) {
        const auto storage = backend.allocate(std::size_t{1} << 60);
        BOOST_REQUIRE(!storage);
        BOOST_TEST((storage.error().kind() == ErrorKind::out_of_memory), storage.error().what());
        BOOST_TEST(backend.allocate(64).has_value());
      },
      [](const Candidate& candidate) {
#if defined(__SANITIZE_ADDRESS__)
        static_cast<void>(candidate);
        return std::string("the sanitizer ends a program that asks for so much");
#else
        return candidate.takes_any_size;
#endif
      });
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

BOOST_AUTO_TEST_CASE(table) {
  std::set<std::string> names;
  for (const auto& candidate : candidates()) names.insert(candidate.name);
  const auto cell = [](std::string text, std::size_t width) {
    text.resize(std::max(width, text.size() + 1), ' ');
    return text;
  };
  std::cout << "\n" << cell("promise", 22);
  for (const auto& name : names) std::cout << cell(name, 10);
  for (const auto& [promise, row] : answers()) {
    std::cout << "\n" << cell(promise, 22);
    for (const auto& name : names)
      std::cout << cell(row.contains(name) ? row.at(name) : "BROKEN", 10);
  }
  std::cout << "\n";
  BOOST_TEST(names.size() >= 7U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
