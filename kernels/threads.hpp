// What a thread has set that kernels depend on.
#pragma once

#include <cfenv>

namespace polychron::kernels {

/// Sets the number of OpenMP threads of the calling thread's next kernels. Cheap enough for each
/// execution; the team belongs to the calling thread.
void set_threads(int threads);
/// What it is.
int threads() noexcept;

/// The calling thread computes as the standard says from here on: a thread begins with the mode of
/// the one that made it (rounding, what becomes of subnormal numbers, traps).
void use_standard_arithmetic() noexcept;

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
