// quantizeLinear and dequantizeLinear: the fast kernels against the reference, over types, ranks
// and blocks, and the packing of integers of 4 bits.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/packed_int4.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::numbers_of;
using tests::ProblemMaker;
using tests::run_kernel;

constexpr std::array integers{DataType::int8,   DataType::uint8, DataType::int32,
                              DataType::uint32, DataType::int4,  DataType::uint4};
constexpr std::array floats{DataType::float32, DataType::float16};

using Generator = std::mt19937;

std::uint32_t pick(Generator& generator, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(generator);
}

/// Any bits are integers.
Buffer any_bits(const OperandDescriptor& descriptor, Generator& generator) {
  Buffer bytes(*byte_length(descriptor));
  for (std::byte& value : bytes.bytes()) value = static_cast<std::byte>(generator());
  return bytes;
}

/// Floats, a few of them not finite, or halfway between two steps of 0.5.
Buffer any_floats(const OperandDescriptor& descriptor, Generator& generator) {
  constexpr double odd[] = {std::numeric_limits<double>::infinity(),
                            1.25,
                            -0.25,
                            0.75,
                            -0.0,
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  std::uniform_real_distribution<double> numbers(-200, 200);
  Buffer bytes(*byte_length(descriptor));
  for (std::size_t i = 0; i < *element_count(descriptor.shape); ++i) {
    const double value = generator() % 10 == 0 ? odd[generator() % 7] : numbers(generator);
    const auto element = ops::element_bytes(value, descriptor.data_type);
    std::ranges::copy(element,
                      bytes.bytes().begin() + static_cast<std::ptrdiff_t>(i * element.size()));
  }
  return bytes;
}

Buffer steps_of(double low, double high, const OperandDescriptor& descriptor,
                Generator& generator) {
  std::uniform_real_distribution<double> numbers(low, high);
  Buffer bytes(*byte_length(descriptor));
  for (std::size_t i = 0; i < *element_count(descriptor.shape); ++i) {
    const double value = generator() % 4 == 0 ? 0.5 : numbers(generator);
    const auto element = ops::element_bytes(value, descriptor.data_type);
    std::ranges::copy(element,
                      bytes.bytes().begin() + static_cast<std::ptrdiff_t>(i * element.size()));
  }
  return bytes;
}

/// A shape and the shape of its scales.
std::pair<Shape, Shape> random_shapes(Generator& generator) {
  Shape shape, scale;
  for (std::uint32_t rank = pick(generator, 0, 4); rank > 0; --rank) {
    const std::uint32_t blocks = pick(generator, 1, rank == 1 ? 40 : 3);
    const std::uint32_t length = pick(generator, 1, rank == 1 ? 40 : 3);
    const std::uint32_t kind = pick(generator, 0, 2);
    shape.push_back(blocks * length);
    scale.push_back(kind == 0 ? 1 : kind == 1 ? blocks : blocks * length);
  }
  return {shape, scale};
}

/// Compares the fast kernel's result with the reference's; how many elements differ at all.
std::size_t compare(const ProblemMaker& maker, const OperandDescriptor& result, double allowed) {
  const auto list = kernels::implementations(maker.problem().op);
  BOOST_REQUIRE_EQUAL(list.size(), 2U);
  const auto actual = run_kernel(list[0], maker.problem(), maker.values());
  const auto expected = run_kernel(list[1], maker.problem(), maker.values());
  const auto text = to_string(maker.problem());
  BOOST_REQUIRE_MESSAGE(actual.refusal.empty() && expected.refusal.empty(),
                        text << ": " << actual.refusal << expected.refusal);
  BOOST_TEST(!actual.overran, text << " overran");
  const auto got = numbers_of(result, actual.outputs[0]);
  const auto wanted = numbers_of(result, expected.outputs[0]);
  std::size_t different = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
    ++different;
    const double scale = allowed < 1 ? std::fabs(wanted[i]) : 1;
    BOOST_TEST(std::fabs(got[i] - wanted[i]) <= allowed * scale,
               text << ": element " << i << " is " << got[i] << ", expected " << wanted[i]);
  }
  if (is_packed(result.data_type) && got.size() % 2 != 0)
    for (const auto& bytes : {&actual.outputs[0], &expected.outputs[0]})
      BOOST_TEST((bytes->as<std::uint8_t>().back() >> 4) == 0, text << ": the last bits are not 0");
  return different;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantization)

