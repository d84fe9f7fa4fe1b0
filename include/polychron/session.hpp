// A model that is ready to run: loaded and compiled, its inputs and outputs addressed by name. Link
// with polychron::onnx.
//
//   const polychron::onnx::Session session(context, "model.onnx", {.bindings = {{"batch", {1}}}});
//   const auto outputs = session.run({{"x", std::vector<float>{1, 2, 3, 4}}}).get();
//
// Without bindings the same session takes tensors of any shape that fits the model:
//
//   polychron::onnx::NamedValues inputs;
//   inputs.push_back(polychron::onnx::NamedValue::of("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
//   const auto outputs = session.run(std::move(inputs)).get();
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

#include "polychron/braces.hpp"
#include "polychron/context.hpp"
#include "polychron/onnx.hpp"
#include "polychron/runtime.hpp"

namespace polychron::onnx {

namespace detail {
class SessionState;
class SessionsState;
struct GivenInputs;
}  // namespace detail

/// A tensor that a run takes or gives, with its type and shape.
struct NamedValue {
  std::string name;              ///< of the input or output
  OperandDescriptor descriptor;  ///< may have dimensions of 0
  Buffer bytes;                  ///< the elements in row-major order
  /// Copies elements of one of WebNN's types. Throws Error (out_of_memory).
  template <Elements R>
  static NamedValue of(std::string name, Shape shape, const R& values) {
    return {std::move(name),
            {data_type_v<element_t<R>>, std::move(shape)},
            Buffer::copy_of(std::as_bytes(std::span(values)))};
  }
};
/// Tensors in any order.
using NamedValues = std::vector<NamedValue>;

/// An entry in the braced list of Session::run(): {"x", values}, {"x", std::move(buffer)}. It
/// refers to its arguments, and owns nothing.
class Input {
 public:
  /// A buffer that run() takes over without a copy. If run() throws, the caller keeps it.
  Input(std::string_view name, Buffer&& bytes) : name_(name), buffer_(&bytes) {}
  /// Elements that run() copies: of the input's type, or std::uint8_t.
  template <Elements R>
  Input(std::string_view name, const R& values)
      : name_(name), copied_(std::as_bytes(std::span(values))), view_(data_type_v<element_t<R>>) {}
  // Not copyable: the list's arguments may be gone by the next line.
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
  /// Values of free dimensions: ImportOptions::bindings. Dimensions that stay free may differ in
  /// each run.
  std::map<std::string, Shape> bindings{};
  /// Inputs whose values are known now: ImportOptions::constants.
  std::map<std::string, TensorValue> constants{};
  /// ImportOptions::on_warning.
  std::function<void(const std::string&)> on_warning{};
  /// The label of session and graph in messages. Empty: the file's name without its extension, or
  /// the model's own name.
  std::string label{};
  /// The most spare buffers, and the most spare tensors, that the session keeps for outputs that a
  /// run does not ask for. Later runs reuse them. The number of lanes is enough.
  std::size_t max_spare_outputs = 2;
};

/// The reply of Session::profile(): the outputs, and the time of each step of the plan.
struct Profile {
  NamedBuffers outputs;            ///< as in Session::run()
  std::vector<StepProfile> steps;  ///< in the plan's order
};

/// Options of Session::run() and Session::profile().
struct RunOptions {
  std::string label{};  ///< of the run; in messages
  /// The wanted outputs, in this order. Empty: all, in the model's order.
  std::vector<std::string> outputs{};
  /// As in DispatchOptions.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  /// As in DispatchOptions.
  std::optional<Cancellation> cancellation = std::nullopt;
};

/// Handle to a model on a context. Copies are handles to the same session; dropping the last one
/// destroys it. A default-constructed handle refers to nothing: every call refuses it (type_error).
///
/// Names: inputs and outputs may be given in any order. A missing, unknown or repeated name, and a
/// value of the wrong type or length, is a type_error that names it. No operation is sent then.
///
/// Bytes: input buffers move in, and the device fills the output buffers in place, without a copy.
///
/// Free dimensions: a session of a model whose dimensions are not all bound has a graph for each
/// shape that comes, built when it comes first, and keeps the latest 16. It takes NamedValues. All
/// that is about one graph, and every other way to run it, throws type_error: at() gives the
/// session of one shape. Sessions has other limits and more choices.
///
/// Order: as in Context. Runs are operations of the session's context and count against its limits.
///
/// Thread-safety: every method may be called from any thread at any time. Any number of runs may be
/// in flight; they run in parallel on ContextOptions::lanes.
///
/// The end: runs called before destroy(), or before the last handle is dropped, still finish.
/// Exception: a session with a context of its own destroys that with its last handle, which rejects
/// pending runs.
class Session {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Session() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return state_ != nullptr || shapes_ != nullptr; }

