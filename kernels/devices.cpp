#include "kernels/devices.hpp"

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/onednn/devices.hpp"

namespace polychron::kernels {

std::vector<Device> find_devices() {
  const auto found = onednn::probe_devices();
  return {
      {"cpu", found.library + ", " + found.cpu_isa, ""},
      {"gpu", found.library,
       found.gpu ? "oneDNN has a GPU engine here, but Polychron has no kernels for it yet"
                 : found.gpu_note},
  };
}

Result<std::shared_ptr<Backend>> make_backend(std::string_view device) {
  std::string known;
  for (const Device& candidate : find_devices()) {
    known += (known.empty() ? "" : ", ") + candidate.name;
    if (candidate.name != device) continue;
    if (!candidate.unavailable_reason.empty())
      return Error(ErrorKind::not_supported, "device '" + candidate.name + "' is not available: " +
                                                 candidate.unavailable_reason);
    return make_cpu_backend();
  }
  return Error(ErrorKind::not_supported,
               "there is no device '" + std::string(device) + "'; known are " + known);
}

}  // namespace polychron::kernels
