// The backend that computes on a GPU with oneDNN, and on the host where oneDNN has no primitive.
#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace polychron::kernels {

struct Device;

/// The first GPU that oneDNN can use, as it is now: its name, memory, or why there is none. Loads
/// every OpenCL driver of the machine; some leave threads running. So call it only to use a GPU.
Device find_gpu();

/// Opens the device. Any number of device actors may share the backend. Returns not_supported with
/// the reason.
Result<std::shared_ptr<Backend>> make_gpu_backend();

}  // namespace polychron::kernels
