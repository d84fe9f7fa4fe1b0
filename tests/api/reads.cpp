// Reading into the caller's memory (the public suite's byob_readtensor).
#include <array>
#include <cstring>

#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// An int32 tensor [2, 4] that holds 0 to 7.
struct Eight : Embedder {
  Eight() {
    std::vector<std::int32_t> values(8);
    for (std::size_t i = 0; i < 8; ++i) values[i] = static_cast<std::int32_t>(i);
    tensor_ = tensor(DataType::int32, {2, 4});
    context.write_tensor(tensor_, values);
  }
  Tensor tensor_;
};

void status_is(ErrorKind kind, const ReadResult& result) {
  BOOST_REQUIRE(!result.status.has_value());
  BOOST_TEST((result.status.error().kind() == kind), result.status.error().what());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reads)

BOOST_AUTO_TEST_CASE(the_size_must_be_the_tensors) {
  Eight e;
  for (const std::size_t size : {0U, 31U, 33U, 64U}) {
    const auto result = e.context.read_tensor(e.tensor_, Buffer(size)).get();
    status_is(ErrorKind::type_error, result);
    BOOST_TEST(result.buffer.size() == size);
    std::vector<std::byte> borrowed(size);
    rejects(ErrorKind::type_error, e.context.read_tensor(e.tensor_, std::span(borrowed)));
  }
}

BOOST_AUTO_TEST_CASE(a_detached_buffer_is_a_type_error) {
  Eight e;
  Buffer buffer(32);
  const Buffer taken = std::move(buffer);
  status_is(ErrorKind::type_error, e.context.read_tensor(e.tensor_, std::move(buffer)).get());
}

// While the read is in progress, the buffer cannot be taken back or used.
BOOST_AUTO_TEST_CASE(a_buffer_is_detached_while_its_read_is_in_progress) {
  Eight e;
  Buffer buffer(32);
  auto read = e.context.read_tensor(e.tensor_, std::move(buffer));
  throws(ErrorKind::type_error, [&] { buffer.data(); });
  status_is(ErrorKind::type_error, e.context.read_tensor(e.tensor_, std::move(buffer)).get());
  BOOST_TEST(read.get().status.has_value());
}

BOOST_AUTO_TEST_CASE(bytes_go_to_the_buffer_or_to_a_place_in_borrowed_memory) {
  Eight e;
  const auto owned = e.context.read_tensor(e.tensor_, Buffer(32)).get();
  BOOST_REQUIRE(owned.status.has_value());
  std::array<std::int32_t, 10> borrowed{};
  borrowed.fill(-1);
  e.context.read_tensor(e.tensor_, std::as_writable_bytes(std::span(borrowed).subspan(1, 8))).get();
  for (std::size_t i = 0; i < 8; ++i) {
    BOOST_TEST(owned.buffer.as<std::int32_t>()[i] == static_cast<std::int32_t>(i));
    BOOST_TEST(borrowed[i + 1] == static_cast<std::int32_t>(i));
  }
  BOOST_TEST(borrowed.front() == -1);
  BOOST_TEST(borrowed.back() == -1);
}

BOOST_AUTO_TEST_CASE(a_tensor_destroyed_before_is_invalid_state) {
  Eight e;
  e.tensor_.destroy();
  std::vector<std::byte> borrowed(32);
  status_is(ErrorKind::invalid_state, e.context.read_tensor(e.tensor_, Buffer(32)).get());
  rejects(ErrorKind::invalid_state, e.context.read_tensor(e.tensor_, std::span(borrowed)));
}

// Destroyed while a lease keeps the read pending.
BOOST_AUTO_TEST_CASE(a_tensor_destroyed_meanwhile_is_invalid_state) {
  Eight e;
  std::vector<std::byte> borrowed(32, std::byte{7});
  const auto lease = e.context.export_tensor(e.tensor_).get();
  auto first = e.context.read_tensor(e.tensor_, Buffer(32));
  auto second = e.context.read_tensor(e.tensor_, std::span(borrowed));
  e.tensor_.destroy();
  status_is(ErrorKind::invalid_state, first.get());
  rejects(ErrorKind::invalid_state, std::move(second));
  BOOST_TEST((borrowed == std::vector<std::byte>(32, std::byte{7})));
}

BOOST_AUTO_TEST_SUITE_END()
