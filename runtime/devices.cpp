// The list of devices for embedders, and the backend for a context's options.
#include "kernels/devices.hpp"

#include "ops/table.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

std::vector<DeviceInfo> devices() {
  return detail::with_errors([] {
    std::vector<DeviceInfo> infos;
    for (auto& device : kernels::find_devices()) {
      const bool available = device.unavailable_reason.empty();
      std::vector<std::string> operators;
      for (const auto id : device.operators) operators.emplace_back(ops::row(id).name);
      infos.push_back({std::move(device.name), std::move(device.description), available,
                       std::move(device.unavailable_reason), std::move(operators)});
    }
    return infos;
  });
}

namespace detail {

Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options) {
  if (!options.device.empty()) return kernels::make_backend(options.device);
  if (options.power_preference == PowerPreference::high_performance && options.accelerated)
    if (auto gpu = kernels::make_backend("gpu")) return gpu;
  return kernels::make_backend("cpu");
}

bool is_accelerated(const kernels::Backend& backend) { return backend.name() == "gpu"; }

}  // namespace detail

}  // namespace polychron
