// Contexts (WebNN: MLContext): they own tensors and graphs, and run the work that callers submit.
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

#include "polychron/braces.hpp"
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

/// WebNN's MLNamedTensors: the tensor for each input or output, by name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Options of Context::dispatch() and Context::compute().
struct DispatchOptions {
  std::string label{};  ///< in messages and in errors of the operation
  /// The device skips an operation that has not started by then (timed_out). A call that is still
  /// blocked at an admission limit throws (timed_out).
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// Skips the operation if it is cancelled before it starts (aborted); a blocked call throws.
  std::optional<Cancellation> cancellation = std::nullopt;
  /// compute() times each step of the plan: ComputeResult::profile.
  bool profile = false;
};

/// The behaviour of a call at an admission limit of its context.
enum class AdmissionPolicy : std::uint8_t {
  block,  ///< wait until there is room, in order of arrival
  fail    ///< fail with quota_exceeded
};

/// Options of Context::write_tensor().
struct WriteOptions {
  std::string label{};  ///< in messages and in errors of the operation
  /// As in DispatchOptions.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// As in DispatchOptions.
  std::optional<Cancellation> cancellation = std::nullopt;
};

/// Buffers of compute() by name.
using NamedBuffers = std::vector<std::pair<std::string, Buffer>>;

/// The buffer of that name. Throws type_error if there is none; the message lists the names that
/// exist.
Buffer& buffer_of(NamedBuffers& buffers, std::string_view name);
/// The same buffer, read-only.
const Buffer& buffer_of(const NamedBuffers& buffers, std::string_view name);

/// The time that one step of a graph's plan took. A step may fuse several operators.
struct StepProfile {
  std::string label;           ///< of the operator
  std::string implementation;  ///< of the kernel: "onednn"
  std::string operation;       ///< the rest of its line of Graph::plan(): operators, types, shapes
  double seconds = 0;          ///< the time that the step took
};

/// The reply of compute(): the caller's own buffers (the same memory) and the outcome. They come
/// back even if the context is destroyed meanwhile, as soon as the device no longer uses them.
struct ComputeResult {
  NamedBuffers inputs;  ///< as they were given
  /// Filled on success; on failure their content is unspecified.
  NamedBuffers outputs;
  Result<void> status;                 ///< the run's error, if it failed
  std::vector<StepProfile> profile{};  ///< if DispatchOptions::profile asked for it
};

/// The reply of a read into the caller's buffer. On failure the buffer's content is unspecified:
/// the device may have filled it before the read was rejected.
struct ReadResult {
  Buffer buffer;        ///< the caller's, the same memory
  Result<void> status;  ///< the read's error, if it failed
};

/// A snapshot of counters. Each number is exact, except peak_in_flight, which is sampled; the
/// numbers are not all read at the same instant. Bytes are bytes of the device's memory.
struct ContextStats {
  std::uint64_t writes = 0;          ///< calls of write_tensor() that were accepted
  std::uint64_t reads = 0;           ///< calls of read_tensor() that were accepted
  std::uint64_t dispatches = 0;      ///< calls of dispatch() that were accepted
  std::uint64_t computes = 0;        ///< calls of compute() that were accepted
  std::uint64_t exports = 0;         ///< calls of export_tensor() that were accepted
  std::uint64_t builds = 0;          ///< accepted calls of GraphBuilder::build()
  std::uint64_t completed = 0;       ///< operations that succeeded on the device timeline
  std::uint64_t failed = 0;          ///< operations that ran and failed
  std::uint64_t not_run = 0;         ///< never started: errored input, cancelled, late, on lease
  std::uint64_t unheard = 0;         ///< errors dropped: scopes and handler fell behind
  std::uint64_t in_flight = 0;       ///< operations that count against max_in_flight
  std::uint64_t peak_in_flight = 0;  ///< highest sampled in_flight
  std::uint64_t blocked = 0;         ///< calls that waited for admission
  std::uint64_t refused = 0;         ///< calls that were refused admission
  std::uint64_t copies = 0;          ///< times that a write or a read copied bytes
  std::uint64_t copied_bytes = 0;    ///< number of bytes in those copies
  std::uint64_t tensors = 0;         ///< alive
  std::uint64_t graphs = 0;          ///< alive
  std::uint64_t bytes = 0;           ///< of tensors, plans and writes; bounded by memory_limit
  std::uint64_t peak_bytes = 0;      ///< highest value of bytes
  std::vector<RunningOperation> running;  ///< one for each busy lane, even inside a kernel
};

