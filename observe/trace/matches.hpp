// Which message a handling handled.
#pragma once

#include <optional>
#include <vector>

#include "observe/trace/records.hpp"

namespace polychron::trace {

/// For each of Records::handled the place in Records::sent of what was handled, if that was seen.
std::vector<std::optional<std::size_t>> sent_of_handled(const Records& records);

}  // namespace polychron::trace
