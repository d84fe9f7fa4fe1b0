// The state of a thread that kernels depend on.
#pragma once

#include <cfenv>

namespace polychron::kernels {

/// Keeps the libraries' kernels on the calling thread from here on. A lane has a team of its own
/// (team.hpp), so OpenMP should start no threads. Cheap enough to call before each execution.
void use_one_thread() noexcept;

/// Gives the calling thread standard floating-point arithmetic from here on. A new thread inherits
/// the mode of its creator: rounding, subnormal numbers, traps.
void use_standard_arithmetic() noexcept;

/// A pause between two looks of a spinning thread: about 25 ns.
inline void breathe() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm("yield");
#endif
}

/// Lets kernels run on a user's thread. Gives it standard floating-point arithmetic, which the
/// library's own threads have. Its destructor restores the floating-point mode and flags, and the
/// number of OpenMP threads, which kernels change.
class OnCallersThread {
 public:
  OnCallersThread() noexcept;
  OnCallersThread(const OnCallersThread&) = delete;
  OnCallersThread& operator=(const OnCallersThread&) = delete;
  ~OnCallersThread();

 private:
  std::fenv_t arithmetic_;
  int threads_;
};

}  // namespace polychron::kernels
