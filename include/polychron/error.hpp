// Errors as values: kind, message, operation, object, and a chain of causes.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace polychron {

/// The kind of a failure. The first five are WebNN's exceptions (Web IDL names in parentheses);
/// servers need the rest.
enum class ErrorKind : std::uint8_t {
  type_error,       ///< an argument is wrong (TypeError)
  invalid_state,    ///< the object is destroyed, built, leased or lost (InvalidStateError)
  not_supported,    ///< this build or device cannot do it (NotSupportedError)
  operation_error,  ///< an operation failed on the device timeline (OperationError)
  quota_exceeded,   ///< an admission limit of the context was reached (QuotaExceededError)
  out_of_memory,    ///< an allocation failed or a memory limit was reached; a retry may succeed
  bad_data,         ///< bytes from outside are malformed: a model, a picture, a file
  graph_invalid,    ///< the graph itself is at fault: a retry fails again
  context_lost,     ///< the context's device is gone
  aborted,          ///< cancelled by the caller before it started (AbortError)
  timed_out,        ///< its deadline passed before it started (TimeoutError)
  internal,         ///< a bug in this library: please report it
};

/// "type_error", "out_of_memory", ...
std::string_view to_string(ErrorKind kind) noexcept;

/// A failure: the type that the library throws and that replies carry. A cheap, immutable value:
/// copies share their state. Any number of threads may read it.
class Error : public std::exception {
 public:
  /// An error without operation, object or cause, with ran() true. Throws std::bad_alloc.
  Error(ErrorKind kind, std::string message);

  // -- what it is --------------------------------------------------------------------------------
  /// The kind of this failure. root().kind() is that of the original one.
  ErrorKind kind() const noexcept;
  /// The message alone, without operation, object or cause.
  const std::string& message() const noexcept;
  /// "read", "dispatch", "write", "build", "operator", ...; empty if none applies.
  const std::string& operation() const noexcept;
  /// The label of the operation, or empty.
  const std::string& label() const noexcept;
  /// Position of the operation on its context's timeline; 0 if it has none.
  std::uint64_t ticket() const noexcept;
  /// The type and label of the object concerned, such as "tensor 'hidden'"; empty if none applies.
  const std::string& object() const noexcept;
  /// False if the operation never started, because of the cause.
  bool ran() const noexcept;
  /// The error that caused this one, or nullptr.
  const Error* cause() const noexcept;
  /// The last error of the chain: *this if it has no cause.
  const Error& root() const noexcept;
  /// The whole chain in one line, from here to the root.
  const char* what() const noexcept override;

  // -- the same error, with more said about it
  // -----------------------------------------------------
  /// With an operation ("read"), its label, and its position on the timeline.
  Error with_operation(std::string operation, std::string label = {},
                       std::uint64_t ticket = 0) const;
  /// With an object: "tensor 'hidden'".
  Error with_object(std::string object) const;
  /// With a cause. A chain of more than 16 errors keeps only its nearest ones and the root.
  Error caused_by(Error cause) const;
  /// For an operation that never started: ran() is false.
  Error not_run() const;

 private:
  struct State;
  explicit Error(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

namespace detail {

/// "out of memory". Made when the library is loaded, so that throwing it needs no memory.
const Error& out_of_memory_error() noexcept;

/// Throws an Error; out_of_memory if there is no memory for it.
[[noreturn]] void refuse(ErrorKind kind, std::string_view message);

/// Runs `call`, and turns std::bad_alloc into Error (out_of_memory).
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
