// The runtime: it owns the threads that run contexts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "polychron/braces.hpp"
#include "polychron/context.hpp"
#include "polychron/log.hpp"
#include "polychron/trace.hpp"

namespace polychron {

namespace detail {
class RuntimeState;
}

/// Options of a Runtime.
struct RuntimeOptions {
  /// Threads that serve the actors of all contexts. 0 means half of usable_cores(), at least 2; at
  /// most 1024. Each context has further threads: one for each device lane, and one that compiles.
  /// The runtime has one more for callbacks, unless there is an `executor`.
  int scheduler_threads = 0;
  /// Takes tasks (callbacks, handlers, resumed coroutines) and runs each once, in any order: an
  /// event loop or a thread pool. The library calls it on its own threads, so it must not block or
  /// run the task itself. For asio: `[&](auto task) { asio::post(io, std::move(task)); }`. It must
  /// outlive the runtime's handles. Empty: one thread of the library runs the tasks in order.
  std::function<void(std::function<void()>)> executor{};
  /// Receives each exception that a callback throws, on the callback's thread. Contexts are not
  /// affected. Empty: exceptions are only counted (Runtime::callback_exceptions()).
  std::function<void(std::exception_ptr)> on_callback_exception{};
  /// Receives log records of `log_level` and above, one at a time, where callbacks run. It may
  /// wait; its exceptions are ignored. If it falls behind, some records are dropped. Empty: no log,
  /// and nothing is printed.
  std::function<void(const LogRecord&)> log{};
  LogLevel log_level = LogLevel::warning;  ///< the lowest level that `log` receives
  /// Caller runs: a thread that waits for a reply (Future::get(), take(), wait()) runs short jobs
  /// of its context itself, instead of waking other threads for them. A call of a tiny graph then
  /// takes a fraction of the time. A waiting thread never runs callbacks, or jobs that are not
  /// known to be short (docs/architecture.md, "Helping"), and never helps if there is an
  /// `executor`. Switch it off if callers have small stacks.
  bool helping = true;
};

/// WebNN's MLPowerPreference.
enum class PowerPreference : std::uint8_t {
  automatic,         ///< WebNN's "default": the processor
  high_performance,  ///< a GPU if there is one
  low_power          ///< the processor
};

/// The cores that this process may use: those of the calling thread's affinity (taskset, cpusets),
/// or fewer if the quota of a control group allows fewer (cgroup v1 and v2; a part of a core counts
/// as one). At least 1. Looks at each call. Thread-safe.
int usable_cores() noexcept;

/// The default of ContextOptions::memory_limit, in bytes: three quarters of what this process may
/// use. That is the machine's memory, or the least limit of its control groups (cgroup v1 and v2).
/// Read once, at the first call. Thread-safe.
std::uint64_t default_memory_limit() noexcept;
/// ContextOptions::memory_limit without a limit.
inline constexpr std::uint64_t no_memory_limit = std::numeric_limits<std::uint64_t>::max();

/// Options of a Context, as Runtime::create_context() takes them.
struct ContextOptions {
  std::string label{};  ///< in messages about the context, and in the log
  /// The device that computes: "cpu" or "gpu", as devices() names them. An unknown or unusable one
  /// is not_supported. Empty: the two preferences below choose.
  std::string device{};
  /// Only high_performance looks for GPUs, as devices() does. If none can be used, the processor
  /// computes, and Context::accelerated() is false.
  PowerPreference power_preference = PowerPreference::automatic;
  bool accelerated = true;  ///< false prefers the processor, with every power preference
  /// Follows the specification strictly. Inputs, constants and tensors of int4 and uint4 are
  /// refused (type_error), and op_support_limits() omits both types. The builder refuses top_k()
  /// and scatter_reduce(). A dispatch may use each tensor only once.
  bool strict = false;
  /// Features that are only proposed to the specification: "dynamic-dimensions" (docs/builder.md).
  /// They may change with every version of the library. An unknown name is not_supported.
  std::vector<std::string> features{};
  /// Cores that the context's dispatches use together. A dispatch alone shares its work among all
  /// of them; those of many lanes have one each. The number never changes a bit of the results. 0:
  /// usable_cores(), or 1 if the device works by itself. At most 1024. `threads` and `lanes` are
  /// for those who want to pin the shares: see docs/performance.md.
  int cores = 0;
  /// Threads that share the work of one dispatch, including the lane's own. 0: the lane's own, and
  /// those of the `cores` that no other dispatch needs. At most 1024 over all lanes together.
  int threads = 0;
  /// Device actors that work in parallel: independent operations run at the same time. 0: one for
  /// each of the `cores` (for each `threads` of them), at most 16. The number never changes
  /// results. At most 256.
  int lanes = 1;
  /// The most operations in flight. Each write, read, dispatch, compute, create, export (until
  /// granted) and build (until built) is one.
  std::uint64_t max_in_flight = 4096;
  /// The behaviour of a call that meets this limit.
  AdmissionPolicy admission = AdmissionPolicy::block;
  /// The most bytes of tensors, plans and writes in flight together. Beyond it, calls that create
  /// something reject with out_of_memory. A write whose copy does not fit waits until the device
  /// takes its bytes directly from the caller (with AdmissionPolicy::fail only if nothing else is
  /// in flight). The default is of this context alone: several may together exceed the memory.
  std::uint64_t memory_limit = default_memory_limit();
};

/// A device for ContextOptions::device.
struct DeviceInfo {
  std::string name;                ///< the value for ContextOptions::device
  std::string description;         ///< processor, instruction set, library
  bool available = false;          ///< create_context() accepts it now
  std::string unavailable_reason;  ///< the reason if it is not available
  /// WebNN's names of the operators that the device itself may compute; empty if it is not
  /// available. The processor computes all others: see docs/devices.md.
  std::vector<std::string> operators;
};

/// The devices of this machine, including unavailable ones with the reason. Looks for GPUs, which
/// loads every OpenCL driver of the machine; creating a CPU context does not. Throws out_of_memory.
/// Thread-safe.
std::vector<DeviceInfo> devices();

/// Actors that have not ended yet, with the work that they hold.
struct RemainingActor {
  std::string actor;      ///< "device of context 'main'"
  std::size_t count = 1;  ///< number of actors with the same name and work
  /// The work: "dispatch (ticket 12)", "build of graph #3". Empty: only unread messages.
  std::string holds;
};

/// The owner of the library's threads. Dropping it calls shutdown() without a time limit. That is
/// legal at any moment and on any thread, also with work in flight and handles alive; the handles
/// then refuse every call with invalid_state. In a callback the destructor does not wait for
/// callbacks. May be a static variable. Thread-safe.
///
/// A forked child has the runtime's memory but none of its threads. There every call throws or
/// rejects with invalid_state, pending futures too, and dropping the runtime does nothing. Make a
/// new Runtime in the child.
class Runtime {
 public:
  /// Starts the threads. Throws type_error (scheduler_threads below 0 or above 1024), out_of_memory
  /// (also if the system refuses a thread).
  explicit Runtime(const RuntimeOptions& options = {});
  /// For make_runtime(): see polychron/caf.hpp.
  explicit Runtime(std::shared_ptr<detail::RuntimeState> state);
  /// Calls shutdown() without a time limit.
  ~Runtime();
  /// Leaves the other without a runtime: its create_context() rejects with type_error.
  Runtime(Runtime&&) noexcept;
  /// Shuts down its own runtime first, and waits for that.
  Runtime& operator=(Runtime&&) noexcept;

