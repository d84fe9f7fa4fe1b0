// The backend that computes on the processor: oneDNN and Eigen kernels, the reference for the rest.
#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace polychron::kernels {

/// How plans are made. Anything but the default is for tests and measurements.
struct PlanSettings {
  bool optimize = true;         ///< run the passes
  bool reference_only = false;  ///< reference kernels only
  bool cut = true;              ///< large steps in parts
};

/// Stateless: any number of device actors may share one.
std::shared_ptr<Backend> make_cpu_backend(const PlanSettings& settings = {});

}  // namespace polychron::kernels
