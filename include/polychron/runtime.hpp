// The runtime: owns the threads on which contexts live.
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

#include "polychron/context.hpp"
#include "polychron/log.hpp"
#include "polychron/trace.hpp"

namespace polychron {

namespace detail {
class RuntimeState;
}

/// Options of a Runtime.
struct RuntimeOptions {
  /// Threads that serve the actors of all contexts (besides one thread a device lane, and one that
  /// compiles, a context; and one that callbacks run on, unless there is an `executor`). 0: half
  /// the cores, at least 2. At most 1024.
  int scheduler_threads = 0;
  /// Runs completion callbacks, handlers and what is co_awaited, each once and in any order: an
  /// event loop, a pool. Called on the library's own threads, so it must not run the task itself
  /// nor block; for asio `[&](auto task) { asio::post(io, std::move(task)); }`. Must outlive the
  /// runtime's handles. Empty: one thread of the library runs them, in the order in which they fell
  /// due.
  std::function<void(std::function<void()>)> executor{};
  /// Hears what a callback throws, where that ran. Nothing else comes of it: contexts live on.
  /// Empty: it is counted only (Runtime::callback_exceptions()).
  std::function<void(std::exception_ptr)> on_callback_exception{};
  /// Hears what there is to tell besides the errors of calls, from `log_level` on: where callbacks
  /// run, a line at a time. It may wait, and what it throws is lost; of more than it keeps up with
  /// it hears some. Empty: nobody does, nothing is printed.
  std::function<void(const LogRecord&)> log{};
  LogLevel log_level = LogLevel::warning;  ///< the least that `log` hears
  /// A thread that waits for a reply (Future::get(), take(), wait()) runs what is small of its
  /// context's work itself in the meantime, instead of waiting until other threads were woken for
  /// it: an awaited call of a tiny graph takes a fraction of the time. Never callbacks, nor what is
  /// not known to be brief (docs/architecture.md, "Helping"); and not with an `executor`, which is
  /// called on the library's threads alone. Off for threads that have little stack to spare.
  bool helping = true;
};

/// Options of a Context, as Runtime::create_context() takes them.
struct ContextOptions {
  std::string label{};  ///< in messages about the context, and in the log
  /// Which device computes: "cpu", or "gpu" where oneDNN was built with a GPU engine (else
  /// not_supported).
  std::string device = "cpu";
  /// As the specification stands: int4 and uint4 are no data types of inputs, constants and tensors
  /// (type_error), and op_support_limits() does not have them; the builder has no top_k(); and a
  /// dispatch is given a tensor once.
  bool strict = false;
  /// Threads that share the work of one dispatch: the lane's, and a team of one less. Results are
  /// the same bits for any number. See docs/performance.md. At most 1024, those of all lanes
  /// together.
  int threads = 1;
  /// Device actors that work side by side, each with `threads` threads. Results are the same for
  /// any number; independent operations run in parallel. At most 256.
  int lanes = 1;
  /// Most operations that may be in flight (every call that sends one: write, read, dispatch,
  /// compute, create, export until it is granted, build until it is built).
  std::uint64_t max_in_flight = 4096;
  /// What a call does that meets this limit.
  AdmissionPolicy admission = AdmissionPolicy::block;
  /// Most bytes of tensors, plans and writes in flight together. What makes something new rejects
  /// with out_of_memory beyond it; a write whose copy does not fit waits until the device takes its
  /// bytes from the caller (with AdmissionPolicy::fail only if nothing else is in flight).
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();
};

/// A device that create_context() can be asked for.
struct DeviceInfo {
  std::string name;                ///< what ContextOptions::device takes
  std::string description;         ///< processor, instruction set, library
  bool available = false;          ///< create_context() takes it, here and now
  std::string unavailable_reason;  ///< why not, if not
};

/// Devices of this machine, also those that are known but not available, with the reason. Looks for
/// GPUs, which loads every OpenCL driver of the machine; to create a CPU context does not.
/// Throws out_of_memory.
std::vector<DeviceInfo> devices();

/// Actors that have not ended yet, and what they are doing.
struct RemainingActor {
  std::string actor;      ///< "device of context 'main'"
  std::size_t count = 1;  ///< of actors that are called so and hold the same
  /// "dispatch (ticket 12)", "build of graph #3". Empty: it has messages left.
  std::string holds;
};

/// Dropping a runtime shuts it down, and waits for the end: shutdown() without a limit. Legal at
/// any moment, also with work in flight and with handles alive, which then refuse every call with
/// invalid_state; and on any thread: in a callback, which it would have to wait for, it does not
/// wait for callbacks. May be a static variable. Thread-safe.
///
/// A process that is forked from the runtime's has its memory, and none of its threads: there every
/// call throws or rejects with invalid_state, pending futures as well, and dropping it does
/// nothing. Make a new Runtime there.
class Runtime {
 public:
  /// Throws type_error (scheduler_threads below 0 or above 1024), out_of_memory (also if the
  /// threads cannot be had).
  explicit Runtime(const RuntimeOptions& options = {});
  /// For embedders: see polychron/caf.hpp.
  explicit Runtime(std::shared_ptr<detail::RuntimeState> state);
  /// shutdown() without a limit.
  ~Runtime();
  /// The other has nothing then: create_context() rejects with type_error.
  Runtime(Runtime&&) noexcept;
  /// Shuts down what it has, and waits for that.
  Runtime& operator=(Runtime&&) noexcept;

  /// Rejects with not_supported (no such device), type_error (threads or lanes out of range),
  /// out_of_memory (also if the threads of its lanes cannot be had).
  Future<Context> create_context(const ContextOptions& options);
  /// With ContextOptions as they are by default.
  Future<Context> create_context() {
    const ContextOptions options;
    return create_context(options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Context> create_context(ContextOptions&& options) {
    return create_context(std::as_const(options));
  }
#endif

  /// How many callbacks have thrown; 0 for a runtime that was moved away.
  std::uint64_t callback_exceptions() const noexcept;

  /// Records from now on what the actors of all contexts do, also of those that are made later, and
  /// forgets what was recorded before. On a server under way, too; costs little (docs/tracing.md).
  /// Contexts can be left out (Context::set_traced). Throws invalid_state in a forked process.
  void start_trace(const TraceOptions& options = {});
  /// What was recorded stays, for trace().
  void stop_trace() noexcept;
  /// What was recorded last, as the bytes of a file that `polychron trace` reads; while it is being
  /// recorded, up to now. Any thread, at any time, also after shutdown(). Throws invalid_state in a
  /// forked process.
  std::vector<std::byte> trace() const;

  /// Its contexts are lost (runtime_shutdown), every pending reply is rejected, nothing that is
  /// queued is carried out, and the running kernels and compilations are waited for, up to
  /// `patience`. Gives what has not ended; empty if all has. May be called again.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

 private:
  std::shared_ptr<detail::RuntimeState> state_;
};

}  // namespace polychron
