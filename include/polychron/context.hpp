// Contexts (WebNN: MLContext): where tensors and graphs live and where work is submitted.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polychron/buffer.hpp"
#include "polychron/cancellation.hpp"
#include "polychron/error_filter.hpp"
#include "polychron/future.hpp"
#include "polychron/graph.hpp"
#include "polychron/lease.hpp"
#include "polychron/limits.hpp"
#include "polychron/log.hpp"
#include "polychron/lost.hpp"
#include "polychron/pending.hpp"
#include "polychron/tensor.hpp"

namespace polychron {

namespace detail {
struct ContextHandle;
}  // namespace detail

/// WebNN's MLNamedTensors: which tensor serves which input or output.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// How Context::dispatch() and Context::compute() go.
struct DispatchOptions {
  std::string label{};  ///< in messages and in errors of the operation
  /// An operation that has not started by then is skipped (timed_out); a call that is still blocked
  /// at an admission limit throws (timed_out).
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// Skips the operation if it is cancelled before it starts (aborted); a blocked call throws.
  std::optional<Cancellation> cancellation = std::nullopt;
  /// compute() takes the time of each step of the plan: ComputeResult::profile.
  bool profile = false;
};

/// What a call does at an admission limit of its context.
enum class AdmissionPolicy : std::uint8_t {
  block,  ///< waits until there is room; who came first is let in first
  fail    ///< fails with quota_exceeded
};

/// How Context::write_tensor() goes.
struct WriteOptions {
  std::string label{};  ///< in messages and in errors of the operation
  /// As of DispatchOptions.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// As of DispatchOptions.
  std::optional<Cancellation> cancellation = std::nullopt;
};

/// Buffers of compute() by name.
using NamedBuffers = std::vector<std::pair<std::string, Buffer>>;

/// The buffer of that name. Throws type_error, with the names that there are, if there is none.
Buffer& buffer_of(NamedBuffers& buffers, std::string_view name);
/// The same buffer, read-only.
const Buffer& buffer_of(const NamedBuffers& buffers, std::string_view name);

/// How long a step of a graph's plan took. Steps are of fused operators, in the plan's order.
struct StepProfile {
  std::string label;           ///< of the operator
  std::string implementation;  ///< of the kernel: "onednn"
  std::string operation;       ///< the rest of its line of Graph::plan(): operators, types, shapes
  double seconds = 0;          ///< that the step took
};

/// What compute() gives back: the caller's buffers, the same memory, and how it went. Also if the
/// context goes meanwhile: once the device lets go of them, if it is at work on them.
struct ComputeResult {
  NamedBuffers inputs;                 ///< as they were given
  NamedBuffers outputs;                ///< filled if `status` is good, else of unspecified content
  Result<void> status;                 ///< the run's error, if it failed
  std::vector<StepProfile> profile{};  ///< if it was asked for
};

/// What a read into the caller's buffer gives back: the buffer, filled if `status` is good, else of
/// unspecified content (the device may have filled it before the read was rejected).
struct ReadResult {
  Buffer buffer;        ///< the caller's, the same memory
  Result<void> status;  ///< what the read was rejected with, if it was
};

/// A snapshot: each number is exact (peak_in_flight is looked at now and then), together they are
/// of no single moment. Bytes of host memory.
struct ContextStats {
  std::uint64_t writes = 0;      ///< calls of write_tensor() that were accepted
  std::uint64_t reads = 0;       ///< calls of read_tensor(), likewise
  std::uint64_t dispatches = 0;  ///< calls of dispatch(), likewise
  std::uint64_t computes = 0;    ///< calls of compute(), likewise
  std::uint64_t exports = 0;     ///< calls of export_tensor(), likewise
  std::uint64_t builds = 0;      ///< calls of GraphBuilder::build(), likewise
  std::uint64_t completed = 0;   ///< operations carried out on the device timeline, with success
  std::uint64_t failed = 0;      ///< operations that ran and failed
  std::uint64_t not_run = 0;     ///< operations refused: errored input, cancelled, late, on lease
  std::uint64_t unheard = 0;     ///< errors too many for scopes and the handler to hear of each
  std::uint64_t in_flight = 0;   ///< operations that have a place: ContextOptions::max_in_flight
  std::uint64_t peak_in_flight = 0;  ///< the most that were seen
  std::uint64_t blocked = 0;         ///< calls that had to wait for admission
  std::uint64_t refused = 0;         ///< calls that were refused admission
  std::uint64_t copies = 0;          ///< times that bytes were copied for a write or a read
  std::uint64_t copied_bytes = 0;    ///< and how many
  std::uint64_t tensors = 0;         ///< alive
  std::uint64_t graphs = 0;          ///< alive
  std::uint64_t bytes = 0;           ///< of tensors, plans and writes: ContextOptions::memory_limit
  std::uint64_t peak_bytes = 0;      ///< the most that there were
  std::vector<RunningOperation> running;  ///< of each busy lane, also while a kernel keeps it
};

/// Handle to a context. Copies are handles to the same context; dropping the last handle to it and
/// to all its tensors, graphs and builders destroys it.
///
/// Order. Calls from one thread take effect in their order; each call is on the content timeline
/// when it returns, and on the device timeline later. A read sees all that was called before it.
/// Errors. Wrong arguments: calls without a reply throw Error (type_error), calls with one reject.
/// A destroyed tensor, graph or context: invalid_state, likewise. What fails later, on the device
/// timeline, puts the tensors it would have written into an errored state, which reads report.
/// Thread-safety. Every method may be called from any thread at any time.
/// Source: https://www.w3.org/TR/webnn/#api-mlcontext
class Context {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Context() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// ContextOptions::label.
  const std::string& label() const;

