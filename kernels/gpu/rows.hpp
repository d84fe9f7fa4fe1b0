// The kernels that run on a GPU: oneDNN's primitives, one for each operator.
#pragma once

#include <memory>

#include "kernels/gpu/device.hpp"
#include "kernels/onednn/primitive_kernel.hpp"

namespace polychron::kernels::gpu {

/// The primitive that solves `problem` on the device. Returns not_supported with the reason why the
/// host has to.
Result<std::unique_ptr<onednn::PrimitiveKernel>> prepare(const Gpu& gpu, const Problem& problem);

/// The operators that have such a primitive, for some problems.
std::vector<ops::OpId> operators();

}  // namespace polychron::kernels::gpu
