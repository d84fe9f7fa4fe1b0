// The bridge from callers' threads to actors: what the public handles refer to.
//
// A handle checks what never changes, throws for the caller's mistakes, and sends the rest to the
// context's actor. It owns no bytes and no state of the device. Everything here is thread-safe:
// fields are written before the handle is shared, or are atomic.
#pragma once

#include <atomic>
#include <memory>

#include "actors/context.hpp"
#include "polychron/context.hpp"
#include "polychron/graph.hpp"
#include "polychron/tensor.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron::detail {

struct ContextHandle {
  ContextHandle(std::shared_ptr<RuntimeState> runtime_state, actors::EnvironmentRef env,
                context_actor context)
      : runtime(std::move(runtime_state)), environment(std::move(env)), actor(std::move(context)) {}
  ~ContextHandle() { send(msg::destroy_context{}); }
  ContextHandle(const ContextHandle&) = delete;
  ContextHandle& operator=(const ContextHandle&) = delete;

  static const std::shared_ptr<ContextHandle>& of(const Context& context);
  static Context wrap(std::shared_ptr<ContextHandle> handle) { return Context(std::move(handle)); }

  template <class Message>
  void send(Message message) const {
    caf::anon_send(actor, std::move(message));
  }
  /// Throws `error`, and lets the error scopes see it.
  [[noreturn]] void fail(const Error& error) const {
    send(msg::report{error});
    throw Error(error);
  }
  /// Throws what calls on a destroyed or lost context report.
  void check_alive() const {
    if (environment->lost->lost()) throw environment->lost->error();
  }
  /// A promise that is rejected with the loss of the context if that keeps it from being answered.
  template <class T>
  Promise<T> promise() const {
    return Promise<T>::make(environment->lost);
  }
  std::uint64_t new_id() { return next_id.fetch_add(1, std::memory_order_relaxed); }

  const std::shared_ptr<RuntimeState> runtime;
  const actors::EnvironmentRef environment;
  const context_actor actor;
  std::atomic<std::uint64_t> next_id{1};
};

struct TensorHandle {
  TensorHandle(std::shared_ptr<ContextHandle> owner, TensorDescriptor desc,
               std::shared_ptr<const Buffer> constant_bytes = nullptr)
      : context(std::move(owner)),
        id(context->new_id()),
        descriptor(std::move(desc)),
        bytes(*polychron::byte_length(descriptor)),
        constant(std::move(constant_bytes)) {}
  ~TensorHandle() { destroy(); }
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;

  /// The handle behind `tensor`; throws type_error for a default-constructed one.
  static const std::shared_ptr<TensorHandle>& of(const Tensor& tensor);
  static Tensor wrap(std::shared_ptr<TensorHandle> handle) { return Tensor(std::move(handle)); }

  std::string name() const { return describe_object("tensor", descriptor.label, id); }
  /// Constant tensors have no device side: their bytes are shared with the graphs that use them.
  void destroy() {
    if (!destroyed.exchange(true) && !constant) context->send(msg::drop_tensor{id});
  }
  void check_usable(const std::shared_ptr<ContextHandle>& by) const;

  const std::shared_ptr<ContextHandle> context;
  const msg::TensorId id;
  const TensorDescriptor descriptor;
  const std::uint64_t bytes;
  const std::shared_ptr<const Buffer> constant;
  std::atomic<bool> destroyed{false};
};

struct GraphHandle {
  GraphHandle(std::shared_ptr<ContextHandle> owner, std::string graph_label)
      : context(std::move(owner)), id(context->new_id()), label(std::move(graph_label)) {}
  ~GraphHandle() { destroy(); }
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;

  static const std::shared_ptr<GraphHandle>& of(const Graph& graph);
  static Graph wrap(std::shared_ptr<GraphHandle> handle) { return Graph(std::move(handle)); }

  std::string name() const { return describe_object("graph", label, id); }
  void destroy() {
    if (!destroyed.exchange(true)) context->send(msg::drop_graph{id});
  }

  const std::shared_ptr<ContextHandle> context;
  const msg::GraphId id;
  const std::string label;
  msg::Built built;  ///< written before the handle is handed out
  std::atomic<bool> destroyed{false};
};

/// The flag of a Cancellation, for the messages that carry it.
struct CancellationFlag {
  static std::shared_ptr<const std::atomic<bool>> of(const Cancellation& cancellation) {
    return cancellation.flag_;
  }
};

/// What a TensorLease holds. Returns the memory when it goes.
struct LeaseHandle {
  LeaseHandle(std::shared_ptr<TensorHandle> owner, msg::LeaseRef rented)
      : tensor(std::move(owner)), lease(std::move(rented)) {}
  ~LeaseHandle() {
    lease->on_revoked(nullptr);
    tensor->context->send(msg::return_lease{tensor->id, lease});
  }
  LeaseHandle(const LeaseHandle&) = delete;
  LeaseHandle& operator=(const LeaseHandle&) = delete;

  /// Keeps the tensor alive: a lease whose tensor went with its last handle would be revoked.
  const std::shared_ptr<TensorHandle> tensor;
  const msg::LeaseRef lease;
};

}  // namespace polychron::detail
