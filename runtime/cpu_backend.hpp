// The backend that computes on the processor: oneDNN and Eigen kernels, the reference for the rest.
#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace polychron::runtime {

/// Stateless: any number of device actors may share one.
std::shared_ptr<kernels::Backend> make_cpu_backend();

}  // namespace polychron::runtime
