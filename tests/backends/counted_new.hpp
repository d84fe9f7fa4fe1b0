// How often this thread has called operator new.
#pragma once

#include <cstdint>

namespace polychron::testing {

std::uint64_t allocations() noexcept;

}  // namespace polychron::testing
