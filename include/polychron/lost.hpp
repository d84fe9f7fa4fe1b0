// Why a context was lost (WebNN: MLContextLostInfo), with a reason that programs can test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace polychron {

enum class LostReason : std::uint8_t {
  destroyed,        ///< by the caller
  device_failed,    ///< the device, or an actor of the context, is gone
  out_of_memory,    ///< there was no memory to go on with
  runtime_shutdown  ///< the Runtime was dropped
};

std::string_view to_string(LostReason reason) noexcept;

struct LostInfo {
  LostReason reason = LostReason::destroyed;
  std::string message;
};

}  // namespace polychron
