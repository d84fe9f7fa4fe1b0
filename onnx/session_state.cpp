#include "onnx/session_state.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "onnx/problem.hpp"
#include "onnx/sessions_state.hpp"

namespace polychron::onnx::detail {

namespace {

using polychron::detail::FutureAccess;

DispatchOptions conditions_of(const RunOptions& options) {
  return {options.label, options.deadline, options.cancellation};
}

std::set<std::string> names_of(const std::map<std::string, TensorValue>& values) {
  std::set<std::string> names;
  for (const auto& [name, value] : values) names.insert(name);
  return names;
}

template <class Answer>
Answer answer_of(NamedBuffers&& outputs, std::vector<StepProfile>&& steps) {
  if constexpr (std::is_same_v<Answer, Profile>)
    return {std::move(outputs), std::move(steps)};
  else
    return std::move(outputs);
}

/// The callback's captures must not be destroyed at the end of a build, on a thread of the library.
SessionOptions without_callback(SessionOptions options) {
  options.on_warning = nullptr;
  return options;
}

std::string object_of(const std::string& label) { return "model " + quote(label); }

}  // namespace

Error about_model(const Error& error, const std::string& label) {
  return error.object().empty() ? error.with_object(object_of(label)) : error;
}

SessionState::SessionState(const Context& context, Summary summary, Graph graph, std::string label,
                           const SessionOptions& options)
    : context_(context),
      summary_(std::move(summary)),
      graph_(std::move(graph)),
      label_(std::move(label)),
      constants_(names_of(options.constants)),
      spare_buffers_(
          std::make_shared<SpareBuffers>(graph_.outputs().size(), options.max_spare_outputs)),
      spare_tensors_(graph_.outputs().size(), options.max_spare_outputs) {}

Future<Session> SessionState::build(const Context& context, const Model& model,
                                    const SessionOptions& options) {
  const auto label = label_of(options, model);
  try {
    GraphBuilder builder(context);
    const auto outputs =
        import_model(model, builder, {options.bindings, options.constants, options.on_warning});
    // Keeps only the model's summary: the graph has its bytes by then.
    return FutureAccess::transform<Session>(
        builder.build(outputs, {label}), [context, label, kept = without_callback(options),
                                          summary = model.summary()](Result<Graph> graph) {
          if (!graph) throw about_model(graph.error(), label);
          return Session(
              std::make_shared<SessionState>(context, summary, std::move(*graph), label, kept));
        });
  } catch (const Error& error) {
    return polychron::detail::rejected<Future<Session>>(about_model(error, label));
  } catch (const std::bad_alloc&) {
    return polychron::detail::rejected<Future<Session>>(
        Error(ErrorKind::out_of_memory, "out of memory").with_object(object_of(label)));
  }
}

Future<Session> SessionState::settled(const Session& session) {
  const auto promise = Promise<Session>::make(nullptr);
  promise.resolve(session);
  return promise.future();
}

Future<Session> SessionState::make(const Context& context, const Model& model,
                                   const SessionOptions& options) {
  try {
    if (!has_free_dimensions(model.summary(), options)) return build(context, model, options);
    return settled(Session(
        std::make_shared<SessionsState>(context, model, SessionsOptions{.session = options})));
  } catch (const Error& error) {
    return polychron::detail::rejected<Future<Session>>(
        about_model(error, label_of(options, model)));
  }
}

Session SessionState::own(Model model, const SessionOptions& options,
                          const ContextOptions& of_context, const RuntimeOptions& of_runtime) {
  Runtime runtime(of_runtime);
  auto named = of_context;
  if (named.label.empty()) named.label = label_of(options, model);
  const auto context = runtime.create_context(named).get();
  if (has_free_dimensions(model.summary(), options))
    return Session(std::make_shared<SessionsState>(
        context, model, SessionsOptions{.session = options}, std::move(runtime)));
  auto reply = [&](Model gone) { return build(context, gone, options); }(std::move(model));
  auto session = std::move(reply).get();
  session.state_->runtime_ = std::move(runtime);
  return session;
}

Error SessionState::about(const Error& error, const std::string& label) const {
  return error.with_operation("run", label).with_object(object_of(label_));
}

void SessionState::check_inputs(const GivenValues& given, const std::string& label) const {
  try {
    for (const auto& value : given) {
      const std::string name(value.name);
      if (find(graph_.inputs(), name)) continue;
      const auto refuse = [&](const char* why) {
        throw Error(ErrorKind::type_error, "input " + quote(name) + why);
      };
      if (constants_.contains(name)) refuse(" was given a value when the model was imported");
      if (std::ranges::find(summary_.inputs, name, &ValueInfo::name) != summary_.inputs.end())
        refuse(" is not taken: no output depends on it");
    }
    check_given(Side::input, graph_.inputs(), given);
    check_complete(Side::input, graph_.inputs(), given);
  } catch (const Error& error) {
    throw about(error, label);
  }
}

void SessionState::check_outputs(const GivenValues& given, const std::string& label,
                                 bool all) const {
  try {
    check_given(Side::output, graph_.outputs(), given);
    if (all) check_complete(Side::output, graph_.outputs(), given);
  } catch (const Error& error) {
    throw about(error, label);
  }
}

SessionState::Places SessionState::wanted_outputs(const RunOptions& options) const {
  const auto& declared = graph_.outputs();
  Places wanted;
  if (options.outputs.empty()) {
    for (std::size_t i = 0; i < declared.size(); ++i) wanted.push_back(i);
    return wanted;
  }
  check_outputs(look(options.outputs), options.label, false);
  for (const auto& name : options.outputs) wanted.push_back(find(declared, name).value());
  return wanted;
}

template <class Answer>
Future<Answer> SessionState::run(NamedBuffers&& inputs, const RunOptions& options) {
  auto conditions = conditions_of(options);
  conditions.profile = std::is_same_v<Answer, Profile>;
  return send<Answer>(std::move(inputs), wanted_outputs(options), conditions);
}

template Future<NamedBuffers> SessionState::run<NamedBuffers>(NamedBuffers&&, const RunOptions&);
template Future<Profile> SessionState::run<Profile>(NamedBuffers&&, const RunOptions&);

Future<NamedValues> SessionState::run_values(NamedValues&& inputs, const RunOptions& options) {
  const auto& declared = graph_.inputs();
  // The graph does not take inputs without elements: the import used their shapes.
  const auto is_empty = [&](const NamedValue& value) {
    return element_count(value.descriptor.shape) == 0U && !find(declared, value.name) &&
           std::ranges::find(summary_.inputs, value.name, &ValueInfo::name) !=
               summary_.inputs.end();
  };
  GivenValues given;
  for (const auto& value : inputs)
    if (!is_empty(value)) given.push_back(look(value));
  check_inputs(given, options.label);
  auto outputs = wanted_outputs(options);
  NamedBuffers buffers;
  for (auto& value : inputs)
    if (!is_empty(value)) buffers.emplace_back(value.name, Buffer());
  const auto swap = [&]() noexcept {
    auto buffer = buffers.begin();
    for (auto& value : inputs)
      if (buffer != buffers.end() && buffer->first == value.name)
        std::swap((buffer++)->second, value.bytes);
  };
  swap();
  try {
    return FutureAccess::transform<NamedValues>(
        send<NamedBuffers>(std::move(buffers), Places(outputs), conditions_of(options)),
        [outputs, graph = graph_](Result<NamedBuffers> result) {
          NamedValues values;
          for (auto& [name, bytes] : result.value())
            values.push_back(
                {name, graph.outputs()[outputs[values.size()]].second, std::move(bytes)});
          return values;
        });
  } catch (...) {
    swap();
    throw;
  }
}

template <class Answer>
Future<Answer> SessionState::send(NamedBuffers&& inputs, Places&& wanted,
                                  const DispatchOptions& options) {
  process_.check();
  const auto& declared = graph_.outputs();
  // Allocates the answer before anything is sent, so that later only bytes move.
  struct Asked {
    Places wanted;
    std::shared_ptr<SpareBuffers> spares;
    NamedBuffers answer{};
    boost::container::small_vector<bool, 16> is_wanted{};
  };
  auto asked = std::make_shared<Asked>(Asked{std::move(wanted), spare_buffers_});
  asked->is_wanted.resize(declared.size(), false);
  asked->answer.reserve(asked->wanted.size());
  for (const auto i : asked->wanted) {
    asked->answer.emplace_back(declared[i].first, Buffer());
    asked->is_wanted[i] = true;
  }
  NamedBuffers outputs;
  outputs.reserve(declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto bytes = byte_length(declared[i].second).value();
    outputs.emplace_back(declared[i].first, asked->is_wanted[i] ? Buffer::uninitialized(bytes)
                                                                : spare_buffers_->take(i, bytes));
  }
  return FutureAccess::transform<Answer>(
      context_.compute(graph_, std::move(inputs), std::move(outputs), options),
      [asked = std::move(asked)](Result<ComputeResult> result) {
        auto& done = result.value();
        for (std::size_t i = 0; i < asked->wanted.size(); ++i)
          asked->answer[i].second = std::move(done.outputs[asked->wanted[i]].second);
        for (std::size_t i = 0; i < asked->is_wanted.size(); ++i)
          if (!asked->is_wanted[i]) asked->spares->keep(i, std::move(done.outputs[i].second));
        done.status.value();
        return answer_of<Answer>(std::move(asked->answer), std::move(done.profile));
      });
}

void SessionState::dispatch(const NamedTensors& inputs, const NamedTensors& outputs,
                            const DispatchOptions& options) {
  process_.check();
  check_inputs(look(inputs), options.label);
  check_outputs(look(outputs), options.label, false);
  const auto& declared = graph_.outputs();
  if (outputs.size() == declared.size()) return context_.dispatch(graph_, inputs, outputs, options);
  auto all = outputs;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto& [name, descriptor] = declared[i];
    if (std::ranges::find(outputs, name, &NamedTensors::value_type::first) == outputs.end())
      all.emplace_back(
          name, spare_tensors_.next(context_, i, {descriptor, false, false, "spare " + name}));
  }
  context_.dispatch(graph_, inputs, all, options);
}

