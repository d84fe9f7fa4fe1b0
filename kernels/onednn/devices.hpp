// What oneDNN finds on this machine.
#pragma once

#include <string>

namespace polychron::kernels::onednn {

/// "oneDNN 2.6.3"
std::string library_version();
/// The instruction set in use: "avx512_core_amx".
std::string cpu_isa();
/// Why there is no GPU engine; empty if there is one. Loads every OpenCL driver of the machine, and
/// the threads of some stay: only for those who ask for a GPU.
std::string gpu_problem();

}  // namespace polychron::kernels::onednn
