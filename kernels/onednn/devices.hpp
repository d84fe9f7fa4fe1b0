// The version, instruction set that oneDNN uses on this machine.
#pragma once

#include <string>

namespace polychron::kernels::onednn {

/// "oneDNN 2.6.3"
std::string library_version();
/// The instruction set in use: "avx512_core_amx".
std::string cpu_isa();

}  // namespace polychron::kernels::onednn
