// The public suite's checks of tensors (behaviour.md, section 3).
#include <array>
#include <cstring>

#include "tests/allocated.hpp"
#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(tensors)

BOOST_AUTO_TEST_CASE(a_tensor_has_what_it_was_created_with) {
  Embedder e;
  const TensorDescriptor descriptor{{DataType::uint8, {3, 2, 4}}, true, false, "label"};
  const auto t = e.context.create_tensor(descriptor).get();
  BOOST_TEST((t.data_type() == DataType::uint8));
  BOOST_TEST(t.shape() == (Shape{3, 2, 4}));
  BOOST_TEST(t.byte_length() == 24U);
  BOOST_TEST(t.readable());
  BOOST_TEST(!t.writable());
  BOOST_TEST(!t.constant());
  BOOST_TEST(t.label() == "label");
  const auto plain = e.context.create_tensor({{DataType::float16, {2, 3}}, {}, {}, {}}).get();
  BOOST_TEST(!plain.readable());
  BOOST_TEST(!plain.writable());
}

BOOST_AUTO_TEST_CASE(every_type_that_inputs_may_have_makes_a_tensor) {
  Embedder e;
  const auto& limits = e.context.op_support_limits();
  for (const DataType type : limits.input.data_types)
    for (const Shape& shape : {Shape{}, Shape{4}, Shape{1, 5}, Shape{3, 2, 4}}) {
      const auto t = e.context.create_tensor({{type, shape}, {}, {}, {}}).get();
      BOOST_TEST((t.data_type() == type));
      BOOST_TEST(t.shape() == shape, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(impossible_descriptors_are_type_errors) {
  Embedder e;
  const auto refused = [&](Shape shape) {
    rejects(ErrorKind::type_error,
            e.context.create_tensor({{DataType::float32, std::move(shape)}, true, true, {}}));
  };
  refused({2, 0});
  refused({0xffffffff, 0xffffffff, 0xffffffff});
  refused({(max_tensor_byte_length + 1) / 4});
  refused(Shape(10, 2));
}

BOOST_AUTO_TEST_CASE(a_tensor_never_written_reads_as_zeros) {
  Embedder e;
  const auto t = e.tensor(DataType::int32, {1024});
  const auto bytes = e.context.read_tensor(t).get();
  BOOST_TEST(bytes.size() == 4096U);
  for (const auto value : bytes.as<std::int32_t>()) BOOST_REQUIRE(value == 0);
}

BOOST_AUTO_TEST_CASE(a_scalar_gives_the_same_bits_back) {
  Embedder e;
  const auto t = e.tensor(DataType::int32, {});
  const std::uint32_t bits = 0xAAAABBBB;
  e.context.write_tensor(t, std::as_bytes(std::span(&bits, 1)));
  const auto bytes = e.context.read_tensor(t).get();
  BOOST_TEST(std::memcmp(bytes.data(), &bits, 4) == 0);
}

BOOST_AUTO_TEST_CASE(a_second_write_replaces_the_first) {
  Embedder e;
  const auto t = e.tensor({1, 2});
  e.context.write_tensor(t, std::vector<float>{3, 4});
  BOOST_TEST(e.read(t) == (std::vector<float>{3, 4}));
}

BOOST_AUTO_TEST_CASE(a_write_of_a_detached_buffer_leaves_the_tensor_as_it_was) {
  Embedder e;
  const auto t = e.tensor({1, 2});
  Buffer buffer(8);
  const Buffer taken = std::move(buffer);
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, std::move(buffer)); });
  BOOST_TEST(e.read(t) == (std::vector<float>{1, 2}));
}

BOOST_AUTO_TEST_CASE(destroyed_tensors_refuse_every_call) {
  Embedder e;
  auto t = e.tensor({1, 2});
  t.destroy();
  t.destroy();
  throws(ErrorKind::invalid_state, [&] { e.context.write_tensor(t, Buffer(8)); });
  rejects(ErrorKind::invalid_state, e.context.read_tensor(t));
  rejects(ErrorKind::invalid_state, t.error());
  rejects(ErrorKind::invalid_state, e.context.export_tensor(t));
  BOOST_TEST(t.shape() == (Shape{2}), boost::test_tools::per_element());  // for life
}

BOOST_AUTO_TEST_CASE(views_must_be_of_the_tensors_type_or_bytes) {
  Embedder e;
  const auto t = e.tensor(DataType::int32, {1});
  e.context.write_tensor(t, std::vector<std::uint8_t>{1, 0, 0, 0});
  BOOST_TEST(e.context.read_tensor(t).get().to_vector<std::int32_t>()[0] == 1);
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, std::vector<float>{1}); });
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, std::vector<std::uint32_t>{1}); });
}

