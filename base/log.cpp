#include "polychron/log.hpp"

namespace polychron {

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

}  // namespace polychron
