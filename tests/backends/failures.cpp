// The promises of kernels/backend.hpp when memory ends or a device fails, asked of every backend.
#include <boost/test/unit_test.hpp>
#include <new>
#include <optional>

#include "tests/backends/asking.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/scarcity/scarce.hpp"

namespace polychron::testing {
namespace {

/// Makes the n-th allocation of `call` fail, for every n. `failed` gets each error, after memory is
/// back.
template <class Call, class Failed>
void without_memory(const Candidate& candidate, Call call, Failed failed) {
  for (std::int64_t nth = 1;; ++nth) {
    std::optional<Error> error;
    bool happened = false;
    {
      const OwnAllocationFails fails(nth);
      try {
        if (auto result = call(); !result) error = result.error();
      } catch (const std::bad_alloc&) {
        if (candidate.throws.empty()) throw;
        error = Error(ErrorKind::out_of_memory, "thrown");
      }
      happened = fails.happened();
    }
    if (error) {
      BOOST_TEST((error->kind() == ErrorKind::out_of_memory), error->what());
      failed();
    }
    if (!happened) return;
  }
}

/// Four kilobytes at an address that suits every device, or at an odd one.
std::vector<Buffer> buffers(std::vector<std::byte>& room) {
  std::vector<Buffer> list;
  list.push_back(Buffer::copy_of(std::span(room).first(4096)));
  list.push_back(Buffer::adopt(room.data() + 1, 4096, [](auto*, auto) {}));
  return list;
}

/// Values of a megabyte that live side by side, on whichever side computes them.
std::shared_ptr<const ops::Graph> large_graph() {
  constexpr std::uint32_t n = 512;
  tests::GraphMaker maker;
  const auto x = maker.input({n, n});
  const auto product = maker.node(ops::op("matmul"), {x, x}, {n, n});
  const auto positive = maker.node(ops::op("relu"), {product}, {n, n});
  const auto sums = maker.node(ops::op("cumulativeSum"), {positive}, {n, n},
                               CumulativeSumAttributes{1, false, false});
  const auto parts = maker.node(ops::op("softmax"), {sums}, {n, n}, SoftmaxAttributes{1});
  maker.output(maker.node(ops::op("matmul"), {parts, positive}, {n, n}));
  return maker.share();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failures)

BOOST_AUTO_TEST_CASE(a_buffer_is_taken_only_if_it_is_adopted) {
  each("adopt on success", [](const Candidate& candidate, Backend& backend) {
    auto room = random_bytes(4097);
    for (Buffer& buffer : buffers(room)) {
      const std::vector<std::byte> content(buffer.bytes().begin(), buffer.bytes().end());
      const auto* const address = buffer.data();
      const auto is_whole = [&] {
        BOOST_TEST(buffer.data() == address);
        BOOST_TEST(!buffer.detached());
        BOOST_TEST((std::ranges::equal(buffer.bytes(), content)));
      };
      const auto adopt = [&] { return backend.adopt(std::move(buffer)); };
      if (candidate.device_memory != nullptr) {
        const auto before = candidate.device_memory->exchange(1000);
        const auto refused = adopt();
        *candidate.device_memory = before;
        BOOST_REQUIRE(!refused);
        BOOST_TEST((refused.error().kind() == ErrorKind::out_of_memory), refused.error().what());
        is_whole();
      }
      if (candidate.lose) {
        candidate.lose(true);
        const auto refused = adopt();
        candidate.lose(false);
        BOOST_TEST(!refused);
        is_whole();
      }
      without_memory(candidate, adopt, is_whole);
    }
  });
}

BOOST_AUTO_TEST_CASE(calls_without_memory_are_errors) {
  each(
      "nothing thrown",
      [](const Candidate& candidate, Backend& backend) {
        const auto graph = stress::computed_graph("scarce", 2);
        Program program(backend, "scarce");  // what a library keeps of it is there
        const auto goes_on = [&] {
          BOOST_TEST(program.run(1, 2).result.has_value());
          if (candidate.computes_nothing.empty())
            BOOST_TEST(program.result() == program.expected("scarce"));
        };
        std::vector<std::byte> bytes(8);
        const auto asks = [&](auto call) { without_memory(candidate, call, goes_on); };
        asks([&] { return backend.allocate(1000); });
        asks([&] { return backend.write(*program.in[0], bytes); });
        asks([&] { return backend.read(*program.in[0], bytes); });
        asks([&] { return backend.compile(graph); });
        asks([&] { return backend.instantiate(program.plan, {}); });
        asks([&] { return program.execute().result; });
        if (backend.map(*program.in[0])) asks([&] { return backend.map(*program.in[0]); });
        Buffer lent(8);
        const auto lend = [&]() -> Result<void> {
          auto adopted = backend.adopt(std::move(lent));
          if (!adopted) return adopted.error();
          auto back = backend.surrender(std::move(adopted).value());
          if (!back) return back.error();
          lent = std::move(back).value();
          return {};
        };
        without_memory(candidate, lend, [&] { lent = Buffer(8); });
      },
      [](const Candidate& candidate) { return candidate.throws; });
}

BOOST_AUTO_TEST_CASE(an_arena_has_the_bytes_that_a_plan_says) {
  each(
      "arena_bytes()",
      [](const Candidate& candidate, Backend& backend) {
        const auto plan = backend.compile(large_graph()).value();
        const auto held = [&] {
          return held_bytes() -
                 (candidate.device_memory != nullptr ? candidate.device_memory->load() : 0);
        };
        const auto before = held();
        const auto instance = backend.instantiate(plan, {}).value();
        const auto allocated = held() - before;
        const auto said = static_cast<std::int64_t>(plan->arena_bytes());
        BOOST_TEST(allocated >= said);
        BOOST_TEST(allocated < said + (1 << 16));  // the objects that hold it
        if (candidate.computes_nothing.empty()) BOOST_TEST(said >= 1 << 20);
      },
      [](const Candidate& candidate) { return candidate.computes_by_label; });
}

BOOST_AUTO_TEST_CASE(a_lost_device_is_an_error_of_each_call) {
  each(
      "lost device",
      [](const Candidate& candidate, Backend& backend) {
        Program program(backend);
        program.run(1, 2).result.value();
        std::vector<std::byte> bytes(8);
        candidate.lose(true);
        const auto is_lost = [](const char* call, const auto& result) {
          BOOST_TEST(!result, call);
          if (!result)
            BOOST_TEST((result.error().kind() == ErrorKind::context_lost),
                       call << ": " << result.error().what());
        };
        try {
          is_lost("allocate", backend.allocate(64));
          is_lost("adopt", backend.adopt(Buffer(64)));
          is_lost("write", backend.write(*program.in[0], bytes));
          is_lost("read", backend.read(*program.in[0], bytes));
          const auto status = program.execute();
          is_lost("execute", status.result);
          BOOST_TEST(!status.inherent);
        } catch (...) {
          candidate.lose(false);
          throw;
        }
        candidate.lose(false);
      },
      [](const Candidate& candidate) {
        return std::string(candidate.lose ? "" : "it has no device that could fail");
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
