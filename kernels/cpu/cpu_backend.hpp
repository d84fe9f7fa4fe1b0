// The backend that computes on the processor, with oneDNN, Eigen, our own loops and the reference.
#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace polychron::kernels {

/// Options for making plans. Everything except the defaults is for tests and measurements.
struct PlanSettings {
  bool optimize = true;         ///< run the passes
  bool reference_only = false;  ///< use only reference kernels
  bool cut = true;              ///< divide large steps into parts
};

/// Stateless: any number of device actors may share one.
std::shared_ptr<Backend> make_cpu_backend(const PlanSettings& settings = {});

}  // namespace polychron::kernels
