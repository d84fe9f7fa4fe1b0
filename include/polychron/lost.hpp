// The loss of a context (WebNN: MLContextLostInfo), with a reason that programs can test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace polychron {

/// The reason why a context is gone.
enum class LostReason : std::uint8_t {
  destroyed,        ///< the caller destroyed it
  device_failed,    ///< the device or an actor of the context failed
  out_of_memory,    ///< an allocation failed that the context needed
  runtime_shutdown  ///< the Runtime was dropped
};

/// "destroyed", "device_failed", "out_of_memory", "runtime_shutdown".
std::string_view to_string(LostReason reason) noexcept;

/// WebNN's MLContextLostInfo: what Context::lost() resolves with.
/// https://www.w3.org/TR/webnn/#dictdef-mlcontextlostinfo
struct LostInfo {
  LostReason reason = LostReason::destroyed;  ///< for programs
  std::string message;                        ///< for people: what happened
};

}  // namespace polychron
