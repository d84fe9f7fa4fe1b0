// Element-wise operators: arithmetic, comparison, logic, and functions of one operand.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

/// Two operands of any type.
consteval Row arithmetic(std::string_view name, std::string_view line, Tolerance tolerance,
                         Order order) {
  return {.name = name,
          .line = line,
          .call = signature("a: any, b: a -> a"),
          .shape = broadcast_shape,
          .shapes = broadcast_words,
          .order = order,
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-binary"};
}

/// A uint8 of ones and zeros from two operands of any type, or of uint8.
consteval Row comparison(std::string_view name, std::string_view line, Order order) {
  return {.name = name,
          .line = line,
          .call = signature("a: any, b: a -> uint8"),
          .shape = broadcast_shape,
          .shapes = broadcast_words,
          .order = order,
          .anchor = "api-mlgraphbuilder-logical"};
}
consteval Row logic(std::string_view name, std::string_view line) {
  return {.name = name,
          .line = line,
          .call = signature("a: uint8, b: a -> a"),
          .shape = broadcast_shape,
          .shapes = broadcast_words,
          .order = Order::free,
          .anchor = "api-mlgraphbuilder-logical"};
}

/// A uint8 of ones and zeros from one operand. For isNaN and isInfinite the specification's table
/// allows any type, its text only floats. This follows the table: integers are neither NaN nor
/// infinite.
consteval Row predicate(std::string_view name, std::string_view line, std::string_view call) {
  return {.name = name,
          .line = line,
          .call = signature(call),
          .shape = same_shape,
          .shapes = same_words,
          .anchor = "api-mlgraphbuilder-logical"};
}

/// A function of each element.
consteval Row unary(std::string_view name, std::string_view line, std::string_view call,
                    Tolerance tolerance = exact) {
  return {.name = name,
          .line = line,
          .call = signature(call),
          .shape = same_shape,
          .shapes = same_words,
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-unary"};
}

inline constexpr std::array elementwise_rows{
    arithmetic("add", "a + b; integers wrap around", ulp(1), Order::free),
    arithmetic("sub", "a - b; integers wrap around", ulp(1), Order::fixed),
    arithmetic("mul", "a * b; integers wrap around", ulp(1), Order::free),
    arithmetic("div", "a / b; integers are truncated, and divided by 0 give 0", ulp(2),
               Order::fixed),
    arithmetic("max", "the larger of a and b", exact, Order::free),
    arithmetic("min", "the smaller of a and b", exact, Order::free),
    arithmetic("pow", "a to the power of b; integers wrap around, their fractions are 0",
               ulp(32, 2), Order::fixed),
    comparison("equal", "1 where a and b are equal, else 0", Order::free),
    comparison("notEqual", "0 where a and b are equal, else 1", Order::free),
    comparison("greater", "1 where a > b, else 0", Order::fixed),
    comparison("greaterOrEqual", "1 where a >= b, else 0", Order::fixed),
    comparison("lesser", "1 where a < b, else 0", Order::fixed),
    comparison("lesserOrEqual", "1 where a <= b, else 0", Order::fixed),
    logic("logicalAnd", "1 where neither is 0, else 0"),
    logic("logicalOr", "1 where one at least is not 0, else 0"),
    logic("logicalXor", "1 where one is 0 and one is not, else 0"),
    predicate("logicalNot", "1 where a is 0, else 0", "a: uint8 -> a"),
    predicate("isNaN", "1 where a is NaN, else 0; no integer is", "a: any -> uint8"),
    predicate("isInfinite", "1 where a is an infinity, else 0; no integer is", "a: any -> uint8"),
    unary("abs", "the absolute value; the least integer stays", "input: signeds -> input"),
    unary("ceil", "x rounded up to a whole number", "input: floats -> input"),
    unary("cos", "the cosine, of radians", "input: floats -> input",
          absolute(1.0 / 1024, 1.0 / 512)),
    unary("erf", "the Gauss error function", "input: floats -> input",
          absolute(1.0 / 1024, 1.0 / 512)),
    unary("exp", "e to the power of x", "input: floats -> input", ulp(32, 1)),
    unary("floor", "x rounded down to a whole number", "input: floats -> input"),
    unary("identity", "x as it is", "input: any -> input"),
    unary("log", "the natural logarithm", "input: floats -> input",
          absolute(1.0 / 1024, 1.0 / 1024)),
    unary("neg", "-x; the least integer stays", "input: signeds -> input"),
    unary("reciprocal", "1 / x", "input: floats -> input", ulp(2)),
    unary("roundEven", "x rounded to the nearest whole number, halves to the even one",
          "input: floats -> input"),
    unary("sign", "-1, 0 or 1 as x is below, at or above 0", "input: signeds -> input"),
    unary("sin", "the sine, of radians", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 512)),
    unary("sqrt", "the square root", "input: floats -> input", ulp(1)),
    unary("tan", "the tangent, of radians", "input: floats -> input",
          absolute(1.0 / 1024, 1.0 / 512)),
    Row{.name = "cast",
        .line = "the same number as dataType, or the nearest: floats are truncated to integers "
                "and kept in their range, integers keep their lowest bits",
        .call = signature("input: any -> any"),
        .shape = same_shape,
        .shapes = same_words,
        .attributes = alternative<CastAttributes>(),
        .type = cast_type,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-cast"},
    Row{.name = "where",
        .line = "trueValue where condition is not 0, else falseValue",
        .call = signature("condition: uint8, trueValue: any, falseValue: trueValue -> trueValue"),
        .shape = broadcast_shape,
        .shapes = broadcast_words,
        .anchor = "api-mlgraphbuilder-where"},
};

}  // namespace polychron::ops
