// The runtime: owns the threads on which contexts live.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "polychron/context.hpp"

namespace polychron {

namespace detail {
class RuntimeState;
}

struct RuntimeOptions {
  /// Threads that serve the actors of all contexts (besides one thread a device lane, and one that
  /// compiles, a context). 0: half the cores, at least 2.
  int scheduler_threads = 0;
};

struct ContextOptions {
  std::string label{};
  /// Which device computes: "cpu", or "gpu" where oneDNN was built with a GPU engine (else
  /// not_supported).
  std::string device = "cpu";
  /// Threads that one dispatch may use. 1 is the robust default: see docs/performance.md.
  int threads = 1;
  /// Device actors that work side by side, each with `threads` threads. Results are the same for
  /// any number; independent operations run in parallel.
  int lanes = 1;
  /// Most operations (write, read, dispatch, compute) that may be in flight, and what a call does
  /// that meets this limit, or memory_limit with the bytes it brings.
  std::uint64_t max_in_flight = 4096;
  AdmissionPolicy admission = AdmissionPolicy::block;
  /// Most bytes of tensors, plans and writes in flight together.
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();
};

/// A device that create_context() can be asked for.
struct DeviceInfo {
  std::string name;         ///< what ContextOptions::device takes
  std::string description;  ///< processor, instruction set, library
  bool available = false;
  std::string unavailable_reason;  ///< why not, if not
};

/// Devices of this machine, also those that are known but not available, with the reason.
std::vector<DeviceInfo> devices();

/// Actors that have not ended yet, and what they are doing.
struct RemainingActor {
  std::string actor;  ///< "device of context 'main'"
  std::size_t count = 1;
  /// "dispatch (ticket 12)", "build of graph #3". Empty: it has messages left to handle, or is in a
  /// completion callback that has not returned.
  std::string holds;
};

/// Dropping a runtime shuts it down, and waits for the end: shutdown() without a limit. Legal at
/// any moment, also with work in flight and with handles alive, which then refuse every call with
/// invalid_state; and on any thread: in a completion callback, which the end would have to wait
/// for, it only begins the end. May be a static variable. Thread-safe.
class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = {});
  /// For embedders: see polychron/caf.hpp.
  explicit Runtime(std::shared_ptr<detail::RuntimeState> state);
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// Rejects with not_supported (no such device), type_error (threads < 1).
  Future<Context> create_context(const ContextOptions& options = {});

  /// Its contexts are lost (runtime_shutdown), every pending reply is rejected, the running kernels
  /// and compilations are waited for, up to `patience`; not at all in a completion callback. Gives
  /// what has not ended; empty if all has. May be called again.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

 private:
  std::shared_ptr<detail::RuntimeState> state_;
};

}  // namespace polychron
