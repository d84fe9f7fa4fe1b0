// Counts calls of operator new, but for those that oneDNN makes.
#pragma once

#include <cstddef>
#include <optional>

namespace polychron::tests {

/// Since the program began, on all threads; nullopt where they cannot be counted (sanitizers).
std::optional<std::size_t> allocations();

}  // namespace polychron::tests
