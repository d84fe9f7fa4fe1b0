// The one validator: it checks an operator's operands and attributes, and infers the results.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/row.hpp"

namespace polychron::ops {

/// The operands of one operator in the row's order: nullptr for an optional one that is absent; a
/// variadic operator has all that were given.
using Operands = std::span<const OperandDescriptor* const>;

/// The source of an operator's options.
enum class OptionsAre : std::uint8_t {
  given,  ///< from a caller: numbers must be finite
  cast,   ///< cast to the operand's type (cast_options()): numbers may be infinite
};

/// The results' descriptors. Shapes of operands may have symbols, and so may those of the results
/// (ops/dimensions.hpp). Throws Error (type_error) if the specification does not allow the
/// call; the message names the label, the operator and the operand, and the expected value.
std::vector<OperandDescriptor> infer(const Row& row, Operands operands,
                                     const Attributes& attributes, std::string_view label = {},
                                     OptionsAre options = OptionsAre::given);

}  // namespace polychron::ops