Future<polychron::Tensor> SessionState::create_tensor(Side side, std::string_view name) {
  const auto& declared = side == Side::input ? graph_.inputs() : graph_.outputs();
  try {
    check_given(side, declared, GivenValues{Given{name, {}, {}, {}}});
  } catch (const Error& error) {
    return polychron::detail::rejected<Future<polychron::Tensor>>(
        error.with_object(object_of(label_)));
  }
  const auto& descriptor = declared[find(declared, name).value()].second;
  const bool is_input = side == Side::input;
  return context_.create_tensor({descriptor, !is_input, is_input, std::string(name)});
}

Future<void> SessionState::warm_up(int at_once) {
  if (at_once < 1)
    throw Error(ErrorKind::type_error, "at_once is 1 or more, got " + std::to_string(at_once))
        .with_object(object_of(label_));
  std::vector<Future<NamedBuffers>> runs;
  for (int i = 0; i < at_once; ++i) {
    NamedBuffers zeros;
    for (const auto& [name, descriptor] : graph_.inputs())
      zeros.emplace_back(name, Buffer(byte_length(descriptor).value()));
    runs.push_back(send<NamedBuffers>(std::move(zeros), {}, {.label = "warm-up"}));
  }
  return FutureAccess::all(std::move(runs));
}

}  // namespace polychron::onnx::detail
