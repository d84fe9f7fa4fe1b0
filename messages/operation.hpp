// Operations: the work of a lane of the device timeline at one turn. They never leave the process.
//
// This is the one place that describes each operation: its name, its label, and its footprint. The
// footprint is the set of objects that it reads or changes; all ordering follows from it.
#pragma once

#include <string>
#include <type_traits>
#include <variant>

#include "messages/slot.hpp"
#include "messages/stamp.hpp"

namespace polychron::msg::op {

/// Reserve and zero memory, or keep the bytes of a constant tensor.
struct Allocate {
  static constexpr const char* name = "create_tensor";
  TensorRef tensor;
  PayloadRef constant;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), true);
  }
};
/// Replace the contents, and clear the tensor's error.
struct Write {
  static constexpr const char* name = "write";
  TensorRef tensor;
  PayloadRef payload;
  std::string label;
  Conditions conditions;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), true);
  }
};
/// Answer the loan with a copy of the tensor's contents.
struct Read {
  static constexpr const char* name = "read";
  TensorRef tensor;
  ReadRef loan;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), false);
  }
};
/// Tell the tensor's actor that the query's turn has come. By then the actor knows all earlier
/// outcomes.
struct Query {
  static constexpr const char* name = "error";
  TensorRef tensor;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), false);
  }
};
/// Move the memory into the lease; unfinished until the lease ends.
struct Lend {
  static constexpr const char* name = "export";
  TensorRef tensor;
  LeaseRef lease;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), true);
  }
};
/// Free a tensor's memory.
struct Release {
  static constexpr const char* name = "release";
  TensorRef tensor;
  template <class F>
  void touches(F touch) const {
    touch(tensor.get(), true);
  }
};
/// Account for the memory of a compiled graph's plan.
struct Load {
  static constexpr const char* name = "build";
  GraphRef graph;
  template <class F>
  void touches(F touch) const {
    touch(graph.get(), true);
  }
};
/// Run the graph, unless it is invalid or an input is errored.
struct Dispatch {
  static constexpr const char* name = "dispatch";
  GraphRef graph;
  Tensors inputs, outputs;
  std::string label;
  Conditions conditions;
  template <class F>
  void touches(F touch) const {
    touch(graph.get(), false);
    for (const auto& tensor : inputs) touch(tensor.get(), false);
    for (const auto& tensor : outputs) touch(tensor.get(), true);
  }
};
/// Run the graph on the batch's buffers, and answer the loan.
struct Compute {
  static constexpr const char* name = "compute";
  GraphRef graph;
  BatchRef batch;
  std::string label;
  Conditions conditions;
  template <class F>
  void touches(F touch) const {
    touch(graph.get(), false);
  }
};
/// Tag the outputs of a refused operation with its error.
struct Fail {
  static constexpr const char* name = "failed operation";
  Tensors outputs;
  Error error;
  template <class F>
  void touches(F touch) const {
    for (const auto& tensor : outputs) touch(tensor.get(), true);
  }
};
/// Free a graph's plan.
struct Unload {
  static constexpr const char* name = "release of a graph";
  GraphRef graph;
  template <class F>
  void touches(F touch) const {
    touch(graph.get(), true);
  }
};
/// Tell the context once this lane has done its operations from ticket `first` to here. A lease
/// counts as done when it is granted.
struct Fence {
  static constexpr const char* name = "fence";
  std::uint64_t id = 0;
  Ticket first = 0;
  template <class F>
  void touches(F) const {}
};

}  // namespace polychron::msg::op

namespace polychron::msg {

using Operation = std::variant<op::Dispatch, op::Write, op::Read, op::Allocate, op::Query, op::Lend,
                               op::Release, op::Load, op::Compute, op::Fail, op::Unload, op::Fence>;

namespace detail {
template <class... Ops>
constexpr auto names_of(std::type_identity<std::variant<Ops...>>) {
  return std::array<const char*, sizeof...(Ops)>{Ops::name...};
}
}  // namespace detail
/// The name of each kind, for people, by the index of the alternative.
inline constexpr auto operation_names = detail::names_of(std::type_identity<Operation>{});

inline const char* name_of(const Operation& operation) {
  return operation_names[operation.index()];
}

/// A stamp's weight: of a graph run, or of a small operation. `bytes` is the tensor's size.
inline constexpr std::uint64_t weight_of_run = 16;
template <class O>
constexpr std::uint64_t weight_of(std::size_t bytes = 0) {
  constexpr bool runs = std::is_same_v<O, op::Dispatch> || std::is_same_v<O, op::Compute>;
  // A write moves its bytes, without a copy.
  constexpr bool copies = std::is_same_v<O, op::Allocate> || std::is_same_v<O, op::Read>;
  return runs || (copies && bytes > largest_short) ? weight_of_run : 1;
}

/// The tensor or graph concerned, or "".
inline std::string object_of(const Operation& operation) {
  return std::visit(
      [](const auto& o) -> std::string {
        if constexpr (requires { o.tensor; })
          return o.tensor->name();
        else if constexpr (requires { o.graph; })
          return o.graph->name();
        else
          return "";
      },
      operation);
}

/// Calls `touch(Object, bool changes)` for each object in the footprint.
template <class F>
void footprint_of(const Operation& operation, F touch) {
  std::visit([&](const auto& o) { o.touches(touch); }, operation);
}

}  // namespace polychron::msg
