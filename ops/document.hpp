// The operator table as a page of documentation.
#pragma once

#include <string>

namespace polychron::ops {

/// Markdown: for each operator its signature, options with their defaults, and tolerance. A test
/// compares it with docs/operators.md.
std::string markdown();

}  // namespace polychron::ops
