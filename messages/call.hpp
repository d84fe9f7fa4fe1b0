// WHAT a client may ask of a context: a Call is a plain value, and can be written down
// (messages/wire.hpp). What only this process can hold goes beside it (messages/local_part.hpp).
//
// Each alternative is described once, here: its fields and what it is called.
#pragma once

#include <memory>
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

/// A new tensor, of zeros; or with `constant` one that keeps these bytes.
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
/// Copy the contents into what was lent for it.
struct ReadTensor {
  static constexpr const char* name = "read";
  TensorId tensor = 0;
};
/// Tell the error that the tensor has by then, if any.
struct QueryError {
  static constexpr const char* name = "error";
  TensorId tensor = 0;
};
/// Rent the memory out.
struct LendTensor {
  static constexpr const char* name = "export";
  TensorId tensor = 0;
  LeaseId lease = 0;
  LeaseMode mode = LeaseMode::wait;
};
/// By the holder: the memory is the tensor's again.
struct ReturnLease {
  static constexpr const char* name = "return of a lease";
  TensorId tensor = 0;
  LeaseId lease = 0;
};
struct DestroyTensor {
  static constexpr const char* name = "destroy of a tensor";
  TensorId tensor = 0;
};
/// Run a graph. The tensors are in the order of its inputs and outputs.
struct Dispatch {
  static constexpr const char* name = "dispatch";
  GraphId graph = 0;
  TensorIds inputs, outputs;
  std::string label;
  Deadline deadline;
};
/// Run a graph on the buffers that were lent for it.
struct Compute {
  static constexpr const char* name = "compute";
  GraphId graph = 0;
  std::string label;
  Deadline deadline;
};
/// Compile a description, and make it known as `graph`.
struct Build {
  static constexpr const char* name = "build";
  GraphId graph = 0;
  std::shared_ptr<const ops::Graph> description;  ///< once it is compiled its outline
};
struct DestroyGraph {
  static constexpr const char* name = "destroy of a graph";
  GraphId graph = 0;
};
/// An error that was thrown already: error scopes see it too.
struct Report {
  static constexpr const char* name = "report";
  Error error{ErrorKind::internal, ""};
};
struct PushScope {
  static constexpr const char* name = "push_error_scope";
  ErrorFilter filter = ErrorFilter::validation;
};
/// Give the first error of the innermost scope, once all operations called in it are done.
struct PopScope {
  static constexpr const char* name = "pop_error_scope";
};
/// Who hears errors that no scope takes.
struct SetErrorHandler {
  static constexpr const char* name = "on_uncaptured_error";
};
/// What every lane has, and what keeps it waiting.
struct AskPending {
  static constexpr const char* name = "pending";
};
/// Everything pending is rejected, everything is freed.
struct DestroyContext {
  static constexpr const char* name = "destroy of the context";
};

using Call = std::variant<Dispatch, WriteTensor, ReadTensor, CreateTensor, QueryError, LendTensor,
                          ReturnLease, DestroyTensor, Compute, Build, DestroyGraph, Report,
                          PushScope, PopScope, SetErrorHandler, AskPending, DestroyContext>;

/// What a call is called, for people.
inline const char* name_of(const Call& call) {
  return std::visit([](const auto& alternative) { return alternative.name; }, call);
}

}  // namespace polychron::msg
