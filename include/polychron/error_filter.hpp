// Error filters: which errors an error scope takes (as WebGPU's GPUErrorFilter).
#pragma once

#include <cstdint>
#include <string_view>

#include "polychron/error.hpp"

namespace polychron {

/// Which errors a scope takes, judged by the root of their chains: filter_of().
enum class ErrorFilter : std::uint8_t {
  validation,     ///< type_error, invalid_state, not_supported, quota_exceeded, graph_invalid
  out_of_memory,  ///< out_of_memory
  internal,       ///< everything else
};

/// "validation", "out_of_memory", "internal".
std::string_view to_string(ErrorFilter filter) noexcept;

/// The filter that takes errors like `error`, judged by the root of its chain.
ErrorFilter filter_of(const Error& error) noexcept;

}  // namespace polychron
