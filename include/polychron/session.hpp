// A model that is ready to run: loaded, compiled, and run by the names of its inputs and outputs.
// Link with polychron::onnx.
//
//   const polychron::onnx::Session session(context, "model.onnx", {.bindings = {{"batch", {1}}}});
//   const auto outputs = session.run({{"x", std::vector<float>{1, 2, 3, 4}}}).get();
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polychron/context.hpp"
#include "polychron/onnx.hpp"
#include "polychron/runtime.hpp"

namespace polychron::onnx {

namespace detail {
class SessionState;
struct GivenInputs;
}  // namespace detail

/// A value as the braced list of Session::run() has it: {"x", values}, {"x", std::move(buffer)}. It
/// only refers to what it is given.
class Input {
 public:
  /// Bytes that are taken without a copy once everything is in order: a run() that throws leaves
  /// them where they are.
  Input(std::string_view name, Buffer&& bytes) : name_(name), buffer_(&bytes) {}
  /// Elements that are copied: of the input's type, or std::uint8_t.
  template <Elements R>
  Input(std::string_view name, const R& values)
      : name_(name), copied_(std::as_bytes(std::span(values))), view_(data_type_v<element_t<R>>) {}
  // Such lists are written where they are used: what they refer to may be gone by the next line.
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() = default;

