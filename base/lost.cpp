#include "polychron/lost.hpp"

namespace polychron {

std::string_view to_string(LostReason reason) noexcept {
  switch (reason) {
    case LostReason::destroyed:
      return "destroyed";
    case LostReason::device_failed:
      return "device_failed";
    case LostReason::out_of_memory:
      return "out_of_memory";
    case LostReason::runtime_shutdown:
      return "runtime_shutdown";
  }
  return "unknown";
}

}  // namespace polychron
