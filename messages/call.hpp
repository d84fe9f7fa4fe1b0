// The calls of a client to a context. A Call is a plain value, which can be serialized
// (messages/wire.hpp). The parts that only this process can hold travel beside it
// (messages/local_part.hpp).
//
// This is the one place that describes each call: its fields and its name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/conditions.hpp"
#include "messages/ids.hpp"
#include "messages/shared/payload.hpp"
#include "ops/graph.hpp"
#include "polychron/error_filter.hpp"
#include "polychron/lease.hpp"

namespace polychron::msg {

/// Create a tensor of zeros, or with `constant` one that keeps these bytes.
struct CreateTensor {
  static constexpr const char* name = "create_tensor";
  TensorId tensor = 0;
  std::string label;
  std::uint64_t bytes = 0;
  PayloadRef constant;
};
/// Replace the contents.
struct WriteTensor {
  static constexpr const char* name = "write";
  TensorId tensor = 0;
  PayloadRef payload;
  std::string label;
  Deadline deadline;
};
/// Copy the contents into the lent buffer.
struct ReadTensor {
  static constexpr const char* name = "read";
  TensorId tensor = 0;
};
/// Answer with the tensor's error at this turn, if any.
struct QueryError {
  static constexpr const char* name = "error";
  TensorId tensor = 0;
};
/// Lease the memory to the caller.
struct LendTensor {
  static constexpr const char* name = "export";
  TensorId tensor = 0;
  LeaseId lease = 0;
  LeaseMode mode = LeaseMode::wait;
};
/// From the lease's holder: give the memory back to the tensor.
struct ReturnLease {
  static constexpr const char* name = "return of a lease";
  TensorId tensor = 0;
  LeaseId lease = 0;
};
struct DestroyTensor {
  static constexpr const char* name = "destroy of a tensor";
  TensorId tensor = 0;
};
/// An error that a call threw already, for the error scopes.
struct Report {
  static constexpr const char* name = "report";
  Error error{ErrorKind::internal, ""};
};
/// Run a graph. The tensors are in the order of its inputs and outputs.
struct Dispatch {
  static constexpr const char* name = "dispatch";
  GraphId graph = 0;
  TensorIds inputs, outputs;
  std::string label;
  Deadline deadline;
  /// The reason why it does not run: the outputs become errored. There may be no such graph then.
  std::optional<Report> refused{};
};
/// Run a graph on the lent buffers.
struct Compute {
  static constexpr const char* name = "compute";
  GraphId graph = 0;
  std::string label;
  Deadline deadline;
};
/// Compile a description, and register it as `graph`: when it is compiled, or with `early` at once.
/// Then dispatches may follow, whose turns come after it is compiled. If it is refused, the graph
/// is invalid.
struct Build {
  static constexpr const char* name = "build";
  GraphId graph = 0;
  std::shared_ptr<const ops::Graph> description;  ///< after compilation: its outline
  bool early = false;
};
struct DestroyGraph {
  static constexpr const char* name = "destroy of a graph";
  GraphId graph = 0;
};
struct PushScope {
  static constexpr const char* name = "push_error_scope";
  ErrorFilter filter = ErrorFilter::validation;
};
/// Give the first error of the innermost scope, once all operations called in it are done.
struct PopScope {
  static constexpr const char* name = "pop_error_scope";
};
/// Set the handler of errors that no scope takes.
struct SetErrorHandler {
  static constexpr const char* name = "on_uncaptured_error";
};
/// List the waiting operations of every lane, with their reasons.
struct AskPending {
  static constexpr const char* name = "pending";
};
/// Reject everything pending, and free everything.
struct DestroyContext {
  static constexpr const char* name = "destroy of the context";
};

using Call = std::variant<Dispatch, WriteTensor, ReadTensor, CreateTensor, QueryError, LendTensor,
                          ReturnLease, DestroyTensor, Compute, Build, DestroyGraph, Report,
                          PushScope, PopScope, SetErrorHandler, AskPending, DestroyContext>;

/// The name of a call, for people.
inline const char* name_of(const Call& call) {
  return std::visit([](const auto& alternative) { return alternative.name; }, call);
}

}  // namespace polychron::msg
