// Elements go in and out as arrays, vectors, spans, Buffers; float16; Results.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(views)

namespace {

template <class T>
concept Shown = requires(T buffer) {
  static_cast<T>(buffer).bytes();
}
|| requires(T buffer) { static_cast<T>(buffer).data(); }
|| requires(T buffer) { static_cast<T>(buffer).template as<float>(); };

}  // namespace

BOOST_AUTO_TEST_CASE(a_temporary_buffer_shows_nothing_that_goes_with_it) {
  static_assert(!Shown<Buffer&&> && !Shown<const Buffer&&>);
  static_assert(Shown<Buffer&> && Shown<const Buffer&>);
  float sum = 0;  // a range-for over as() of a temporary read freed memory
  for (const float x : Buffer::copy_of(std::array{1.0F, 2.0F}).to_vector<float>()) sum += x;
  BOOST_TEST(sum == 3.0F);
  Buffer source = Buffer::copy_of(std::array{1.0F});
  const auto taken = std::move(source);
  throws(ErrorKind::type_error, [&] { source.to_vector<float>(); });  // detached
  throws(ErrorKind::type_error, [&] { taken.to_vector<std::int64_t>(); });
}

BOOST_AUTO_TEST_CASE(buffers_are_aligned_and_nobodys_memory_is_beside_them) {
  std::vector<Buffer> kept;
  for (const std::size_t size : {1U, 4U, 16U, 17U, 64U, 100U, 960U, 4096U, 3U << 20U}) {
    auto buffer = Buffer::uninitialized(size);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::alignment == 0U);
#ifdef __SANITIZE_ADDRESS__
    BOOST_TEST(__asan_address_is_poisoned(buffer.data() - 1));
    BOOST_TEST(!__asan_address_is_poisoned(buffer.data()));
    BOOST_TEST(!__asan_address_is_poisoned(buffer.data() + size - 1));
    BOOST_TEST(__asan_address_is_poisoned(buffer.data() + size));
#else
    BOOST_TEST_MESSAGE("not looked at without AddressSanitizer: what is beside " << size
                                                                                 << " bytes");
#endif
    kept.push_back(std::move(buffer));
  }
  throws(ErrorKind::out_of_memory, [] { Buffer::uninitialized(SIZE_MAX - 8); });
}

BOOST_AUTO_TEST_CASE(elements_are_given_as_whatever_holds_them) {
  Embedder e;
  const auto t = e.tensor(DataType::float32, {2});
  const auto holds = [&](float a, float b) { BOOST_TEST(e.read(t) == (std::vector{a, b})); };
  e.context.write_tensor(t, std::array{1.0F, 2.0F});
  holds(1, 2);
  const float fixed[]{3, 4};
  e.context.write_tensor(t, fixed);
  holds(3, 4);
  std::vector<float> list{5, 6};
  e.context.write_tensor(t, std::span(list));  // of what could be changed
  holds(5, 6);
  e.context.write_tensor(t, std::span<const float>(fixed));
  holds(3, 4);
  e.context.write_tensor(t, Buffer::copy_of(list));
  holds(5, 6);
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, std::array{1, 2}); });
  throws(ErrorKind::type_error, [&] { e.context.write_tensor(t, std::array{1.0F}); });

  const OperandDescriptor pair{DataType::float32, {2}};
  GraphBuilder builder(e.context);
  const auto sum =
      builder.add(builder.constant(pair, fixed), builder.constant(pair, std::span(list)));
  const auto graph = builder.build({{"y", builder.add(sum, builder.constant(pair, list))}}).get();
  e.context.dispatch(graph, {}, {{"y", t}});
  holds(13, 16);
  GraphBuilder other(e.context);
  throws(ErrorKind::type_error, [&] { other.constant(pair, std::array{1, 2}); });
}

BOOST_AUTO_TEST_CASE(numbers_become_float16_and_come_back) {
  static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<float16, float>);
  static_assert(float16(1.5F).bits == 0x3e00 && static_cast<float>(float16(1.5F)) == 1.5F);
  static_assert(std::is_trivially_copyable_v<float16> && sizeof(float16) == 2);
  const auto bits = [](float value) { return float16(value).bits; };
  BOOST_TEST(bits(-0.0F) == 0x8000);
  BOOST_TEST(bits(65504) == 0x7bff);
  BOOST_TEST(bits(65519.996F) == 0x7bff);
  BOOST_TEST(bits(65520) == 0x7c00);
  BOOST_TEST(bits(-std::numeric_limits<float>::infinity()) == 0xfc00);
  BOOST_TEST(bits(0x1p-24F) == 1);
  BOOST_TEST(bits(0x1p-25F) == 0);    // the tie goes to even
  BOOST_TEST(bits(0x1.8p-24F) == 2);  // as does this
  BOOST_TEST(bits(1 + 0x1p-11F) == 0x3c00);
  BOOST_TEST(bits(1 + 0x1.8p-10F) == 0x3c02);
  BOOST_TEST(std::isnan(static_cast<float>(float16(std::nanf("")))));
  for (std::uint32_t each = 0; each < 0x10000; ++each) {
    const auto half = float16::from_bits(static_cast<std::uint16_t>(each));
    const auto value = static_cast<float>(half);
    if (!std::isnan(value)) BOOST_REQUIRE_EQUAL(bits(value), each);
  }

  Embedder e;
  const auto t = e.tensor(DataType::float16, {2});
  e.context.write_tensor(t, std::array{float16(0.5F), float16(-2)});
  const auto values = e.context.read_tensor(t).get().to_vector<float16>();
  BOOST_TEST(static_cast<float>(values.at(0)) == 0.5F);
  BOOST_TEST(static_cast<float>(values.at(1)) == -2.0F);
}

BOOST_AUTO_TEST_CASE(a_result_that_may_not_change_is_looked_into) {
  const Result<std::string> result{std::string("value")};
  BOOST_TEST(*result == "value");
  BOOST_TEST(result->size() == 5U);
  BOOST_TEST(*Result<std::string>{std::string("gone")} == "gone");
  const Result<std::string> failed{Error(ErrorKind::aborted, "no")};
  throws(ErrorKind::aborted, [&] { static_cast<void>(*failed); });
  throws(ErrorKind::aborted, [&] { static_cast<void>(failed->size()); });
}

BOOST_AUTO_TEST_CASE(a_graph_has_one_builder) {
  static_assert(!std::is_copy_constructible_v<GraphBuilder>);
  static_assert(!std::is_copy_assignable_v<GraphBuilder>);
  Embedder e;
  GraphBuilder builder(e.context);
  const auto in = builder.input("x", {DataType::float32, {1}});
  GraphBuilder moved = std::move(builder);
  const auto graph = moved.build({{"y", moved.add(in, in)}}).get();
  BOOST_TEST(graph.outputs().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
