// quantizeLinear and dequantizeLinear: the clauses of the public test suite and the specification.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(quantization_rules)

namespace {

const std::vector<DataType> integers{DataType::int8,   DataType::uint8, DataType::int32,
                                     DataType::uint32, DataType::int4,  DataType::uint4};

}  // namespace

BOOST_AUTO_TEST_CASE(types_of_results) {
  for (const auto type : integers) {
    for (const auto number : {DataType::float32, DataType::float16}) {
      accept("quantizeLinear", {{number, {3, 2, 5}}, {number, {3, 2, 5}}, {type, {3, 2, 5}}}, {},
             {type, {3, 2, 5}});
      accept("dequantizeLinear", {{type, {3, 2, 5}}, {number, {3, 2, 5}}, {type, {3, 2, 5}}}, {},
             {number, {3, 2, 5}});
    }
  }
}

BOOST_AUTO_TEST_CASE(scales_of_a_tensor_an_axis_or_blocks) {
  accept("quantizeLinear", {f32({}), f32({}), i8({})}, {}, i8({}));
  for (const Shape& scale : {Shape{1, 1, 1}, Shape{6, 1, 1}, Shape{1, 1, 5}, Shape{2, 2, 1},
                             Shape{3, 1, 5}, Shape{6, 4, 5}}) {
    accept("quantizeLinear", {f32({6, 4, 5}), f32(scale), i8(scale)}, {}, i8({6, 4, 5}));
    accept("dequantizeLinear", {u8({6, 4, 5}), f16(scale), u8(scale)}, {}, f16({6, 4, 5}));
  }
  const Shape eight(max_rank, 2), ones(max_rank, 1);
  accept("dequantizeLinear", {u8(eight), f16(ones), u8(ones)}, {}, f16(eight));
}

BOOST_AUTO_TEST_CASE(scales_that_do_not_fit) {
  const auto input = Shape{3, 2, 5};
  for (const Shape& scale : {Shape{2, 1, 5}, Shape{3, 2, 10}, Shape{3, 4, 5}, Shape{}, Shape{5},
                             Shape{2, 5}, Shape{2}, Shape{1, 3, 2, 5}, Shape{1, 1, 1, 1}}) {
    refuse("quantizeLinear", {f32(input), f32(scale), i8(scale)}, {}, "operand 'scale'");
    refuse("dequantizeLinear", {i8(input), f32(scale), i8(scale)}, {}, "operand 'scale'");
  }
  for (const Shape& zero_point : {Shape{3, 2, 5}, Shape{}, Shape{5}, Shape{3, 2, 1, 1}}) {
    refuse("quantizeLinear", {f32(input), f32({3, 2, 1}), i8(zero_point)}, {},
           "operand 'zeroPoint'");
    refuse("dequantizeLinear", {i8(input), f32({3, 2, 1}), i8(zero_point)}, {},
           "operand 'zeroPoint'");
  }
}

BOOST_AUTO_TEST_CASE(types_that_are_not_allowed) {
  const Shape shape{3, 2, 5};
  refuse("quantizeLinear", {f32(shape), f16(shape), i8(shape)}, {}, "operand 'scale'");
  refuse("quantizeLinear", {i32(shape), f32(shape), i8(shape)}, {}, "operand 'input'");
  refuse("quantizeLinear", {f32(shape), i32(shape), i8(shape)}, {}, "operand 'scale'");
  for (const auto type : {DataType::float16, DataType::float32, DataType::int64, DataType::uint64})
    refuse("quantizeLinear", {f32(shape), f32(shape), {type, shape}}, {}, "operand 'zeroPoint'");
  for (const auto type :
       {DataType::float16, DataType::float32, DataType::int64, DataType::uint64}) {
    refuse("dequantizeLinear", {{type, shape}, f32(shape), i8(shape)}, {}, "operand 'input'");
  }
  refuse("dequantizeLinear", {i8(shape), i32(shape), i8(shape)}, {}, "operand 'scale'");
  for (const auto& zero_point : {u8(shape), i32(shape), u32(shape), f32(shape)})
    refuse("dequantizeLinear", {i8(shape), f32(shape), zero_point}, {}, "operand 'zeroPoint'");
}

BOOST_AUTO_TEST_CASE(results_within_the_byte_limit) {
  const auto fifth = static_cast<std::uint32_t>(most_bytes / 5);
  refuse("dequantizeLinear", {i8({fifth, 5}), f32({1, 5}), i8({1, 5})}, {}, "result '");
}

BOOST_AUTO_TEST_SUITE_END()