  // -- tensors -----------------------------------------------------------------------------------
  /// A tensor of zeros. Rejects with type_error (a dimension of 0, rank above max_rank, more than
  /// max_tensor_byte_length bytes), out_of_memory, invalid_state.
  Future<Tensor> create_tensor(const TensorDescriptor& descriptor);
  /// Likewise, in two parts.
  Future<Tensor> create_tensor(const OperandDescriptor& descriptor, const TensorUsage& usage) {
    const TensorDescriptor both{descriptor, usage.readable, usage.writable, usage.label};
    return create_tensor(both);
  }
  /// A descriptor that says it all: which one would count?
  template <std::same_as<TensorDescriptor> D>
  Future<Tensor> create_tensor(const D& descriptor, const TensorUsage& usage) = delete;
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_tensor(TensorDescriptor&& descriptor) {
    return create_tensor(std::as_const(descriptor));
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_tensor(const OperandDescriptor& descriptor, TensorUsage&& usage) {
    return create_tensor(descriptor, std::as_const(usage));
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_tensor(OperandDescriptor&& descriptor, const TensorUsage& usage) {
    return create_tensor(std::as_const(descriptor), usage);
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_tensor(OperandDescriptor&& descriptor, TensorUsage&& usage) {
    return create_tensor(std::as_const(descriptor), std::as_const(usage));
  }
#endif
  /// A tensor that is never written after: for GraphBuilder::constant(). Copies `bytes`. Rejects as
  /// create_tensor(), and with type_error for another byte length.
  Future<Tensor> create_constant_tensor(const OperandDescriptor& descriptor,
                                        std::span<const std::byte> bytes, std::string label = {});
  /// Likewise, but takes `bytes` without a copy; type_error also for a detached Buffer.
  Future<Tensor> create_constant_tensor(const OperandDescriptor& descriptor, Buffer&& bytes,
                                        std::string label = {});
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_constant_tensor(OperandDescriptor&& descriptor,
                                                std::span<const std::byte> bytes,
                                                std::string label = {}) {
    return create_constant_tensor(std::as_const(descriptor), bytes, std::move(label));
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Tensor> create_constant_tensor(OperandDescriptor&& descriptor, Buffer&& bytes,
                                                std::string label = {}) {
    return create_constant_tensor(std::as_const(descriptor), std::move(bytes), std::move(label));
  }
#endif

  /// Replaces the tensor's bytes; copies `bytes` before it returns. Throws type_error (not
  /// writable, another byte length, another context's tensor), invalid_state.
  void write_tensor(const Tensor& tensor, std::span<const std::byte> bytes,
                    const WriteOptions& options = {});
  /// Likewise, but takes the bytes without a copy: the caller's Buffer is detached. When it throws,
  /// the caller keeps the bytes.
  void write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options = {});
  /// Likewise for an array, a vector or a span of elements: of the tensor's type, or std::uint8_t.
  template <Elements R>
  void write_tensor(const Tensor& tensor, const R& values, const WriteOptions& options = {}) {
    check_view(tensor, data_type_v<element_t<R>>);
    write_tensor(tensor, std::as_bytes(std::span(values)), options);
  }

  /// The tensor's bytes after everything called before. Rejects with type_error (not readable,
  /// another context's), invalid_state (destroyed before or meanwhile), or with the tensor's error.
  Future<Buffer> read_tensor(const Tensor& tensor);
  /// Likewise, into the caller's buffer of the tensor's byte length, which always comes back: it
  /// never rejects, but has a ReadResult::status.
  Future<ReadResult> read_tensor(const Tensor& tensor, Buffer&& buffer);
  /// Likewise, into borrowed memory, which must stay valid until the future settles: it is written
  /// at that moment, on the settling thread, and never after a rejection.
  Future<void> read_tensor(const Tensor& tensor, std::span<std::byte> destination);

  /// Rents the tensor's memory out, after everything called before; the tensor must be readable and
  /// writable. Rejects with type_error, invalid_state (destroyed; on lease in LeaseMode::fail),
  /// not_supported (memory that the host cannot reach), or with the tensor's error.
  Future<TensorLease> export_tensor(const Tensor& tensor, LeaseMode mode = LeaseMode::wait);

  // -- graphs ------------------------------------------------------------------------------------
  /// Runs `graph` on the named tensors. Every input and output must be named exactly once, with a
  /// tensor of its descriptor. One tensor may be several inputs (not with ContextOptions::strict);
  /// an output is nothing else. Throws type_error, invalid_state.
  void dispatch(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options = {});

  /// Runs `graph` on buffers that move in and come back, the same memory (WebNN issue 318). Every
  /// input and output must be named once, with a buffer of its byte length. Wrong arguments throw
  /// type_error, and the caller keeps the buffers; what fails later is in ComputeResult::status.
  Future<ComputeResult> compute(const Graph& graph, NamedBuffers&& inputs, NamedBuffers&& outputs,
                                const DispatchOptions& options);
  /// With DispatchOptions as they are by default.
  Future<ComputeResult> compute(const Graph& graph, NamedBuffers&& inputs, NamedBuffers&& outputs) {
    const DispatchOptions options;
    return compute(graph, std::move(inputs), std::move(outputs), options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<ComputeResult> compute(const Graph& graph, NamedBuffers&& inputs,
                                        NamedBuffers&& outputs, DispatchOptions&& options) {
    return compute(graph, std::move(inputs), std::move(outputs), std::as_const(options));
  }
#endif

  // -- errors (as in WebGPU) ---------------------------------------------------------------------
  /// Errors of the calls from here to the matching pop go to this scope, if its filter takes them:
  /// also those that were thrown, and those that come later on the device timeline. An operation
  /// that did not run because of another's error is not reported again. Scopes nest; they belong to
  /// the context, not to a thread.
  void push_error_scope(ErrorFilter filter);
  /// The first error that the innermost scope took, or nullopt, once everything called in it is
  /// done (an export: granted). Rejects with invalid_state if there is no scope, quota_exceeded.
  Future<std::optional<Error>> pop_error_scope();
  /// Called for errors that no scope takes, where the runtime runs callbacks. It may wait, and what
  /// it throws harms nobody; of more errors than it keeps up with it hears some
  /// (ContextStats::unheard). Throws quota_exceeded.
  void on_uncaptured_error(std::function<void(const Error&)> handler);

  /// Tells RuntimeOptions::log, as the library does: for importers and the like. Never waits.
  void log(LogLevel level, std::string_view message) const;

  /// Whether this context's actors are in what its runtime records (Runtime::start_trace): yes,
  /// unless this says no. At once, at any time, on any thread.
  void set_traced(bool on);

  // -- load --------------------------------------------------------------------------------------
  /// At once, also of a context that is gone, and while its lanes are busy.
  ContextStats stats() const;
  /// What has reached a device and is not done, and what it waits for. Each lane answers between
  /// its operations; stats().running tells at once what keeps it.
  Future<std::vector<PendingOperation>> pending();

  /// What each operator accepts (WebNN: opSupportLimits()). Valid for the life of the process; the
  /// same for all contexts that are as strict (ContextOptions::strict).
  /// https://www.w3.org/TR/webnn/#api-mlcontext-opsupportlimits
  const OpSupportLimits& op_support_limits() const;

  // -- the end -----------------------------------------------------------------------------------
  /// Destroys every tensor and graph, rejects every pending reply with invalid_state, and resolves
  /// lost(). Nothing that is queued is carried out. Idempotent.
  void destroy();
  /// Resolves when the context is destroyed or its device is lost. May be asked for repeatedly.
  Future<LostInfo> lost() const;

  /// True for handles to the same context, and for two to nothing.
  friend bool operator==(const Context&, const Context&) = default;

 private:
  friend struct detail::ContextHandle;
  explicit Context(std::shared_ptr<detail::ContextHandle> handle) : handle_(std::move(handle)) {}
  static void check_view(const Tensor& tensor, DataType view);
  std::shared_ptr<detail::ContextHandle> handle_;
};

}  // namespace polychron
