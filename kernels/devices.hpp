// The devices of this machine, and the backend of each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.hpp"

namespace polychron::kernels {

struct Device {
  std::string name;                  ///< "cpu", "gpu"
  std::string description;           ///< library, instruction set
  std::string unavailable_reason;    ///< empty if the device can be used
  std::vector<ops::OpId> operators;  ///< that it may compute itself
};

/// All known devices, including those that cannot be used. Searches for GPUs: see find_gpu().
std::vector<Device> find_devices();

/// The backend of the named device. Returns not_supported, with the reason, if there is none.
Result<std::shared_ptr<Backend>> make_backend(std::string_view device);

}  // namespace polychron::kernels
