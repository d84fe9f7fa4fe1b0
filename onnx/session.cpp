// Session's calls: each forwards to the state that its copies share.
#include "polychron/session.hpp"

#include <utility>

#include "onnx/problem.hpp"
#include "onnx/session_state.hpp"
#include "onnx/sessions_state.hpp"

namespace polychron::onnx {

namespace {

using detail::SessionState;
using detail::Side;
using polychron::detail::with_errors;

/// Without a label, a file's model gets the name of the file.
SessionOptions labelled(SessionOptions options, const std::filesystem::path& model) {
  if (options.label.empty()) options.label = model.stem().string();
  return options;
}

/// Drops the model before its graph is compiled; its bytes go once the plan has its own copy.
Future<Session> build_file(const Context& context, const std::filesystem::path& model,
                           const SessionOptions& options) {
  return Session::build(context, load(model), labelled(options, model));
}

/// A run with a braced list. If it throws, the caller keeps its buffers.
template <class Answer>
Future<Answer> run_list(SessionState& state, std::initializer_list<Input> inputs,
                        const RunOptions& options) {
  return with_errors([&] {
    state.check_inputs(detail::GivenInputs::look(inputs), options.label);
    auto buffers = detail::GivenInputs::take(inputs);
    try {
      return state.run<Answer>(std::move(buffers), options);
    } catch (...) {
      detail::GivenInputs::give_back(inputs, buffers);
      throw;
    }
  });
}

template <class Answer>
Future<Answer> run_buffers(SessionState& state, NamedBuffers&& inputs, const RunOptions& options) {
  return with_errors([&] {
    state.check_inputs(detail::look(inputs), options.label);
    return state.run<Answer>(std::move(inputs), options);
  });
}

}  // namespace

Session::Session(const Context& context, const std::filesystem::path& model,
                 const SessionOptions& options)
    : Session(with_errors([&] { return build_file(context, model, options).get(); })) {}

Session::Session(const Context& context, const Model& model, const SessionOptions& options)
    : Session(with_errors([&] { return build(context, model, options).get(); })) {}

Session::Session(const std::filesystem::path& model, const SessionOptions& options,
                 const ContextOptions& of_context, const RuntimeOptions& of_runtime)
    : Session(with_errors([&] {
        return SessionState::own(load(model), labelled(options, model), of_context, of_runtime);
      })) {}

Session::Session(const Model& model, const SessionOptions& options,
                 const ContextOptions& of_context, const RuntimeOptions& of_runtime)
    : Session(
          with_errors([&] { return SessionState::own(model, options, of_context, of_runtime); })) {}

Future<Session> Session::build_with(const Context& context, const Model& model,
                                    const SessionOptions& options) {
  return with_errors([&] { return SessionState::make(context, model, options); });
}

void Session::check() const {
  if (!*this)
    polychron::detail::refuse(
        ErrorKind::type_error,
        "this Session refers to nothing: it was default-constructed or moved away");
}

SessionState& Session::state() const {
  check();
  if (shapes_) with_errors([&] { shapes_->refuse_free(); });
  return *state_;
}

bool Session::any_shape() const {
  check();
  return shapes_ != nullptr;
}

Future<Session> Session::at(const std::map<std::string, Shape>& bindings) const {
  check();
  if (shapes_) return shapes_->get(bindings, true);
  if (!bindings.empty())
    polychron::detail::refuse(ErrorKind::type_error, "session " + detail::quote(label()) +
                                                         " has no free dimension to bind");
  return SessionState::settled(*this);
}

const std::string& Session::label() const {
  check();
  return shapes_ ? shapes_->label() : state_->label();
}
const Summary& Session::summary() const {
  check();
  return shapes_ ? shapes_->summary() : state_->summary();
}
const NamedDescriptors& Session::inputs() const { return state().graph().inputs(); }
const NamedDescriptors& Session::outputs() const { return state().graph().outputs(); }
const Graph& Session::graph() const { return state().graph(); }
Context Session::context() const {
  check();
  return shapes_ ? shapes_->context() : state_->context();
}

Future<NamedBuffers> Session::run_with(std::initializer_list<Input> inputs,
                                       const RunOptions& options) const {
  return run_list<NamedBuffers>(state(), inputs, options);
}

Future<NamedBuffers> Session::run_with(NamedBuffers&& inputs, const RunOptions& options) const {
  return run_buffers<NamedBuffers>(state(), std::move(inputs), options);
}

Future<NamedValues> Session::run_with(NamedValues&& inputs, const RunOptions& options) const {
  check();
  return with_errors([&] {
    return shapes_ ? shapes_->run(std::move(inputs), options)
                   : state_->run_values(std::move(inputs), options);
  });
}

Future<Profile> Session::profile_with(std::initializer_list<Input> inputs,
                                      const RunOptions& options) const {
  return run_list<Profile>(state(), inputs, options);
}

Future<Profile> Session::profile_with(NamedBuffers&& inputs, const RunOptions& options) const {
  return run_buffers<Profile>(state(), std::move(inputs), options);
}

Future<ComputeResult> Session::compute_with(NamedBuffers&& inputs, NamedBuffers&& outputs,
                                            const DispatchOptions& options) const {
  return with_errors([&] {
    state().check_inputs(detail::look(inputs), options.label);
    state().check_outputs(detail::look(outputs), options.label, true);
    return context().compute(graph(), std::move(inputs), std::move(outputs), options);
  });
}

void Session::dispatch(const NamedTensors& inputs, const NamedTensors& outputs,
                       const DispatchOptions& options) const {
  with_errors([&] { state().dispatch(inputs, outputs, options); });
}

Future<Tensor> Session::create_input_tensor(std::string_view name) const {
  return with_errors([&] { return state().create_tensor(Side::input, name); });
}

Future<Tensor> Session::create_output_tensor(std::string_view name) const {
  return with_errors([&] { return state().create_tensor(Side::output, name); });
}

Future<void> Session::warm_up(int at_once) const {
  return with_errors([&] { return state().warm_up(at_once); });
}

void Session::destroy() const {
  check();
  shapes_ ? shapes_->destroy() : state_->destroy();
}

}  // namespace polychron::onnx
