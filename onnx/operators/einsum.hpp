// The equation of an Einsum.
#pragma once

#include <string>
#include <vector>

namespace polychron::onnx::detail {

/// A label is a letter. A dimension of "..." has a negative label: minus its distance from the
/// right, minus one.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

/// `ranks` are those of the inputs. Throws Error (bad_data).
Equation parse_equation(const std::string& text, const std::vector<std::size_t>& ranks);

}  // namespace polychron::onnx::detail