/// Handle to a context. Copies are handles to the same context; dropping the last handle to it and
/// to all its tensors, graphs and builders destroys it.
///
/// Order. Calls from one thread take effect in call order. When a call returns, it is on the
/// content timeline; it reaches the device timeline later. A read sees the effects of all earlier
/// calls.
/// Errors. A call without a reply throws Error; a call with a reply rejects it. Wrong arguments
/// give type_error; a destroyed tensor, graph or context gives invalid_state. An operation that
/// fails later, on the device timeline, puts the tensors that it writes into an errored state,
/// which reads report.
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
  template <ArgumentOf<TensorDescriptor> D = TensorDescriptor>
  FutureFrom<Tensor, D> create_tensor(D&& descriptor) {
    return create_tensor_with(descriptor);
  }
  /// The same, with the descriptor and the usage given separately.
  template <ArgumentOf<OperandDescriptor> D = OperandDescriptor,
            ArgumentOf<TensorUsage> Usage = TensorUsage>
  requires(!ArgumentOf<D, TensorDescriptor>)
      FutureFrom<Tensor, D, Usage> create_tensor(D&& descriptor, Usage&& usage) {
    return detail::with_errors([&] {
      return create_tensor_with({descriptor, usage.readable, usage.writable, usage.label});
    });
  }
  /// Deleted: a TensorDescriptor already has a usage. Passing a second one is ambiguous.
  template <ArgumentOf<TensorDescriptor> D, ArgumentOf<TensorUsage> Usage = TensorUsage>
  Future<Tensor> create_tensor(D&& descriptor, Usage&& usage) = delete;
  /// A tensor that is never written again, for GraphBuilder::constant(). Copies `bytes`. Rejects as
  /// create_tensor() does, and with type_error if the byte length is not the descriptor's.
  template <ArgumentOf<OperandDescriptor> D = OperandDescriptor>
  FutureFrom<Tensor, D> create_constant_tensor(D&& descriptor, std::span<const std::byte> bytes,
                                               std::string label = {}) {
    return create_constant_with(descriptor, bytes, std::move(label));
  }
  /// The same, but takes over `bytes` without a copy. Rejects with type_error also for a detached
  /// Buffer.
  template <ArgumentOf<OperandDescriptor> D = OperandDescriptor>
  FutureFrom<Tensor, D> create_constant_tensor(D&& descriptor, Buffer&& bytes,
                                               std::string label = {}) {
    return create_constant_with(descriptor, std::move(bytes), std::move(label));
  }

  /// Replaces the tensor's bytes; copies `bytes` before it returns. Throws type_error (the tensor
  /// is not writable, has another byte length, or belongs to another context), invalid_state.
  void write_tensor(const Tensor& tensor, std::span<const std::byte> bytes,
                    const WriteOptions& options = {});
  /// The same, but takes over the bytes without a copy: the caller's Buffer is detached. If the
  /// call throws, the caller keeps the bytes.
  void write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options = {});
  /// The same for an array, a vector or a span, whose elements have the tensor's type or are
  /// std::uint8_t.
  template <Elements R>
  void write_tensor(const Tensor& tensor, const R& values, const WriteOptions& options = {}) {
    check_view(tensor, data_type_v<element_t<R>>);
    write_tensor(tensor, std::as_bytes(std::span(values)), options);
  }

  /// The tensor's bytes after all earlier calls. Rejects with type_error (the tensor is not
  /// readable or belongs to another context), invalid_state (destroyed before or meanwhile), or the
  /// tensor's error.
  Future<Buffer> read_tensor(const Tensor& tensor);
  /// The same, into the caller's buffer, which must have the tensor's byte length. The future never
  /// rejects: the buffer always comes back, and ReadResult::status has the error.
  Future<ReadResult> read_tensor(const Tensor& tensor, Buffer&& buffer);
  /// The same, into borrowed memory, which must stay valid until the future settles. The settling
  /// thread writes it at that moment, and never after a rejection.
  Future<void> read_tensor(const Tensor& tensor, std::span<std::byte> destination);

  /// Leases the tensor's memory to the caller after all earlier calls. The tensor must be readable
  /// and writable. Rejects with type_error, invalid_state (destroyed; already on lease in
  /// LeaseMode::fail), not_supported (memory that the host cannot access), or the tensor's error.
  Future<TensorLease> export_tensor(const Tensor& tensor, LeaseMode mode = LeaseMode::wait);

  // -- graphs ------------------------------------------------------------------------------------
  /// Runs `graph` on the named tensors. Every input and output must be named exactly once, with a
  /// tensor of its descriptor. One tensor may serve as several inputs (not with
  /// ContextOptions::strict); an output tensor may serve as nothing else. Throws type_error,
  /// invalid_state.
  void dispatch(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options = {});

  /// Runs `graph` on buffers that move in and come back, without a copy (WebNN issue 318). Every
  /// input and output must be named once, with a buffer of its byte length. Wrong arguments throw
  /// type_error, and the caller keeps the buffers. Later errors are in ComputeResult::status.
  template <ArgumentOf<DispatchOptions> Options = DispatchOptions>
  FutureFrom<ComputeResult, Options> compute(const Graph& graph, NamedBuffers&& inputs,
                                             NamedBuffers&& outputs, Options&& options) {
    return compute_with(graph, std::move(inputs), std::move(outputs), options);
  }
  /// With default DispatchOptions.
  Future<ComputeResult> compute(const Graph& graph, NamedBuffers&& inputs, NamedBuffers&& outputs) {
    const DispatchOptions options;
    return compute_with(graph, std::move(inputs), std::move(outputs), options);
  }

  // -- errors (as in WebGPU) ---------------------------------------------------------------------
  /// Opens an error scope. It takes the errors of all calls up to the matching pop that pass its
  /// filter: thrown ones, and those that occur later on the device timeline. An operation that did
  /// not run because of another one's error is not reported again. Scopes nest, and belong to the
  /// context, not to a thread.
  void push_error_scope(ErrorFilter filter);
  /// Closes the innermost scope and gives the first error that it took, or nullopt. Resolves once
  /// all calls in the scope are done (an export: granted). Rejects with invalid_state if there is
  /// no scope, and with quota_exceeded.
  Future<std::optional<Error>> pop_error_scope();
  /// Sets the handler of errors that no scope takes. It runs where the runtime runs callbacks, and
  /// may wait or throw. If it falls behind, some errors are dropped and counted
  /// (ContextStats::unheard). Throws quota_exceeded.
  void on_uncaptured_error(std::function<void(const Error&)> handler);

  /// Writes a record to RuntimeOptions::log, for importers and other code on top. Never blocks.
  void log(LogLevel level, std::string_view message) const;

  /// Includes this context's actors in its runtime's recordings (Runtime::start_trace), or leaves
  /// them out. They are included by default. Takes effect at once; safe on any thread.
  void set_traced(bool on);

  // -- load --------------------------------------------------------------------------------------
  /// The counters, at once: also of a destroyed context, and while its lanes are busy.
  ContextStats stats() const;
  /// The operations that have reached a device and are not done, with the reason why each waits. A
  /// lane answers between two operations; stats().running shows at once what a lane is running.
  Future<std::vector<PendingOperation>> pending();

  /// The data types and ranks that each operator accepts (WebNN: opSupportLimits()). Valid for the
  /// life of the process. They depend on ContextOptions::strict alone.
  /// https://www.w3.org/TR/webnn/#api-mlcontext-opsupportlimits
  const OpSupportLimits& op_support_limits() const;
  /// True if the context computes on a GPU, whether by name or by preference.
  /// https://www.w3.org/TR/webnn/#dom-mlcontext-accelerated
  bool accelerated() const;

  // -- the end -----------------------------------------------------------------------------------
  /// Destroys every tensor and graph, rejects every pending reply with invalid_state, and resolves
  /// lost(). Queued operations never run. Idempotent.
  void destroy();
  /// Resolves when the context is destroyed or its device is lost. May be called repeatedly.
  Future<LostInfo> lost() const;

  /// True for two handles to the same context, and for two handles to nothing.
  friend bool operator==(const Context&, const Context&) = default;

 private:
  friend struct detail::ContextHandle;
  explicit Context(std::shared_ptr<detail::ContextHandle> handle) : handle_(std::move(handle)) {}
  static void check_view(const Tensor& tensor, DataType view);
  Future<Tensor> create_tensor_with(const TensorDescriptor& descriptor);
  Future<Tensor> create_constant_with(const OperandDescriptor& descriptor,
                                      std::span<const std::byte> bytes, std::string label);
  Future<Tensor> create_constant_with(const OperandDescriptor& descriptor, Buffer&& bytes,
                                      std::string label);
  Future<ComputeResult> compute_with(const Graph& graph, NamedBuffers&& inputs,
                                     NamedBuffers&& outputs, const DispatchOptions& options);
  std::shared_ptr<detail::ContextHandle> handle_;
};

}  // namespace polychron