BOOST_AUTO_TEST_CASE(wrong_sizes_and_rights_are_type_errors) {
  Embedder e;
  const auto t = e.tensor({1, 2});
  for (const std::size_t size : {7U, 9U})
    throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, Buffer(size)); });
  const auto closed = e.context.create_tensor({{DataType::float32, {2}}, false, false, "x"}).get();
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(closed, Buffer(8)); });
  rejects(ErrorKind::type_error, e.context.read_tensor(closed));
  rejects(ErrorKind::type_error, e.context.export_tensor(closed));
}

BOOST_AUTO_TEST_CASE(another_contexts_tensors_are_type_errors_both_ways) {
  Embedder e;
  auto other = e.runtime.create_context().get();
  const auto mine = e.tensor({1});
  const auto theirs = other.create_tensor({{DataType::float32, {1}}, true, true, {}}).get();
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(theirs, Buffer(4)); });
  throws(ErrorKind::type_error, [&] { other.write_tensor(mine, Buffer(4)); });
  rejects(ErrorKind::type_error, e.context.read_tensor(theirs));
  rejects(ErrorKind::type_error, other.read_tensor(mine));
}

BOOST_AUTO_TEST_CASE(empty_handles_are_type_errors) {
  Embedder e;
  Tensor nothing;
  BOOST_TEST(!nothing);
  rejects(ErrorKind::type_error, e.context.read_tensor(nothing));
  rejects(ErrorKind::type_error, nothing.error());
  throws(ErrorKind::type_error, [&] { nothing.destroy(); });
  throws(ErrorKind::type_error, [&] { e.context.dispatch(Graph(), {}, {}); });
  throws(ErrorKind::type_error, [] { Context().destroy(); });
}

BOOST_AUTO_TEST_CASE(constant_tensors_feed_builders_and_nothing_else) {
  Embedder e;
  const OperandDescriptor two{DataType::float32, {2}};
  const std::vector<float> values{3, 4};
  const auto weights =
      e.context.create_constant_tensor(two, std::as_bytes(std::span(values)), "w").get();
  BOOST_TEST(weights.constant());
  GraphBuilder builder(e.context);
  const auto in = builder.input("in", two);
  const auto graph = builder.build({{"out", builder.add(in, builder.constant(weights))}}).get();
  const auto x = e.tensor({1, 1}), y = e.tensor({0, 0});
  e.context.dispatch(graph, {{"in", x}}, {{"out", y}});
  BOOST_TEST(e.read(y) == (std::vector<float>{4, 5}));
  throws(ErrorKind::type_error, [&] {
    e.context.dispatch(graph, {{"in", weights}}, {{"out", y}});
  });
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(weights, Buffer(8)); });
  rejects(ErrorKind::type_error, e.context.create_constant_tensor(two, Buffer(4)));
  GraphBuilder other(e.context);
  throws(ErrorKind::type_error, [&] { other.constant(x); });
}

// A server has hundreds of thousands of them.
BOOST_AUTO_TEST_CASE(a_tensor_takes_less_than_a_kilobyte_and_a_half_beside_its_bytes) {
  if (needs_the_processor("its driver has objects of its own")) return;
  if (!can_tell_allocated()) return;
  Embedder e;
  constexpr std::size_t count = 8192;
  std::vector<Tensor> tensors;
  tensors.reserve(2 * count);
  const auto make = [&] {
    for (std::size_t i = 0; i < count; ++i) tensors.push_back(e.tensor(DataType::float32, {4}));
  };
  make();
  const auto before = allocated_bytes();
  make();
  const auto each = (allocated_bytes() - before) / count;
  // A quarter is the message that ends it: it is made with the tensor, as the end must not fail.
  BOOST_TEST(each <= 1472U, each << " bytes each");
}

BOOST_AUTO_TEST_CASE(a_constant_may_lie_anywhere_in_memory_that_was_adopted) {
  Embedder e;
  const OperandDescriptor two{DataType::float32, {2}};
  const std::vector<float> values{3, 4};
  int freed = 0;
  alignas(16) std::array<std::byte, 16> memory{};
  std::memcpy(memory.data() + 1, values.data(), 8);
  const auto weights =
      e.context
          .create_constant_tensor(
              two, Buffer::adopt(memory.data() + 1, 8, [&](std::byte*, std::size_t) { ++freed; }))
          .get();
  BOOST_TEST(freed == 1);
  GraphBuilder builder(e.context);
  const auto in = builder.input("in", two);
  const auto graph = builder.build({{"out", builder.add(in, builder.constant(weights))}}).get();
  const auto x = e.tensor({1, 1}), y = e.tensor({0, 0});
  e.context.dispatch(graph, {{"in", x}}, {{"out", y}});
  BOOST_TEST(e.read(y) == (std::vector<float>{4, 5}));
}

BOOST_AUTO_TEST_SUITE_END()
