// Numbers of the conformance cases: from JSON to numbers and bytes. A file may contain anything:
// every deviation from the format is Malformed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "polychron/attributes.hpp"
#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::conformance {

using nlohmann::json;

/// The case does not have the required form. One line.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A larger operand is refused. No case needs one, and a file may name any number of bytes.
inline constexpr std::uint64_t largest_operand = 256U << 20;

/// `value` in one short line, for messages.
std::string excerpt(const json& value);
/// The member `key` of `object`. Throws Malformed.
const json& member(const json& object, const char* key);
std::string text_of(const json& value);
bool flag_of(const json& value);

/// A JSON number, or one of the strings that stand for numbers: "NaN", "-Infinity", "-0", "123n".
/// Throws Malformed.
Number number_of(const json& value);
/// The number as the nearest double. Throws Malformed.
double real_of(const json& value);
/// A whole number from `least` to `most`.
std::int64_t integer_of(const json& value, std::int64_t least, std::int64_t most);

/// "dataType" and "shape" of an operand.
OperandDescriptor descriptor_of(const json& operand);
/// Number `index` of an operand's "data". A single number stands for every element.
const json& datum(const json& operand, std::size_t index);
/// The bytes of an operand's "data".
Buffer bytes_of(const json& operand);

}  // namespace polychron::conformance
