// The statements of the tests of operator rules: this call is accepted with that result, that one
// is refused.
#pragma once

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ops/infer.hpp"
#include "ops/table.hpp"
#include "polychron/error.hpp"

namespace polychron::test {

/// A label with characters that formatting might trip over.
inline constexpr std::string_view label = "conv_2d_*?!-%s";

inline constexpr std::uint64_t most_bytes = max_tensor_byte_length;
inline constexpr auto quarter = static_cast<std::uint32_t>(most_bytes / 4);

inline OperandDescriptor f32(Shape shape) { return {DataType::float32, std::move(shape)}; }
inline OperandDescriptor f16(Shape shape) { return {DataType::float16, std::move(shape)}; }
inline OperandDescriptor i32(Shape shape) { return {DataType::int32, std::move(shape)}; }
inline OperandDescriptor i64(Shape shape) { return {DataType::int64, std::move(shape)}; }
inline OperandDescriptor u32(Shape shape) { return {DataType::uint32, std::move(shape)}; }
inline OperandDescriptor u8(Shape shape) { return {DataType::uint8, std::move(shape)}; }
inline OperandDescriptor i8(Shape shape) { return {DataType::int8, std::move(shape)}; }

/// An optional operand that is left out.
inline const OperandDescriptor absent{DataType::float32, Shape(max_rank + 1, 0)};

using Descriptors = std::vector<OperandDescriptor>;

inline const ops::Row& row_of(std::string_view name) {
  const ops::Row* row = ops::find(name);
  BOOST_REQUIRE_MESSAGE(row != nullptr, "no operator " << name);
  return *row;
}

inline Descriptors infer(std::string_view name, const Descriptors& operands,
                         const Attributes& attributes = {}) {
  std::vector<const OperandDescriptor*> pointers;
  for (const auto& operand : operands) pointers.push_back(operand == absent ? nullptr : &operand);
  return ops::infer(row_of(name), pointers, attributes, label);
}

/// `operands` as text.
inline std::string show(const Descriptors& operands) {
  std::string text;
  for (const auto& operand : operands)
    text.append(text.empty() ? "" : ", ").append(operand == absent ? "-" : to_string(operand));
  return text;
}

/// The beginning of messages that name an operand.
inline std::string operand_text(const ops::OperandRule& rule) {
  std::string text = "operand '";
  text += rule.name;
  return text;
}

/// The call is accepted and its only result is `expected`.
inline void accept(std::string_view name, const Descriptors& operands, const Attributes& attributes,
                   const OperandDescriptor& expected) {
  BOOST_TEST_CONTEXT(name << "(" << show(operands) << ")") {
    try {
      const auto results = infer(name, operands, attributes);
      BOOST_REQUIRE_EQUAL(results.size(), 1U);
      BOOST_TEST(to_string(results[0]) == to_string(expected));
    } catch (const Error& error) {
      BOOST_ERROR(error.what());
    }
  }
}

/// The call is refused with a type_error whose message has the operator's name, `part`, and the
/// label in square brackets (rule L).
inline void refuse(std::string_view name, const Descriptors& operands,
                   const Attributes& attributes = {}, std::string_view part = "") {
  BOOST_TEST_CONTEXT(name << "(" << show(operands) << ")") {
    try {
      BOOST_ERROR("accepted: " << show(infer(name, operands, attributes)));
    } catch (const Error& error) {
      const std::string_view message = error.message();
      BOOST_TEST((error.kind() == ErrorKind::type_error));
      for (const auto& text :
           {"[" + std::string(label) + "]", std::string(name) + ": ", std::string(part)})
        BOOST_TEST(message.find(text) != std::string_view::npos, message << " lacks " << text);
    }
  }
}

}  // namespace polychron::test
