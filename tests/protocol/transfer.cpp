// Bytes are copied, moved or lent, never shared by accident (WebNN issue 318): clauses "transfer"
// of docs/contract.md. Tests that need real memory are in tests/api/zero_copy.cpp.
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
Buffer value(std::uint64_t v) { return Buffer::copy_of(std::span<const std::uint64_t>(&v, 1)); }
}  // namespace

BOOST_AUTO_TEST_SUITE(transfer)

BOOST_AUTO_TEST_CASE(a_copying_write_is_over_when_it_returns) {
  Server s;
  const auto t = s.tensor();
  std::vector<std::uint64_t> source{5};
  s.context.write_tensor(t, source);
  source[0] = 6;
  BOOST_TEST(s.read(t).value() == 5U);
  BOOST_TEST(s.context.stats().copies == 2U);  // one in, one out
}

BOOST_AUTO_TEST_CASE(a_moving_write_detaches_the_source_and_copies_nothing) {
  Server s;
  const auto t = s.tensor();
  auto source = value(5);
  s.context.write_tensor(t, std::move(source));
  BOOST_TEST(source.detached());
  thrown(ErrorKind::type_error, [&] { source.data(); });
  thrown(ErrorKind::type_error, [&] { s.context.write_tensor(t, std::move(source)); });
  s.world.run();
  BOOST_TEST(s.context.stats().copies == 0U);
  BOOST_TEST(s.read(t).value() == 5U);
}

BOOST_AUTO_TEST_CASE(a_refused_moving_write_leaves_the_bytes_with_the_caller) {
  Server s;
  const auto t = s.tensor();
  auto wrong = Buffer(16);
  thrown(ErrorKind::type_error, [&] { s.context.write_tensor(t, std::move(wrong)); });
  BOOST_TEST(!wrong.detached());
  BOOST_TEST(wrong.size() == 16U);
}

BOOST_AUTO_TEST_CASE(a_read_into_the_callers_buffer_gives_it_back_filled) {
  Server s;
  const auto t = s.tensor();
  s.write(t, 9);
  auto mine = Buffer(8);
  const auto* address = mine.data();
  auto read = s.context.read_tensor(t, std::move(mine));
  BOOST_TEST(mine.detached());
  auto result = s.world.settle(std::move(read)).value();
  BOOST_TEST(result.status.has_value());
  BOOST_TEST(result.buffer.data() == address);
  BOOST_TEST(result.buffer.as<std::uint64_t>()[0] == 9U);
}

BOOST_AUTO_TEST_CASE(a_rejected_read_gives_the_callers_buffer_back_too) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Server s({}, seed);
    auto t = s.tensor();
    auto mine = value(77);
    const auto* address = mine.data();
    auto read = s.context.read_tensor(t, std::move(mine));
    t.destroy();
    auto result = s.world.settle(std::move(read)).value();
    BOOST_TEST(result.buffer.data() == address, "seed " << seed);
    BOOST_TEST(result.buffer.size() == 8U, "seed " << seed);
    if (!result.status) BOOST_TEST((result.status.error().kind() == ErrorKind::invalid_state));
  }
}

BOOST_AUTO_TEST_CASE(a_read_of_the_wrong_size_keeps_the_buffer_whole) {
  Server s;
  const auto t = s.tensor();
  auto result = s.world.settle(s.context.read_tensor(t, Buffer(4))).value();
  BOOST_TEST((result.status.error().kind() == ErrorKind::type_error));
  BOOST_TEST(result.buffer.size() == 4U);
}

BOOST_AUTO_TEST_CASE(borrowed_memory_is_written_when_the_reply_resolves_and_not_after_a_rejection) {
  Server s;
  auto t = s.tensor();
  s.write(t, 12);
  std::uint64_t mine = 1;
  auto read = s.context.read_tensor(t, std::as_writable_bytes(std::span(&mine, 1)));
  BOOST_TEST(mine == 1U);
  s.world.settle(std::move(read)).value();
  BOOST_TEST(mine == 12U);

  s.faults->fail(FaultPoint::read, 1, {});
  mine = 2;
  read = s.context.read_tensor(t, std::as_writable_bytes(std::span(&mine, 1)));
  BOOST_TEST(!s.world.settle(std::move(read)).has_value());
  s.world.run();
  BOOST_TEST(mine == 2U);
}

