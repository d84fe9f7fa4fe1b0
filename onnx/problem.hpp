// How the importer says no. Whoever knows more (the tensor, the node) adds it on the way out.
#pragma once

#include <string>
#include <string_view>

#include "polychron/error.hpp"

namespace polychron::onnx::detail {

/// The model contradicts itself or the ONNX specification.
[[noreturn]] void malformed(const std::string& why);

/// The model may be right, but cannot be expressed.
[[noreturn]] void unsupported(const std::string& why);

/// A value would have to be known. `what` it is: "the scales".
[[noreturn]] void unknown_value(const std::string& what);

/// `name` in quotation marks, fit for a one-line message: what is not printable ASCII is escaped,
/// and long names are cut, for names come from files that may be hostile.
std::string quote(std::string_view name);

}  // namespace polychron::onnx::detail
