// The one validator: checks an operator's operands and attributes and tells its results.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/row.hpp"

namespace polychron::ops {

/// The operands of one operator in the row's order: nullptr for an optional one that is absent; as
/// many as were given for a variadic one.
using Operands = std::span<const OperandDescriptor* const>;

/// Where an operator's options come from.
enum class OptionsAre : std::uint8_t {
  given,  ///< by a caller: numbers are finite
  cast,   ///< to the operand's type (cast_options()), which may have made them infinite
};

/// The results' descriptors. Throws Error (type_error) if the specification does not allow the
/// call; the message has the operator's name, the operand's, what was expected, and `[label]`.
std::vector<OperandDescriptor> infer(const Row& row, Operands operands,
                                     const Attributes& attributes, std::string_view label = {},
                                     OptionsAre options = OptionsAre::given);

}  // namespace polychron::ops
