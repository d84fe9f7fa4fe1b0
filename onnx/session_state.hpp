// The state behind a Session.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/given.hpp"
#include "onnx/spare_outputs.hpp"
#include "polychron/session.hpp"

namespace polychron::onnx::detail {

/// SessionOptions::label, or the model's own name.
inline const std::string& label_of(const SessionOptions& options, const Model& model) {
  return options.label.empty() ? model.summary().graph_name : options.label;
}

/// Names the model as the error's object, unless the error has one.
Error about_model(const Error& error, const std::string& label);

/// Written before it is shared, then read-only. Only the spare outputs change.
class SessionState {
 public:
  SessionState(const Context& context, Summary summary, Graph graph, std::string label,
               const SessionOptions& options);
  /// A reply that is there.
  static Future<Session> settled(const Session& session);
  /// With free dimensions a session that builds nothing yet.
  static Future<Session> make(const Context& context, const Model& model,
                              const SessionOptions& options);
  /// Errors of the import and the build name the model of this label.
  static Future<Session> build(const Context& context, const Model& model,
                               const SessionOptions& options);
  static Session own(Model model, const SessionOptions& options, const ContextOptions& of_context,
                     const RuntimeOptions& of_runtime);

  const Context& context() const noexcept { return context_; }
  const Graph& graph() const noexcept { return graph_; }
  const Summary& summary() const noexcept { return summary_; }
  const std::string& label() const noexcept { return label_; }

  /// Throws type_error unless exactly the model's inputs are given, each once and valid.
  void check_inputs(const GivenValues& given, const std::string& label) const;
  /// The same for outputs; with `all` none may be missing.
  void check_outputs(const GivenValues& given, const std::string& label, bool all) const;
  /// `inputs` are already checked. Answer is NamedBuffers or Profile.
  template <class Answer>
  Future<Answer> run(NamedBuffers&& inputs, const RunOptions& options);
  /// Checks types and shapes, too. If it throws, the caller keeps the buffers.
  Future<NamedValues> run_values(NamedValues&& inputs, const RunOptions& options);
  void dispatch(const NamedTensors& inputs, const NamedTensors& outputs,
                const DispatchOptions& options);
  Future<polychron::Tensor> create_tensor(Side side, std::string_view name);
  Future<void> warm_up(int at_once);
  void destroy() { graph_.destroy(); }

 private:
  /// Positions in the graph's outputs; few in each run, so no allocation.
  using Places = boost::container::small_vector<std::size_t, 8>;

  /// Runs the graph. The answer has the outputs at the positions `wanted`, in that order.
  template <class Answer>
  Future<Answer> send(NamedBuffers&& inputs, Places&& wanted, const DispatchOptions& options);
  Places wanted_outputs(const RunOptions& options) const;
  Error about(const Error& error, const std::string& label) const;

  const polychron::detail::Process process_;
  std::optional<Runtime> runtime_;  ///< only of a session with a context of its own; destroyed last
  Context context_;
  const Summary summary_;
  Graph graph_;
  const std::string label_;
  std::set<std::string> constants_;  ///< inputs that were given a value at import
  /// Runs in flight hold only this part of the state.
  const std::shared_ptr<SpareBuffers> spare_buffers_;
  SpareTensors spare_tensors_;
};

}  // namespace polychron::onnx::detail
