// Zero-copy, shown by addresses and by the copy counters.
#include <array>

#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(zero_copy)

BOOST_AUTO_TEST_CASE(a_moved_buffer_becomes_the_tensors_memory) {
  Embedder e;
  const auto t = e.tensor(DataType::float32, {1000});
  Buffer bytes(4000);
  const auto* address = bytes.data();
  e.context.write_tensor(t, std::move(bytes));
  const auto lease = e.context.export_tensor(t).get();
  BOOST_TEST(lease.bytes().data() == address);
  BOOST_TEST(e.context.stats().copies == 0U);
}

BOOST_AUTO_TEST_CASE(compute_works_in_the_callers_memory) {
  Embedder e;
  const auto graph = e.times(5);
  NamedBuffers inputs, outputs;
  inputs.emplace_back("in", Buffer::copy_of(std::span<const float>(std::vector<float>{3})));
  outputs.emplace_back("out", Buffer(4));
  const auto* in = inputs[0].second.data();
  const auto* out = outputs[0].second.data();
  const auto done = e.context.compute(graph, std::move(inputs), std::move(outputs)).get();
  BOOST_TEST(done.status.has_value());
  BOOST_TEST(done.inputs[0].second.data() == in);
  BOOST_TEST(done.outputs[0].second.data() == out);
  BOOST_TEST(done.outputs[0].second.as<float>()[0] == 15.0F);
  BOOST_TEST(e.context.stats().copies == 0U);
}

BOOST_AUTO_TEST_CASE(a_lease_writes_what_the_next_dispatch_reads) {
  Embedder e;
  const auto graph = e.times(5);
  const auto in = e.tensor({1}), out = e.tensor({0});
  {
    const auto lease = e.context.export_tensor(in).get();
    reinterpret_cast<float*>(lease.bytes().data())[0] = 6;
  }
  e.context.dispatch(graph, {{"in", in}}, {{"out", out}});
  BOOST_TEST(e.read(out) == std::vector<float>{30});
}

// An embedder's memory may be of any allocator. A result is computed in it, aligned for vectors or
// not. A constant is copied if its elements may not lie there.
BOOST_AUTO_TEST_CASE(memory_that_was_handed_over_lies_anywhere) {
  alignas(64) std::array<std::byte, 1024> memory{};
  const auto at = [&](std::size_t offset, std::size_t bytes) {
    return Buffer::adopt(memory.data() + offset, bytes, [](std::byte*, std::size_t) {});
  };
  Embedder e;
  const std::vector<float> two(1, 2.0F), ones(288, 1.0F), eighteens(32, 18.0F);
  for (const std::size_t offset : {0U, 1U, 2U, 4U, 16U, 48U}) {
    GraphBuilder builder(e.context);
    std::ranges::copy(std::as_bytes(std::span(two)), memory.data() + offset);
    const auto factor = builder.constant({DataType::float32, {1}}, at(offset, sizeof(float)));
    const auto filter = builder.constant({DataType::float32, {32, 1, 3, 3}}, ones);
    const auto x = builder.input("x", {DataType::float32, {1, 32, 3, 3}});
    const auto y = builder.mul(builder.conv2d(x, filter, {.groups = 32}), factor);
    const auto graph = builder.build({{"y", y}}).get();
    NamedBuffers inputs, outputs;
    inputs.emplace_back("x", Buffer::copy_of(std::span<const float>(ones)));
    outputs.emplace_back("y", at(256 + offset, 32 * sizeof(float)));
    const auto done = e.context.compute(graph, std::move(inputs), std::move(outputs)).get();
    BOOST_TEST(done.status.has_value());
    std::vector<float> result(32);
    std::ranges::copy(done.outputs[0].second.bytes(),
                      std::as_writable_bytes(std::span(result)).data());
    BOOST_TEST(result == eighteens, "at " << offset);
  }
}

BOOST_AUTO_TEST_SUITE_END()
