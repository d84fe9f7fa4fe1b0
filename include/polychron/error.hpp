// Errors as values: kind, message, what was being done, to what, and why (a chain of causes).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace polychron {

/// What sort of failure an Error is. The first five are WebNN's exceptions (Web IDL names in
/// parentheses), the rest are a server's.
enum class ErrorKind : std::uint8_t {
  type_error,       ///< an argument is wrong (TypeError)
  invalid_state,    ///< the object is destroyed, built, leased or lost (InvalidStateError)
  not_supported,    ///< this build or device cannot do that (NotSupportedError)
  operation_error,  ///< an operation failed on the device timeline (OperationError)
  quota_exceeded,   ///< an admission limit of the context was met (QuotaExceededError)
  out_of_memory,    ///< an allocation or a memory limit failed; may pass next time
  bad_data,         ///< bytes from outside are malformed: a model, a picture, a file
  graph_invalid,    ///< the failure is inherent in the graph: it will fail each time
  context_lost,     ///< the context's device is gone
  aborted,          ///< cancelled by the caller before it started (AbortError)
  timed_out,        ///< its deadline passed before it started (TimeoutError)
  internal,         ///< a broken promise of this library: please report it
};

/// "type_error", "out_of_memory", ...
std::string_view to_string(ErrorKind kind) noexcept;

/// A failure. A cheap, immutable value: copying shares. Also what the library throws.
/// Thread-safe to read from any number of threads.
class Error : public std::exception {
 public:
  /// Of no operation and no object, without a cause, and as of something that ran. Throws
  /// std::bad_alloc.
  Error(ErrorKind kind, std::string message);

  // -- what it is --------------------------------------------------------------------------------
  /// The sort of this failure; that of the first in the chain is root().kind().
  ErrorKind kind() const noexcept;
  /// The failure itself, without operation, object or cause.
  const std::string& message() const noexcept;
  /// "read", "dispatch", "write", "build", "operator", ...; empty if none applies.
  const std::string& operation() const noexcept;
  /// The label of the operation, or empty.
  const std::string& label() const noexcept;
  /// Position of the operation on its context's timeline; 0 if it has none.
  std::uint64_t ticket() const noexcept;
  /// The object concerned and its label, such as "tensor 'hidden'"; empty if none applies.
  const std::string& object() const noexcept;
  /// False if the operation was never started, because of the cause.
  bool ran() const noexcept;
  /// The error that this one follows from, or nullptr.
  const Error* cause() const noexcept;
  /// The last error of the chain: *this if it has no cause.
  const Error& root() const noexcept;
  /// The whole chain in one line, from here to the root.
  const char* what() const noexcept override;

  // -- the same error, with more said about it
  // -----------------------------------------------------
  /// Of an operation ("read") with its label, and its place on the timeline.
  Error with_operation(std::string operation, std::string label = {},
                       std::uint64_t ticket = 0) const;
  /// Of an object: "tensor 'hidden'".
  Error with_object(std::string object) const;
  /// Following from `cause`. Of a chain of more than 16 only the near end and the root are kept.
  Error caused_by(Error cause) const;
  /// Of an operation that was never started: ran() is false.
  Error not_run() const;

 private:
  struct State;
  explicit Error(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

namespace detail {

/// "out of memory". Made when the library is loaded: to throw it needs no memory.
const Error& out_of_memory_error() noexcept;

/// What `call` throws, as an Error: without memory that is out_of_memory.
template <class F>
auto with_errors(F&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw Error(out_of_memory_error());
  }
}

}  // namespace detail

/// "512 MiB", "1.5 KiB", "64 bytes".
std::string describe_bytes(std::uint64_t bytes);

/// "tensor 'hidden'" with a label, "tensor #7" without.
std::string describe_object(std::string_view type, std::string_view label, std::uint64_t id);

}  // namespace polychron
