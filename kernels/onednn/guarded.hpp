// Turns the library's exceptions into refusals.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/onednn/library.hpp"

namespace polychron::kernels::onednn {

template <class F>
KernelResult guarded(F&& prepare) {
  try {
    return prepare();
  } catch (const dnnl::error& error) {
    return to_error(error);
  }
}

}  // namespace polychron::kernels::onednn
