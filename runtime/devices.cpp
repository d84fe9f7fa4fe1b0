// The list of devices for embedders, and the backend for a context's options.
#include "kernels/devices.hpp"

#include "runtime/runtime_state.hpp"

namespace polychron {

std::vector<DeviceInfo> devices() {
  return detail::with_errors([] {
    std::vector<DeviceInfo> infos;
    for (auto& device : kernels::find_devices()) {
      const bool available = device.unavailable_reason.empty();
      infos.push_back({std::move(device.name), std::move(device.description), available,
                       std::move(device.unavailable_reason)});
    }
    return infos;
  });
}

namespace detail {

Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options) {
  return kernels::make_backend(options.device);
}

}  // namespace detail

}  // namespace polychron