  /// A new context. Rejects with not_supported (no such device), type_error (threads or lanes out
  /// of range), out_of_memory (also if the system refuses a thread).
  template <ArgumentOf<ContextOptions> Options = ContextOptions>
  FutureFrom<Context, Options> create_context(Options&& options) {
    return create_context_with(options);
  }
  /// With default ContextOptions.
  Future<Context> create_context() {
    const ContextOptions options;
    return create_context_with(options);
  }

  /// The number of callbacks that have thrown; 0 for a moved-from runtime.
  std::uint64_t callback_exceptions() const noexcept;

  /// Starts a recording of the actors of all contexts, present and future, and discards the
  /// previous recording. Cheap enough for a server under load (docs/tracing.md).
  /// Context::set_traced() leaves a context out. Throws invalid_state in a forked child.
  void start_trace(const TraceOptions& options = {});
  /// Stops the recording; trace() still gives it.
  void stop_trace() noexcept;
  /// The latest recording as the bytes of a file for `polychron trace`; while recording, everything
  /// up to now. Safe on any thread at any time, also after shutdown(). Throws invalid_state in a
  /// forked child.
  std::vector<std::byte> trace() const;

  /// Loses all contexts (runtime_shutdown) and rejects every pending reply. Queued operations never
  /// run. Waits up to `patience` for running kernels and compilations. Returns the actors that have
  /// not ended; empty if all have. May be called again.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

 private:
  Future<Context> create_context_with(const ContextOptions& options);
  std::shared_ptr<detail::RuntimeState> state_;
};

}  // namespace polychron