 private:
  friend struct detail::GivenInputs;
  std::string_view name_;
  Buffer* buffer_ = nullptr;  ///< or
  std::span<const std::byte> copied_;
  DataType view_ = DataType::uint8;
};

/// Options of a Session.
struct SessionOptions {
  /// Values of free dimensions: ImportOptions::bindings.
  std::map<std::string, Shape> bindings{};
  /// Inputs whose values are known now: ImportOptions::constants.
  std::map<std::string, TensorValue> constants{};
  /// ImportOptions::on_warning.
  std::function<void(const std::string&)> on_warning{};
  /// Of the graph; in messages. Empty: the file's name without its end, or the model's own name.
  std::string label{};
  /// Of outputs that nobody asks for there are at most so many buffers, and so many tensors, that
  /// later runs use again. As many as runs are at work at once (lanes) is enough.
  std::size_t max_spare_outputs = 2;
};

/// What profile() gives: the outputs, and how long each step of the plan took.
struct Profile {
  NamedBuffers outputs;            ///< as Session::run() gives them
  std::vector<StepProfile> steps;  ///< in the plan's order
};

/// Options of Session::run() and Session::profile().
struct RunOptions {
  std::string label{};  ///< of the run; in messages
  /// Which outputs are wanted, in this order. Empty: all, in the model's.
  std::vector<std::string> outputs{};
  /// As of DispatchOptions.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// As of DispatchOptions.
  std::optional<Cancellation> cancellation = std::nullopt;
};

/// Handle to a model on a context. Copies are handles to the same session; dropping the last one
/// destroys it. A default-constructed handle refers to nothing and is refused by every call.
///
/// Names: inputs and outputs are named in any order. What is missing, unknown, given twice, or not
/// of its input's type or length is a type_error that names it, before anything is sent.
///
/// Bytes: buffers move in, and outputs come in buffers that were filled in place, without a copy.
///
/// Order: as of Context. Runs are operations of the session's context, and have their places there.
///
/// Thread-safety: every method may be called from any thread at any time. Any number of runs may be
/// on their way; they run side by side with ContextOptions::lanes.
///
/// The end: what was called before destroy(), or before the last handle went, still runs. Not so
/// with a context of the session's own: that goes with the last handle, and rejects what is
/// pending.
class Session {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Session() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  // -- making one --------------------------------------------------------------------------------
  /// Loads, imports and compiles the model, and waits for that. Throws Error: as load(),
  /// import_model() and GraphBuilder::build() do, with the session's label in it.
  Session(const Context& context, const std::filesystem::path& model,
          const SessionOptions& options = {});
  /// Likewise, of a model that is loaded, which others may share.
  Session(const Context& context, const Model& model, const SessionOptions& options = {});
  /// Likewise, on a runtime and a context of its own, which end with its last handle. Throws also
  /// what Runtime and create_context() refuse.
  explicit Session(const std::filesystem::path& model, const SessionOptions& options = {},
                   const ContextOptions& of_context = {}, const RuntimeOptions& of_runtime = {});
  /// Likewise, of a model that is loaded.
  explicit Session(const Model& model, const SessionOptions& options = {},
                   const ContextOptions& of_context = {}, const RuntimeOptions& of_runtime = {});
  /// Imports the model, and returns while the context compiles it: for several at once. Rejects
  /// with what the constructors throw.
  static Future<Session> build(const Context& context, const Model& model,
                               const SessionOptions& options);
  /// With SessionOptions as they are by default.
  static Future<Session> build(const Context& context, const Model& model) {
    const SessionOptions options;
    return build(context, model, options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  static FutureOfBraces<Session> build(const Context& context, const Model& model,
                                       SessionOptions&& options) {
    return build(context, model, std::as_const(options));
  }
#endif

  // -- what it is --------------------------------------------------------------------------------
  /// SessionOptions::label, or what stands in for it; also the graph's.
  const std::string& label() const;
  /// The model, as its file tells it.
  const Summary& summary() const;
  /// What run() takes, in the model's order; without inputs that were given as constants.
  const NamedDescriptors& inputs() const;
  /// What run() gives, in the model's order.
  const NamedDescriptors& outputs() const;
  /// For what is not offered here: plan(), Context::stats(), error scopes.
  const Graph& graph() const;
  /// The one that it runs on: given, or its own.
  Context context() const;

  // -- running it --------------------------------------------------------------------------------
  /// Runs the model; gives the outputs by name. Throws type_error (see above; an output that is
  /// unknown or named twice), invalid_state, context_lost, out_of_memory, and at an admission limit
  /// as Context::compute() does: the caller then keeps the buffers. Rejects with what goes wrong
  /// later: the run's Error, with its label and its cause.
  Future<NamedBuffers> run(std::initializer_list<Input> inputs, const RunOptions& options) const;
  /// Likewise, of buffers that are taken; if it throws, the caller keeps them.
  Future<NamedBuffers> run(NamedBuffers&& inputs, const RunOptions& options) const;
  /// With RunOptions as they are by default.
  Future<NamedBuffers> run(std::initializer_list<Input> inputs) const {
    const RunOptions options;
    return run(inputs, options);
  }
  /// Likewise.
  Future<NamedBuffers> run(NamedBuffers&& inputs) const {
    const RunOptions options;
    return run(std::move(inputs), options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<NamedBuffers> run(std::initializer_list<Input> inputs,
                                   RunOptions&& options) const {
    return run(inputs, std::as_const(options));
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<NamedBuffers> run(NamedBuffers&& inputs, RunOptions&& options) const {
    return run(std::move(inputs), std::as_const(options));
  }
#endif

  /// Likewise, with the time of each step. A run that nobody takes the time of costs the same as
  /// ever.
  Future<Profile> profile(std::initializer_list<Input> inputs, const RunOptions& options) const;
  /// Likewise, of buffers that are taken; if it throws, the caller keeps them.
  Future<Profile> profile(NamedBuffers&& inputs, const RunOptions& options) const;
  /// With RunOptions as they are by default.
  Future<Profile> profile(std::initializer_list<Input> inputs) const {
    const RunOptions options;
    return profile(inputs, options);
  }
  /// Likewise.
  Future<Profile> profile(NamedBuffers&& inputs) const {
    const RunOptions options;
    return profile(std::move(inputs), options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Profile> profile(std::initializer_list<Input> inputs, RunOptions&& options) const {
    return profile(inputs, std::as_const(options));
  }
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<Profile> profile(NamedBuffers&& inputs, RunOptions&& options) const {
    return profile(std::move(inputs), std::as_const(options));
  }
#endif

  /// Runs the model on buffers of the caller's, all of which come back. As Context::compute().
  Future<ComputeResult> compute(NamedBuffers&& inputs, NamedBuffers&& outputs,
                                const DispatchOptions& options) const;
  /// With DispatchOptions as they are by default.
  Future<ComputeResult> compute(NamedBuffers&& inputs, NamedBuffers&& outputs) const {
    const DispatchOptions options;
    return compute(std::move(inputs), std::move(outputs), options);
  }
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// Likewise: see FutureOfBraces.
  FutureOfBraces<ComputeResult> compute(NamedBuffers&& inputs, NamedBuffers&& outputs,
                                        DispatchOptions&& options) const {
    return compute(std::move(inputs), std::move(outputs), std::as_const(options));
  }
#endif

  /// Runs the model on tensors of its context: one model's output may be the next one's input.
  /// Every input is named; of the outputs those that are wanted. As Context::dispatch(); waits for
  /// the tensors of the others when they are needed for the first time (max_spare_outputs).
  void dispatch(const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options = {}) const;
  /// A writable tensor for dispatch(), with the input's name as its label. Rejects with type_error
  /// (no such name), and as Context::create_tensor() does.
  Future<Tensor> create_input_tensor(std::string_view name) const;
  /// Likewise a readable one, for an output.
  Future<Tensor> create_output_tensor(std::string_view name) const;

  /// Runs the model on zeros, `at_once` times side by side: memory is taken, code is made and
  /// caches are filled before the first request. Resolves when that is over; rejects and throws as
  /// run().
  Future<void> warm_up(int at_once = 1) const;

  /// Refuses new runs (invalid_state); those called before still run. Idempotent.
  void destroy() const;

  /// True for handles to the same session, and for two to nothing.
  friend bool operator==(const Session&, const Session&) = default;

 private:
  friend class detail::SessionState;
  explicit Session(std::shared_ptr<detail::SessionState> state) : state_(std::move(state)) {}
  detail::SessionState& state() const;
  std::shared_ptr<detail::SessionState> state_;
};

}  // namespace polychron::onnx
