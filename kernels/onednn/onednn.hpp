// The implementations that oneDNN has: one prepare function a family, listed in
// kernels/registry.cpp.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::onednn {

KernelResult prepare_convolution(const Problem& problem);  ///< conv2d, convTranspose2d
KernelResult prepare_product(const Problem& problem);      ///< matmul, gemm
KernelResult prepare_pixel(const Problem& problem);        ///< conv2d of one pixel, as a product
KernelResult prepare_eltwise(const Problem& problem);      ///< unary functions
KernelResult prepare_binary(const Problem& problem);
KernelResult prepare_pool(const Problem& problem);
KernelResult prepare_resample(const Problem& problem);
KernelResult prepare_softmax(const Problem& problem);
KernelResult prepare_layer_normalization(const Problem& problem);
KernelResult prepare_reduction(const Problem& problem);
KernelResult prepare_concat(const Problem& problem);
KernelResult prepare_reorder(const Problem& problem);  ///< reorder, transpose

}  // namespace polychron::kernels::onednn
