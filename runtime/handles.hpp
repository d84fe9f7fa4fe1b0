// The objects behind the public handles: identity, constant properties, and the port to the
// context.
//
// A handle checks properties that never change, throws for wrong arguments, and submits the rest.
// It owns no bytes and no state of the device. Everything here is thread-safe: fields are written
// before the handle is shared.
#pragma once

#include <memory>

#include "messages/memory.hpp"
#include "messages/shared/id_source.hpp"
#include "messages/shared/lease.hpp"
#include "messages/shared/once.hpp"
#include "polychron/context.hpp"
#include "polychron/graph.hpp"
#include "polychron/tensor.hpp"
#include "runtime/port.hpp"

namespace polychron::detail {

struct ContextHandle {
  /// A handle keeps the runtime's state alive.
  ContextHandle(std::shared_ptr<void> runtime_state, std::shared_ptr<Port> to_context,
                bool is_strict, bool is_accelerated, bool is_dynamic)
      : runtime(std::move(runtime_state)),
        port(std::move(to_context)),
        strict(is_strict),
        accelerated(is_accelerated),
        dynamic(is_dynamic) {}
  ~ContextHandle() { port->destroy(); }
  ContextHandle(const ContextHandle&) = delete;
  ContextHandle& operator=(const ContextHandle&) = delete;

  static const std::shared_ptr<ContextHandle>& of(const Context& context);
  static Context wrap(std::shared_ptr<ContextHandle> handle) { return Context(std::move(handle)); }

  /// Throws the error of calls on a destroyed or lost context.
  void check_alive() const {
    if (port->lost()) throw Error(port->loss());
  }
  /// A promise that is rejected with the context's loss if it is never answered.
  template <class T>
  Promise<T> promise() const {
    return Promise<T>::make(port->origin());
  }

  const std::shared_ptr<void> runtime;
  const std::shared_ptr<Port> port;
  const bool strict;       ///< ContextOptions::strict
  const bool accelerated;  ///< a GPU computes
  const bool dynamic;      ///< graphs may have dynamic dimensions
  msg::IdSource ids;
};

struct TensorHandle {
  TensorHandle(std::shared_ptr<ContextHandle> owner, TensorDescriptor desc,
               const ops::ConstantBytes& constant_bytes = nullptr)
      : context(std::move(owner)),
        id(context->ids.next()),
        descriptor(std::move(desc)),
        constant(constant_bytes),
        is_constant(constant_bytes != nullptr),
        ending_(context->port->prepare_end(msg::DestroyTensor{id})) {}
  ~TensorHandle() { destroy(); }
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;

  /// The handle behind `tensor`; throws type_error for a default-constructed one.
  static const std::shared_ptr<TensorHandle>& of(const Tensor& tensor);
  static Tensor wrap(std::shared_ptr<TensorHandle> handle) { return Tensor(std::move(handle)); }

  std::string name() const { return describe_object("tensor", descriptor.label, id); }
  std::uint64_t bytes() const { return *polychron::byte_length(descriptor); }
  void destroy() {
    if (destroyed.claim()) ending_->send();
  }
  void check_usable(const std::shared_ptr<ContextHandle>& by) const;

  const std::shared_ptr<ContextHandle> context;
  const msg::TensorId id;
  const TensorDescriptor descriptor;
  /// The bytes of a constant tensor, shared with the graphs built from it; expired once the tensor
  /// is gone.
  const std::weak_ptr<const Buffer> constant;
  const bool is_constant;
  msg::Once destroyed;

 private:
  const std::unique_ptr<Port::Ending> ending_;
};

class DynamicGraph;

struct GraphHandle {
  GraphHandle(std::shared_ptr<ContextHandle> owner, std::string graph_label)
      : context(std::move(owner)),
        id(context->ids.next()),
        label(std::move(graph_label)),
        ending_(context->port->prepare_end(msg::DestroyGraph{id})) {}
  ~GraphHandle() { destroy(); }
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;

  static const std::shared_ptr<GraphHandle>& of(const Graph& graph);
  static Graph wrap(std::shared_ptr<GraphHandle> handle) { return Graph(std::move(handle)); }

  std::string name() const { return describe_object("graph", label, id); }
  void destroy();

  const std::shared_ptr<ContextHandle> context;
  const msg::GraphId id;
  const std::string label;
  msg::Built built;  ///< written before the handle is handed out
  /// Of a graph with dynamic dimensions, else null; as `built`.
  std::shared_ptr<DynamicGraph> dynamic;
  msg::Once destroyed;

 private:
  const std::unique_ptr<Port::Ending> ending_;
};

/// The state of a TensorLease. Its destructor returns the memory.
struct LeaseHandle {
  LeaseHandle(std::shared_ptr<TensorHandle> owner, msg::LeaseRef rented)
      : tensor(std::move(owner)),
        id(tensor->context->ids.next()),
        lease(std::move(rented)),
        ending_(tensor->context->port->prepare_end(msg::ReturnLease{tensor->id, id})) {}
  ~LeaseHandle() {
    // In a forked child no thread runs posted callbacks.
    if (!forked()) lease->on_revoked(nullptr);
    if (!submitted) return;
    msg::comes_after(lease->granted.load(std::memory_order_relaxed));
    ending_->send();
  }
  LeaseHandle(const LeaseHandle&) = delete;
  LeaseHandle& operator=(const LeaseHandle&) = delete;

  bool forked() const noexcept { return tensor->context->port->forked(); }

  /// Keeps the tensor alive: dropping its last handle would revoke the lease.
  const std::shared_ptr<TensorHandle> tensor;
  const msg::LeaseId id;
  const msg::LeaseRef lease;
  bool submitted = false;  ///< the context knows the object; written before the handle is shared

 private:
  const std::unique_ptr<Port::Ending> ending_;
};

}  // namespace polychron::detail
