// Which devices there are, and the backend of each.
#include "kernels/onednn/devices.hpp"
#include "runtime/cpu_backend.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

std::vector<DeviceInfo> devices() {
  const auto found = kernels::onednn::probe_devices();
  return {
      {"cpu", found.library + ", " + found.cpu_isa, true, ""},
      {"gpu", found.library, false,
       found.gpu ? "oneDNN has a GPU engine here, but Polychron has no kernels for it yet"
                 : found.gpu_note},
  };
}

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
