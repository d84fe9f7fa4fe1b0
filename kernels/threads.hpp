// What a thread has set that kernels depend on.
#pragma once

#include <cfenv>

namespace polychron::kernels {

/// The libraries' kernels stay on the calling thread from here on: a lane has a team of its own
/// (team.hpp), and OpenMP makes none. Cheap enough for each execution.
void use_one_thread() noexcept;

/// The calling thread computes as the standard says from here on: a thread begins with the mode of
/// the one that made it (rounding, what becomes of subnormal numbers, traps).
void use_standard_arithmetic() noexcept;

/// Between two looks of a thread for what is about to come: some 25 ns.
inline void breathe() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm("yield");
#endif
}

/// While this lives kernels that run on this thread, which is not the library's, find what they
/// find on one that is; and from then on its owner finds what it had set: the floating-point mode
/// and flags, the number of OpenMP's threads.
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