  // -- making one --------------------------------------------------------------------------------
  /// Loads, imports and compiles the model, and waits until it is done; with free dimensions it
  /// only loads it. Throws what load(), import_model() and GraphBuilder::build() throw or reject
  /// with; the Error names the session's label.
  Session(const Context& context, const std::filesystem::path& model,
          const SessionOptions& options = {});
  /// The same, for a loaded model, which several sessions may share.
  Session(const Context& context, const Model& model, const SessionOptions& options = {});
  /// The same, on a runtime and a context of its own, which end with the last handle. Also throws
  /// what Runtime and create_context() refuse.
  explicit Session(const std::filesystem::path& model, const SessionOptions& options = {},
                   const ContextOptions& of_context = {}, const RuntimeOptions& of_runtime = {});
  /// The same, for a loaded model.
  explicit Session(const Model& model, const SessionOptions& options = {},
                   const ContextOptions& of_context = {}, const RuntimeOptions& of_runtime = {});
  /// Imports the model and returns while the context compiles it, so that several can compile at
  /// once. Rejects with what the constructors throw.
  template <ArgumentOf<SessionOptions> Options = SessionOptions>
  static FutureFrom<Session, Options> build(const Context& context, const Model& model,
                                            Options&& options) {
    return build_with(context, model, options);
  }
  /// With default SessionOptions.
  static Future<Session> build(const Context& context, const Model& model) {
    const SessionOptions options;
    return build_with(context, model, options);
  }

  // -- what it is --------------------------------------------------------------------------------
  /// SessionOptions::label or its default; also the graph's label.
  const std::string& label() const;
  /// The summary of the model's file.
  const Summary& summary() const;
  /// True if dimensions are free: runs may have any shape that fits summary().
  bool any_shape() const;
  /// The session for these values of its free dimensions, built now or kept from before: as
  /// Sessions::get(). Of a session without free dimensions itself; it then takes no bindings.
  Future<Session> at(const std::map<std::string, Shape>& bindings) const;
  /// The inputs of run(), in the model's order, without those that were given as constants.
  const NamedDescriptors& inputs() const;
  /// The outputs of run(), in the model's order.
  const NamedDescriptors& outputs() const;
  /// The compiled graph, for example for its plan() and memory().
  const Graph& graph() const;
  /// The context that it runs on: the given one, or its own.
  Context context() const;

  // -- running it --------------------------------------------------------------------------------
  /// Runs the model; the reply has the outputs by name. Throws type_error (see Names; an unknown or
  /// repeated output), invalid_state, context_lost, out_of_memory, and at an admission limit what
  /// Context::compute() throws; the caller then keeps the buffers. Rejects with the run's Error,
  /// with its label and its cause.
  template <ArgumentOf<RunOptions> Options = RunOptions>
  FutureFrom<NamedBuffers, Options> run(std::initializer_list<Input> inputs,
                                        Options&& options) const {
    return run_with(inputs, options);
  }
  /// The same, taking over the buffers. If it throws, the caller keeps them.
  template <ArgumentOf<RunOptions> Options = RunOptions>
  FutureFrom<NamedBuffers, Options> run(NamedBuffers&& inputs, Options&& options) const {
    return run_with(std::move(inputs), options);
  }
  /// With default RunOptions.
  Future<NamedBuffers> run(std::initializer_list<Input> inputs) const {
    const RunOptions options;
    return run_with(inputs, options);
  }
  /// With default RunOptions.
  Future<NamedBuffers> run(NamedBuffers&& inputs) const {
    const RunOptions options;
    return run_with(std::move(inputs), options);
  }

