// Zero-copy, shown by addresses and by the copy counters.
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

BOOST_AUTO_TEST_SUITE_END()
