// Casting numbers to data types, as the specification defines it.
#include "ops/number.hpp"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

using namespace polychron;

BOOST_AUTO_TEST_SUITE(number)

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::int64_t as_signed(const Number& value, DataType type) {
  return std::get<std::int64_t>(ops::cast(value, type));
}
std::uint64_t as_unsigned(const Number& value, DataType type) {
  return std::get<std::uint64_t>(ops::cast(value, type));
}
double as_float(const Number& value, DataType type) {
  return std::get<double>(ops::cast(value, type));
}
float16 half(std::uint32_t bits) { return float16::from_bits(static_cast<std::uint16_t>(bits)); }
/// The value of a finite half's bits (IEEE 754, 3.4), written again independently.
double meaning(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31),
            significand = static_cast<int>(bits & 1023);
  const double size =
      exponent == 0 ? std::ldexp(significand, -24) : std::ldexp(significand + 1024, exponent - 25);
  return bits >> 15 == 0 ? size : -size;
}
}  // namespace

BOOST_AUTO_TEST_CASE(float16_there_and_back_for_every_value) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto wide = static_cast<double>(half(bits));
    const auto single = static_cast<float>(half(bits));
    BOOST_REQUIRE_EQUAL(std::signbit(wide), bits >> 15 != 0);
    if ((bits & 0x7c00U) != 0x7c00U) {
      BOOST_REQUIRE_EQUAL(wide, meaning(bits));
    } else {
      BOOST_REQUIRE_EQUAL(std::isinf(wide), (bits & 0x3ffU) == 0);
      BOOST_REQUIRE_EQUAL(std::isnan(wide), (bits & 0x3ffU) != 0);
    }
    if (std::isnan(wide)) {
      BOOST_REQUIRE(std::isnan(single));
      BOOST_REQUIRE(std::isnan(static_cast<double>(float16(wide))));
      BOOST_REQUIRE(std::isnan(static_cast<float>(float16(single))));
      continue;
    }
    BOOST_REQUIRE_EQUAL(static_cast<double>(single), wide);
    BOOST_REQUIRE_EQUAL(float16(wide).bits, bits);
    BOOST_REQUIRE_EQUAL(float16(single).bits, bits);
  }
}

BOOST_AUTO_TEST_CASE(float16_rounds_to_nearest_even_between_all_neighbours) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double middle = (meaning(bits) + meaning(bits + 1)) / 2;
    const auto single = static_cast<float>(middle);  // exact: one bit more than a half
    const auto even = bits + (bits & 1U);
    for (const double sign : {1, -1}) {
      const auto side = sign > 0 ? 0U : 0x8000U;
      BOOST_REQUIRE_EQUAL(float16(sign * middle).bits, side | even);
      BOOST_REQUIRE_EQUAL(float16(sign * std::nextafter(middle, 0)).bits, side | bits);
      BOOST_REQUIRE_EQUAL(float16(sign * std::nextafter(middle, infinity)).bits, side | (bits + 1));
      const auto turned = static_cast<float>(sign);
      BOOST_REQUIRE_EQUAL(float16(turned * single).bits, side | even);
      BOOST_REQUIRE_EQUAL(float16(turned * std::nextafter(single, 0.0F)).bits, side | bits);
      BOOST_REQUIRE_EQUAL(float16(turned * std::nextafter(single, 1e9F)).bits, side | (bits + 1));
    }
  }
  BOOST_TEST(float16(65519.99).bits == 0x7bff);
  for (const double beyond : {65520.0, 1e39, 1e308, infinity}) {
    BOOST_TEST(float16(beyond).bits == 0x7c00);
    BOOST_TEST(float16(-beyond).bits == 0xfc00);
  }
  BOOST_TEST(float16(-0.0).bits == 0x8000);
  BOOST_TEST(float16(-1e-320).bits == 0x8000);
  BOOST_TEST(float16(std::int64_t{-65519}).bits == 0xfbff);
  BOOST_TEST(float16(std::numeric_limits<std::uint64_t>::max()).bits == 0x7c00);
}

BOOST_AUTO_TEST_CASE(integers_are_clamped_and_rounded_to_even) {
  BOOST_TEST(as_signed(2.5, DataType::int8) == 2);
  BOOST_TEST(as_signed(3.5, DataType::int32) == 4);
  BOOST_TEST(as_signed(-2.5, DataType::int64) == -2);
  BOOST_TEST(as_signed(300.0, DataType::int8) == 127);
  BOOST_TEST(as_signed(-infinity, DataType::int8) == -128);
  BOOST_TEST(as_signed(nan, DataType::int32) == 0);
  BOOST_TEST(as_unsigned(-1.0, DataType::uint8) == 0U);
  BOOST_TEST(as_unsigned(std::int64_t{-5}, DataType::uint64) == 0U);
  BOOST_TEST(as_unsigned(4294967295.0, DataType::uint32) == 4294967295U);
  BOOST_TEST(as_unsigned(infinity, DataType::uint64) == std::numeric_limits<std::uint64_t>::max());
}

BOOST_AUTO_TEST_CASE(integers_of_64_bits_stay_exact) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  BOOST_TEST(as_signed(odd, DataType::int64) == odd);
  BOOST_TEST(as_signed(std::numeric_limits<std::uint64_t>::max(), DataType::int64) ==
             std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(ops::greater(std::int64_t{odd}, std::uint64_t{odd - 1}));
  BOOST_TEST(!ops::greater(std::int64_t{-1}, std::uint64_t{0}));
  BOOST_TEST(!ops::greater(nan, 0.0));
}

BOOST_AUTO_TEST_CASE(floats_are_rounded_to_their_type) {
  BOOST_TEST(as_float(0.1, DataType::float32) == static_cast<double>(0.1F));
  BOOST_TEST(as_float(1e39, DataType::float32) == infinity);
  BOOST_TEST(as_float(1e5, DataType::float16) == infinity);
  BOOST_TEST(as_float(std::int64_t{2049}, DataType::float16) == 2048);
  BOOST_TEST(std::isnan(as_float(nan, DataType::float16)));
}

BOOST_AUTO_TEST_CASE(element_bytes_have_the_types_size_and_value) {
  for (const auto type : all_data_types)
    BOOST_TEST(ops::element_bytes(1.0, type).size() == byte_size(type));
  BOOST_TEST((ops::element_bytes(-2.0, DataType::int4)[0] == std::byte{0x0e}));
  BOOST_TEST((ops::element_bytes(99.0, DataType::uint4)[0] == std::byte{0x0f}));
  BOOST_TEST(as_signed(-99.0, DataType::int4) == -8);
  BOOST_TEST(as_unsigned(-1.0, DataType::uint4) == 0U);
  const auto bytes = ops::element_bytes(-2.0, DataType::int8);
  BOOST_TEST(std::bit_cast<std::int8_t>(bytes[0]) == -2);
}

BOOST_AUTO_TEST_SUITE_END()
