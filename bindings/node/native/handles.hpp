// The native objects behind the JavaScript ones.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <polychron/polychron.hpp>
#include <polychron/sessions.hpp>

#include "js.hpp"

namespace webnn {

struct ContextHandle : Handle {
  static constexpr auto own_kind = Kind::context;
  explicit ContextHandle(polychron::Context own) : Handle(own_kind), context(std::move(own)) {}
  void destroy(const Call& call) override;
  polychron::Context context;
};

struct TensorHandle : Handle {
  static constexpr auto own_kind = Kind::tensor;
  TensorHandle(napi_env env, polychron::Tensor own)
      : Handle(own_kind), tensor(std::move(own)), memory(env, tensor.byte_length()) {}
  void destroy(const Call& /*call*/) override {
    tensor.destroy();
    memory.release();
  }
  polychron::Tensor tensor;
  ExternalBytes memory;
};

/// A lease, shared by this handle and the finalizer of the ArrayBuffer over its bytes.
struct LeaseHandle : Handle {
  static constexpr auto own_kind = Kind::lease;
  LeaseHandle(napi_env env, std::shared_ptr<polychron::TensorLease> own, napi_value bytes)
      : Handle(own_kind), lease(std::move(own)) {
    // Weak: the buffer may be collected first.
    check(napi_create_reference(env, bytes, 0, &buffer));
  }
  std::shared_ptr<polychron::TensorLease> lease;
  napi_ref buffer = nullptr;
};

struct GraphHandle : Handle {
  static constexpr auto own_kind = Kind::graph;
  GraphHandle(napi_env env, polychron::Graph own)
      : Handle(own_kind), graph(std::move(own)), memory(env, graph.memory().total()) {}
  void destroy(const Call& /*call*/) override {
    graph.destroy();
    memory.release();
  }
  polychron::Graph graph;
  ExternalBytes memory;
};

struct CancellationHandle : Handle {
  static constexpr auto own_kind = Kind::cancellation;
  CancellationHandle() : Handle(own_kind) {}
  polychron::Cancellation cancellation;
};

struct ModelHandle : Handle {
  static constexpr auto own_kind = Kind::model;
  explicit ModelHandle(polychron::onnx::Model own) : Handle(own_kind), model(std::move(own)) {}
  polychron::onnx::Model model;
};

/// A model's sessions. They own their graphs, whatever JavaScript collects.
struct SessionsHandle : Handle {
  static constexpr auto own_kind = Kind::sessions;
  explicit SessionsHandle(polychron::onnx::Sessions own)
      : Handle(own_kind), sessions(std::move(own)) {}
  void destroy(const Call& /*call*/) override { sessions = {}; }
  polychron::onnx::Sessions sessions;
};

struct SessionHandle : Handle {
  static constexpr auto own_kind = Kind::session;
  explicit SessionHandle(polychron::onnx::Session own)
      : Handle(own_kind), session(std::move(own)) {}
  polychron::onnx::Session session;
};

struct BuilderHandle : Handle {
  static constexpr auto own_kind = Kind::builder;
  explicit BuilderHandle(const polychron::Context& context) : Handle(own_kind), builder(context) {}
  void destroy(const Call& /*call*/) override { builder.destroy(); }
  polychron::GraphBuilder builder;
};

struct OperandHandle : Handle {
  static constexpr auto own_kind = Kind::operand;
  explicit OperandHandle(polychron::Operand own) : Handle(own_kind), operand(std::move(own)) {}
  polychron::Operand operand;
};

}  // namespace webnn
