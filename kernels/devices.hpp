// Which devices this machine has, and the backend of each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.hpp"

namespace polychron::kernels {

struct Device {
  std::string name;                ///< "cpu", "gpu"
  std::string description;         ///< library, instruction set
  std::string unavailable_reason;  ///< empty: it can be used
};

/// The devices that are known, also those that cannot be used. Looks for GPUs: see
/// onednn::gpu_problem().
std::vector<Device> find_devices();

/// The backend of the device of that name; not_supported, with the reason, if it has none.
Result<std::shared_ptr<Backend>> make_backend(std::string_view device);

}  // namespace polychron::kernels
