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

/// Runs `f`; what it throws gets a word about where.
template <class F>
auto located(const std::string& where, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), where + ": " + error.message());
  }
}

}  // namespace polychron::onnx::detail
