// Contexts (WebNN: MLContext): where tensors and graphs live and where work is submitted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/graph.hpp"
#include "polychron/limits.hpp"
#include "polychron/tensor.hpp"

namespace polychron {

namespace detail {
struct ContextHandle;
}

/// WebNN's MLNamedTensors: which tensor serves which input or output.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct DispatchOptions {
  std::string label;
};

struct WriteOptions {
  std::string label;
};

/// WebNN's MLContextLostInfo, with a reason that programs can test.
enum class LostReason : std::uint8_t { destroyed, device_failed, out_of_memory, runtime_shutdown };
std::string_view to_string(LostReason reason) noexcept;
struct LostInfo {
  LostReason reason = LostReason::destroyed;
  std::string message;
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
  Context() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  const std::string& label() const;

  // -- tensors -----------------------------------------------------------------------------------
  /// A tensor of zeros. Rejects with type_error (a dimension of 0, rank above max_rank, more than
  /// max_tensor_byte_length bytes), out_of_memory, invalid_state.
  Future<Tensor> create_tensor(const TensorDescriptor& descriptor);
  /// A tensor that is never written after: for GraphBuilder::constant(). The first copies `bytes`,
  /// the second takes them.
  Future<Tensor> create_constant_tensor(const OperandDescriptor& descriptor,
                                        std::span<const std::byte> bytes, std::string label = {});
  Future<Tensor> create_constant_tensor(const OperandDescriptor& descriptor, Buffer&& bytes,
                                        std::string label = {});

  /// Replaces the tensor's bytes; copies `bytes` before it returns. Throws type_error (not
  /// writable, another byte length, another context's tensor), invalid_state.
  void write_tensor(const Tensor& tensor, std::span<const std::byte> bytes,
                    const WriteOptions& options = {});
  /// Likewise, but takes the bytes without a copy: the caller's Buffer is detached. When it throws,
  /// the caller keeps the bytes.
  void write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options = {});
  /// Likewise for typed values: T must be the tensor's type, or std::uint8_t.
  template <Element T>
  void write_tensor(const Tensor& tensor, std::span<const T> values,
                    const WriteOptions& options = {}) {
    check_view(tensor, data_type_v<T>);
    write_tensor(tensor, std::as_bytes(values), options);
  }
  template <Element T>
  void write_tensor(const Tensor& tensor, const std::vector<T>& values,
                    const WriteOptions& options = {}) {
    write_tensor(tensor, std::span<const T>(values), options);
  }

  /// The tensor's bytes after everything called before. Rejects with type_error (not readable,
  /// another context's), invalid_state (destroyed before or meanwhile), or with the tensor's error.
  Future<Buffer> read_tensor(const Tensor& tensor);

  // -- graphs ------------------------------------------------------------------------------------
  /// Runs `graph` on the named tensors. Every input and output must be named exactly once, with a
  /// tensor of its descriptor; no tensor may be given twice. Throws type_error, invalid_state.
  void dispatch(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options = {});

  /// What each operator accepts (WebNN: opSupportLimits()).
  const OpSupportLimits& op_support_limits() const;

  // -- the end -----------------------------------------------------------------------------------
  /// Destroys every tensor and graph, rejects every pending reply with invalid_state, and resolves
  /// lost(). Idempotent.
  void destroy();
  /// Resolves when the context is destroyed or its device is lost. May be asked for repeatedly.
  Future<LostInfo> lost() const;

  friend bool operator==(const Context&, const Context&) = default;

 private:
  friend struct detail::ContextHandle;
  explicit Context(std::shared_ptr<detail::ContextHandle> handle) : handle_(std::move(handle)) {}
  static void check_view(const Tensor& tensor, DataType view);
  std::shared_ptr<detail::ContextHandle> handle_;
};

}  // namespace polychron
