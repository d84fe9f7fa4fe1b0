// A call that finds no memory gives an Error that says so, and the caller has its lent or moved
// buffers again.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/scarce.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Runs `call` with its first allocation failing, then its second, until it has fewer. It must
/// throw an Error; `after(threw)` checks what is left.
void each_allocation(const std::function<void()>& prepare, const std::function<void()>& call,
                     const std::function<void(bool threw)>& after) {
  bool happened = true;
  for (std::int64_t nth = 1; happened && nth < 100; ++nth) {
    prepare();
    bool threw = false;
    {
      OwnAllocationFails failing(nth);
      try {
        call();
      } catch (const Error& error) {
        threw = true;
        BOOST_TEST((error.kind() == ErrorKind::out_of_memory),
                   "allocation " << nth << ": " << error.what());
      } catch (const std::bad_alloc&) {
        threw = true;
        BOOST_ERROR("allocation " << nth << ": std::bad_alloc instead of an Error");
      }
      happened = failing.happened();
    }
    BOOST_TEST_CONTEXT("allocation " << nth) after(threw);
  }
}

/// `call`, which fails for another reason if there is memory.
void not_there(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::operation_error) throw;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(returns)

BOOST_AUTO_TEST_CASE(a_write_that_throws_leaves_the_buffer) {
  Rig rig;
  const auto t = rig.tensor();
  Buffer bytes;
  each_allocation([&] { bytes = Buffer(16); },
                  [&] { rig.context.write_tensor(t, std::move(bytes)); },
                  [&](bool threw) { BOOST_TEST(bytes.size() == (threw ? 16U : 0U)); });
}

BOOST_AUTO_TEST_CASE(a_read_gives_the_buffer_back) {
  Rig rig;
  const auto t = rig.tensor();
  Buffer bytes;
  Future<ReadResult> reply;
  each_allocation([&] { bytes = Buffer(16); },
                  [&] {
                    reply = {};
                    reply = rig.context.read_tensor(t, std::move(bytes));
                  },
                  [&](bool threw) {
                    if (threw) {
                      BOOST_TEST(bytes.size() == 16U);
                      return;
                    }
                    auto read = polychron::testing::reply(std::move(reply));
                    BOOST_REQUIRE(read);
                    BOOST_TEST(read->buffer.size() == 16U);
                  });
}

BOOST_AUTO_TEST_CASE(a_compute_that_throws_leaves_the_buffers) {
  Rig rig;
  const auto graph = rig.twice();
  NamedBuffers in, out;
  Future<ComputeResult> reply;
  each_allocation(
      [&] {
        in.clear();
        out.clear();
        in.emplace_back("in", Buffer(16));
        out.emplace_back("out", Buffer(16));
      },
      [&] {
        reply = {};
        reply = rig.context.compute(graph, std::move(in), std::move(out));
      },
      [&](bool threw) {
        if (threw) {
          BOOST_TEST(in.at(0).second.size() == 16U);
          BOOST_TEST(out.at(0).second.size() == 16U);
          return;
        }
        auto done = polychron::testing::reply(std::move(reply));
        BOOST_REQUIRE(done);
        BOOST_TEST(done->inputs.at(0).second.size() == 16U);
        BOOST_TEST(done->outputs.at(0).second.size() == 16U);
      });
}

BOOST_AUTO_TEST_CASE(a_compute_gives_the_buffers_back_if_the_device_finds_no_memory) {
  int misses = 0;
  for (std::int64_t nth = 1; misses < 3 && nth < 100; ++nth) {
    Rig rig;
    const auto graph = rig.twice();
    NamedBuffers in, out;
    in.emplace_back("in", Buffer(16));
    out.emplace_back("out", Buffer(16));
    LibraryAllocationFails failing(nth);
    auto done =
        polychron::testing::reply(rig.context.compute(graph, std::move(in), std::move(out)));
    misses = failing.happened() ? 0 : misses + 1;
    failing.end();
    BOOST_REQUIRE(done);
    BOOST_TEST(done->inputs.at(0).second.size() == 16U, "allocation " << nth);
    BOOST_TEST(done->outputs.at(0).second.size() == 16U, "allocation " << nth);
  }
}

BOOST_AUTO_TEST_CASE(a_constant_that_is_refused_leaves_the_buffer) {
  RuntimeOptions alone;
  alone.helping = false;  // what fails on this thread is the call's own
  Rig rig({}, alone);
  Buffer bytes;
  const OperandDescriptor four{DataType::float32, {4}};
  bool refused = false;
  each_allocation(
      [&] { bytes = Buffer(16); },
      [&] { refused = !rig.context.create_constant_tensor(four, std::move(bytes)).take(); },
      [&](bool threw) {
        if (threw || refused) BOOST_TEST(bytes.size() == 16U);
      });
  GraphBuilder builder(rig.context);
  each_allocation([&] { bytes = Buffer(16); },
                  [&] { static_cast<void>(builder.constant(four, std::move(bytes))); },
                  [&](bool threw) { BOOST_TEST(bytes.size() == (threw ? 16U : 0U)); });
}