BOOST_AUTO_TEST_CASE(compute_moves_buffers_in_and_gives_them_back) {
  Server s;
  const auto g = s.graph("g", 2);
  NamedBuffers inputs, outputs;
  inputs.emplace_back("in1", value(2));  // any order: names count
  inputs.emplace_back("in0", value(1));
  outputs.emplace_back("out", Buffer(8));
  auto done = s.world.settle(s.context.compute(g, std::move(inputs), std::move(outputs))).value();
  BOOST_TEST(done.status.has_value());
  BOOST_REQUIRE(done.outputs.size() == 1U);
  BOOST_TEST(done.outputs[0].second.as<std::uint64_t>()[0] ==
             stress::symbolic_result("g", 0, std::vector<std::uint64_t>{1, 2}));
  BOOST_TEST(done.inputs[0].first == "in0");
  BOOST_TEST(done.inputs[0].second.as<std::uint64_t>()[0] == 1U);
}

BOOST_AUTO_TEST_CASE(a_failed_compute_gives_the_buffers_back_with_its_error) {
  Server s;
  const auto g = s.graph("g");
  for (const auto point : {FaultPoint::execute, FaultPoint::adopt}) {
    NamedBuffers inputs, outputs;
    inputs.emplace_back("in0", value(1));
    outputs.emplace_back("out", Buffer(8));
    s.faults->fail(point, 1, {});
    auto done =
        s.world.settle(s.context.compute(g, std::move(inputs), std::move(outputs), {.label = "c"}))
            .value();
    BOOST_REQUIRE(!done.status.has_value());
    BOOST_TEST(mentions(done.status.error(), "compute 'c'"));
    BOOST_TEST(done.inputs[0].second.size() == 8U);
    BOOST_TEST(done.outputs[0].second.size() == 8U);
  }
}

// Wherever the loss of the context meets them: on the way there, waiting, in hand, on the way back.
BOOST_AUTO_TEST_CASE(lent_buffers_come_back_when_the_context_goes) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto t = s.tensor();
    if (seed % 2 == 0) s.faults->fail(FaultPoint::execute, 2, {.kind = ErrorKind::context_lost});
    std::vector<const void*> addresses;
    std::vector<Future<ReadResult>> reads;
    std::vector<Future<ComputeResult>> computes;
    for (int i = 0; i < 3; ++i) {
      auto mine = value(1);
      addresses.push_back(mine.data());
      reads.push_back(s.context.read_tensor(t, std::move(mine)));
      NamedBuffers inputs, outputs;
      inputs.emplace_back("in0", value(1));
      outputs.emplace_back("out", value(2));
      computes.push_back(s.context.compute(g, std::move(inputs), std::move(outputs)));
    }
    for (std::uint64_t i = 0; i < seed % 47; ++i) s.world.step();
    if (seed % 2 == 1) s.context.destroy();
    s.world.run();
    const auto expected = seed % 2 == 1 ? ErrorKind::invalid_state : ErrorKind::context_lost;
    const auto check = [&](const Result<void>& status, const Buffer& buffer) {
      BOOST_TEST(buffer.size() == 8U, "seed " << seed);
      if (!status) BOOST_TEST((status.error().root().kind() == expected), status.error().what());
    };
    for (std::size_t i = 0; i < 3; ++i) {
      BOOST_REQUIRE(reads[i].ready());
      const auto read = reads[i].get();
      check(read.status, read.buffer);
      BOOST_TEST(read.buffer.data() == addresses[i], "seed " << seed);
      BOOST_REQUIRE(computes[i].ready());
      const auto compute = computes[i].get();
      check(compute.status, compute.outputs.at(0).second);  // this backend makes buffers anew
      check(compute.status, compute.inputs.at(0).second);
    }
  }
}

BOOST_AUTO_TEST_CASE(wrong_arguments_of_compute_leave_the_buffers_with_the_caller) {
  Server s;
  const auto g = s.graph("g");
  NamedBuffers inputs, outputs;
  inputs.emplace_back("in0", value(1));
  outputs.emplace_back("wrong", Buffer(8));
  const auto error = thrown(ErrorKind::type_error, [&] {
    static_cast<void>(s.context.compute(g, std::move(inputs), std::move(outputs)));
  });
  BOOST_TEST(mentions(error, "output 'out' is not given"));
  BOOST_TEST(!inputs.at(0).second.detached());
  BOOST_TEST(!outputs.at(0).second.detached());
}

BOOST_AUTO_TEST_SUITE_END()
