// The importer's errors. Callers that know the tensor or the node add its name on the way out.
#pragma once

#include <string>
#include <string_view>

#include "polychron/error.hpp"

namespace polychron::onnx::detail {

/// The model contradicts itself or the ONNX specification.
[[noreturn]] void malformed(const std::string& why);

/// The model may be valid, but cannot be expressed.
[[noreturn]] void unsupported(const std::string& why);

/// A value must be known at import. `what` names it: "the scales".
[[noreturn]] void unknown_value(const std::string& what);

/// `name` in quotation marks, safe for a one-line message: non-printable and non-ASCII bytes are
/// escaped, and long names are cut, because hostile files may contain any name.
std::string quote(std::string_view name);

/// Runs `f`, and adds the place to its errors.
template <class F>
auto located(const std::string& where, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), where + ": " + error.message());
  }
}

}  // namespace polychron::onnx::detail
