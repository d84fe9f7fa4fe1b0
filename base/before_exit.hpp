// Work that must be over before the process ends.
#pragma once

namespace polychron {

/// Work that uses a library's static variables, as long as this lives. The end of the process
/// destroys such variables in an order that nobody chooses, while other threads still run. So when
/// the main thread ends the process, it first waits for this work, and no more begins. This holds
/// for other threads that have said so too (EndsProcess). Thread-safe.
class BeforeExit {
 public:
  BeforeExit() noexcept;
  BeforeExit(const BeforeExit&) = delete;
  BeforeExit& operator=(const BeforeExit&) = delete;
  ~BeforeExit();
  /// False: the process is ending, and the work must not begin.
  explicit operator bool() const noexcept { return may_begin_; }

 private:
  bool may_begin_ = true;
};

/// While this lives, its thread may end the process, and waits as the main thread does. It must go
/// before the thread ends. For the library's threads that run users' code.
class EndsProcess {
 public:
  EndsProcess() noexcept;
  EndsProcess(const EndsProcess&) = delete;
  EndsProcess& operator=(const EndsProcess&) = delete;
  ~EndsProcess();
};

}  // namespace polychron
