// Counts calls of operator new, except oneDNN's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace polychron::tests {

/// During `work`, on all threads; nullopt where they cannot be counted (sanitizers).
std::optional<std::size_t> allocations_in(const std::function<void()>& work);

}  // namespace polychron::tests