// A quotient in float32 may round to another side of a tie: one step, and rarely.
BOOST_AUTO_TEST_CASE(quantize_as_the_reference) {
  std::size_t different = 0, all = 0;
  for (const auto type : integers)
    for (const auto number : floats)
      for (std::uint32_t seed = 0; seed < 60; ++seed) {
        Generator generator(seed);
        const auto [shape, scale] = random_shapes(generator);
        const OperandDescriptor x{number, shape}, s{number, scale}, z{type, scale};
        ProblemMaker maker(op("quantizeLinear"), seed);
        maker.given(x, any_floats(x, generator)).given(s, steps_of(0.01, 3, s, generator));
        maker.given(z, any_bits(z, generator)).output(shape, type);
        different += compare(maker, {type, shape}, 1);
        all += *element_count(shape);
      }
  BOOST_TEST_MESSAGE(different << " of " << all << " elements differ by a step");
  BOOST_TEST(different * 1000 < all);
}

BOOST_AUTO_TEST_CASE(dequantize_as_the_reference) {
  for (const auto type : integers)
    for (const auto number : floats)
      for (std::uint32_t seed = 0; seed < 60; ++seed) {
        Generator generator(seed);
        const auto [shape, scale] = random_shapes(generator);
        const OperandDescriptor x{type, shape}, s{number, scale}, z{type, scale};
        ProblemMaker maker(op("dequantizeLinear"), seed);
        maker.given(x, any_bits(x, generator)).given(s, steps_of(0.001, 0.1, s, generator));
        maker.given(z, any_bits(z, generator)).output(shape, number);
        // One place: float16 results of 32 bits are rounded twice.
        const bool twice = number == DataType::float16 && byte_size(type) == 4;
        compare(maker, {number, shape}, twice ? 0x1p-10 : 0);
      }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_saturates) {
  const OperandDescriptor x{DataType::float32, {6}}, s{DataType::float32, {1}};
  const float values[] = {1e30F,
                          -1e30F,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(),
                          2.5F};
  const float one[] = {1.0F};
  const std::vector<std::pair<DataType, std::vector<double>>> cases{
      {DataType::int8, {127, -128, 127, -128, 0, 2}},
      {DataType::uint8, {255, 0, 255, 0, 0, 2}},
      {DataType::int4, {7, -8, 7, -8, 0, 2}},
      {DataType::uint4, {15, 0, 15, 0, 0, 2}},
      {DataType::int32, {2147483647, -2147483648.0, 2147483647, -2147483648.0, 0, 2}},
      {DataType::uint32, {4294967295.0, 0, 4294967295.0, 0, 0, 2}}};
  for (const auto& [type, expected] : cases) {
    const OperandDescriptor z{type, {1}};
    ProblemMaker maker(op("quantizeLinear"), 1);
    maker.given(x, Buffer::copy_of(std::span<const float>(values)));
    maker.given(s, Buffer::copy_of(std::span<const float>(one)));
    maker.given(z, Buffer(*byte_length(z))).output({6}, type);
    for (const auto& implementation : kernels::implementations(op("quantizeLinear"))) {
      const auto outcome = run_kernel(implementation, maker.problem(), maker.values());
      BOOST_TEST_CONTEXT(implementation.name << " to " << to_string(type))
      BOOST_TEST(numbers_of({type, {6}}, outcome.outputs.at(0)) == expected,
                 boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(packed_values_come_back_from_any_place) {
  Generator generator(3);
  for (std::size_t first = 0; first < 5; ++first)
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::int8_t> values(count), back(count);
      for (auto& value : values) value = static_cast<std::int8_t>(pick(generator, 0, 15)) - 8;
      std::vector<std::uint8_t> bytes((first + count + 1) / 2 + 1, 0x55);
      kernels::pack(values.data(), first, count, bytes.data());
      kernels::unpack(bytes.data(), first, count, back.data());
      BOOST_TEST(back == values, boost::test_tools::per_element());
      for (std::size_t i = 0; i < first; ++i)
        BOOST_TEST((kernels::nibble<std::uint8_t>(bytes.data(), i) == 5));
      BOOST_TEST(bytes.back() == 0x55);
    }
}

// The conversions that loops vectorize, against those that numbers have.
BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
