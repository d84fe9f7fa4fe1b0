// The operator table as a page of documentation.
#pragma once

#include <string>

namespace polychron::ops {

/// Markdown: for each operator its signature, options with their defaults, and tolerance. What
/// docs/operators.md holds; a test compares them.
std::string markdown();

}  // namespace polychron::ops
