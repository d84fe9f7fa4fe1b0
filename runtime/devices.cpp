// Which devices there are, and the backend of each.
#include <caf/all.hpp>

#include "runtime/cpu_backend.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

namespace detail {

Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options) {
  std::string known;
  for (const auto& device : devices()) {
    known += (known.empty() ? "" : ", ") + device.name;
    if (device.name != options.device) continue;
    if (!device.available)
      return Error(ErrorKind::not_supported,
                   "device '" + device.name + "' is not available: " + device.unavailable_reason);
    return runtime::make_cpu_backend();
  }
  return Error(ErrorKind::not_supported,
               "there is no device '" + options.device + "'; known are " + known);
}

}  // namespace detail

}  // namespace polychron
