// Error filters: they select the errors that an error scope takes (WebGPU: GPUErrorFilter).
#pragma once

#include <cstdint>
#include <string_view>

#include "polychron/error.hpp"

namespace polychron {

/// The errors that a scope takes, by the kind of their root: see filter_of().
enum class ErrorFilter : std::uint8_t {
  validation,     ///< type_error, invalid_state, not_supported, quota_exceeded, graph_invalid
  out_of_memory,  ///< out_of_memory
  internal,       ///< everything else
};

/// "validation", "out_of_memory", "internal".
std::string_view to_string(ErrorFilter filter) noexcept;

/// The filter that takes `error`, by the kind of the root of its chain.
ErrorFilter filter_of(const Error& error) noexcept;

}  // namespace polychron