  /// The same with types and shapes, which the outputs have, too: for free dimensions, and for all
  /// others. A shape that comes first is built before it runs; its run then rejects with what at()
  /// rejects with, or would throw, and the buffers are gone.
  template <ArgumentOf<RunOptions> Options = RunOptions>
  FutureFrom<NamedValues, Options> run(NamedValues&& inputs, Options&& options) const {
    return run_with(std::move(inputs), options);
  }
  /// With default RunOptions.
  Future<NamedValues> run(NamedValues&& inputs) const {
    const RunOptions options;
    return run_with(std::move(inputs), options);
  }

  /// The same as run(), with the time of each step. Other runs are not slowed down.
  template <ArgumentOf<RunOptions> Options = RunOptions>
  FutureFrom<Profile, Options> profile(std::initializer_list<Input> inputs,
                                       Options&& options) const {
    return profile_with(inputs, options);
  }
  /// The same, taking over the buffers. If it throws, the caller keeps them.
  template <ArgumentOf<RunOptions> Options = RunOptions>
  FutureFrom<Profile, Options> profile(NamedBuffers&& inputs, Options&& options) const {
    return profile_with(std::move(inputs), options);
  }
  /// With default RunOptions.
  Future<Profile> profile(std::initializer_list<Input> inputs) const {
    const RunOptions options;
    return profile_with(inputs, options);
  }
  /// With default RunOptions.
  Future<Profile> profile(NamedBuffers&& inputs) const {
    const RunOptions options;
    return profile_with(std::move(inputs), options);
  }

  /// Runs the model on the caller's buffers, all of which come back, as in Context::compute().
  template <ArgumentOf<DispatchOptions> Options = DispatchOptions>
  FutureFrom<ComputeResult, Options> compute(NamedBuffers&& inputs, NamedBuffers&& outputs,
                                             Options&& options) const {
    return compute_with(std::move(inputs), std::move(outputs), options);
  }
  /// With default DispatchOptions.
  Future<ComputeResult> compute(NamedBuffers&& inputs, NamedBuffers&& outputs) const {
    const DispatchOptions options;
    return compute_with(std::move(inputs), std::move(outputs), options);
  }

  /// Runs the model on tensors of its context, as Context::dispatch() does; the output of one model
  /// may be the input of the next. Name every input, and the wanted outputs. The first call that
  /// leaves outputs out waits for spare tensors to be created (max_spare_outputs).
  void dispatch(const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options = {}) const;
  /// A writable tensor for dispatch(), with the input's name as its label. Rejects with type_error
  /// (no such name), and as Context::create_tensor() does.
  Future<Tensor> create_input_tensor(std::string_view name) const;
  /// A readable tensor for dispatch(), with the output's name as its label.
  Future<Tensor> create_output_tensor(std::string_view name) const;

  /// Runs the model on zeros, `at_once` times in parallel, so that memory, generated code and
  /// caches are ready before the first request. Resolves when all runs are done; throws and rejects
  /// as run().
  Future<void> warm_up(int at_once = 1) const;

  /// Refuses new runs (invalid_state); earlier ones still finish. Idempotent.
  void destroy() const;

  /// True for two handles to the same session, and for two handles to nothing.
  friend bool operator==(const Session&, const Session&) = default;

 private:
  friend class detail::SessionState;
  explicit Session(std::shared_ptr<detail::SessionState> state) : state_(std::move(state)) {}
  explicit Session(std::shared_ptr<detail::SessionsState> shapes) : shapes_(std::move(shapes)) {}
  void check() const;
  detail::SessionState& state() const;
  static Future<Session> build_with(const Context& context, const Model& model,
                                    const SessionOptions& options);
  Future<NamedBuffers> run_with(std::initializer_list<Input> inputs,
                                const RunOptions& options) const;
  Future<NamedBuffers> run_with(NamedBuffers&& inputs, const RunOptions& options) const;
  Future<NamedValues> run_with(NamedValues&& inputs, const RunOptions& options) const;
  Future<Profile> profile_with(std::initializer_list<Input> inputs,
                               const RunOptions& options) const;
  Future<Profile> profile_with(NamedBuffers&& inputs, const RunOptions& options) const;
  Future<ComputeResult> compute_with(NamedBuffers&& inputs, NamedBuffers&& outputs,
                                     const DispatchOptions& options) const;
  std::shared_ptr<detail::SessionState> state_;    ///< or
  std::shared_ptr<detail::SessionsState> shapes_;  ///< with free dimensions
};

}  // namespace polychron::onnx