BOOST_AUTO_TEST_CASE(calls_say_that_there_is_no_memory) {
  // Without the machine's OpenCL drivers: devices() loads them, and a constructor of theirs that
  // throws leaves the dynamic linker locked.
  setenv("OCL_ICD_VENDORS", "/no such directory", 1);
  Rig rig;
  const auto t = rig.tensor();
  rig.runtime.start_trace();
  rig.write(t, 1);
  const std::filesystem::path nowhere("no such directory/with a long name/run.trace");
  const std::map<std::string, std::function<void()>> calls{
      {"Runtime", [] { const Runtime runtime; }},
      {"create_context", [&] { static_cast<void>(rig.runtime.create_context()); }},
      {"start_trace", [&] { rig.runtime.start_trace(); }},
      {"trace", [&] { static_cast<void>(rig.runtime.trace()); }},
      {"save_trace", [&] { not_there([&] { save_trace({}, nowhere); }); }},
      {"devices", [] { static_cast<void>(devices()); }},
      {"op_support_limits", [&] { static_cast<void>(rig.context.op_support_limits()); }},
      {"lost", [&] { static_cast<void>(rig.context.lost()); }},
      {"builder", [&] { const GraphBuilder builder(rig.context); }},
      {"wrong argument", [&] { static_cast<void>(rig.context.read_tensor(Tensor())); }}};
  for (const auto& [name, call] : calls)
    BOOST_TEST_CONTEXT(name) each_allocation([] {}, call, [](bool) {});
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_let_in_and_cannot_listen_gives_the_place_back) {
  for (std::int64_t nth = 1; nth < 6; ++nth) {
    Rig rig({.max_in_flight = 8});
    const auto graph = rig.twice();
    const auto in = rig.tensor(), out = rig.tensor(), other = rig.tensor();
    BOOST_REQUIRE(comes([&] { return rig.context.stats().in_flight == 0; }));
    Gate first, third;
    rig.faults->fail(stress::FaultPoint::execute, 1, {.until = first.latch()});
    rig.faults->fail(stress::FaultPoint::execute, 3, {.until = third.latch()});
    for (int i = 0; i < 8; ++i) rig.dispatch(graph, in, out);
    std::jthread waiter([&] { rig.write(other, 1); });
    BOOST_REQUIRE(comes([&] { return rig.context.stats().blocked == 1; }));
    // Two permits are free, and the lane is too busy to see the waiting callers. The next caller
    // sees them, and finds a permit for itself.
    first.open();
    BOOST_REQUIRE(comes([&] { return rig.faults->calls(stress::FaultPoint::execute) == 3; }));
    WriteOptions cancellable;
    cancellable.cancellation = Cancellation();
    const std::vector<float> values(4, 2);
    {
      const OwnAllocationFails failing(nth);
      try {
        rig.context.write_tensor(other, values, cancellable);
      } catch (const Error&) {
      }
    }
    third.open();
    waiter.join();
    BOOST_TEST(comes([&] { return rig.context.stats().in_flight == 0; }),
               "allocation " << nth << ": " << rig.context.stats().in_flight << " places are lost");
  }
}

BOOST_AUTO_TEST_CASE(a_direct_write_that_cannot_wait_leaves_the_tensor_alone) {
  ContextOptions options;
  options.memory_limit = 24;
  bool happened = true;
  for (std::int64_t nth = 1; happened && nth < 100; ++nth) {
    Rig rig(options);
    const auto t = rig.tensor();
    auto lease = rig.context.export_tensor(t).get();
    std::vector<float> values(4, 5);
    WriteOptions cancellable;
    cancellable.cancellation = Cancellation();
    bool threw = false;
    std::jthread holder([&] {
      comes([&] { return rig.context.stats().writes == 1 || threw; });
      lease.return_now();
    });
    {
      OwnAllocationFails failing(nth);
      try {
        rig.context.write_tensor(t, values, cancellable);
      } catch (const Error&) {
        threw = true;
      }
      happened = failing.happened();
    }
    // They are the caller's again.
    values.assign(4, 99);
    holder.join();
    BOOST_TEST(rig.read(t) == (threw ? 0.0F : 5.0F), "allocation " << nth);
  }
}

BOOST_AUTO_TEST_SUITE_END()
