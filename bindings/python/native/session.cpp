// ONNX models of any shape: a run takes the session of its inputs' shapes.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include <polychron/sessions.hpp>

#include "array.hpp"
#include "errors.hpp"
#include "modules.hpp"

namespace binding {

using namespace polychron;

namespace {

using Bindings = std::map<std::string, Shape>;

/// Loads on the worker's thread.
template <class F>
Future<onnx::Model> load_with(F load) {
  const Promise<onnx::Model> promise;
  worker()([promise, load] {
    try {
      promise.resolve(polychron::detail::with_errors(load));
    } catch (const Error& error) {
      promise.reject(error);
    }
  });
  return promise.future();
}

std::unique_ptr<Pending> load_model(const nb::object& source) {
  const auto convert = [](onnx::Model model) { return nb::cast(std::move(model)); };
  if (std::string path; nb::try_cast(source, path))
    return reply(load_with([path = std::filesystem::path(path)] { return onnx::load(path); }),
                 convert);
  const auto bytes = std::make_shared<Buffer>(View(source).copied());
  return reply(load_with([bytes] { return onnx::load({bytes->data(), bytes->size()}); }), convert);
}

/// A run's outputs, and what the session says about them.
struct Ran {
  onnx::Session session;
  NamedBuffers outputs;
};

nb::object arrays_of(const onnx::Session& session, NamedBuffers outputs) {
  const auto& declared = session.summary().outputs;
  nb::dict result;
  for (auto& [name, bytes] : outputs) {
    const auto named = [&](const auto& each) { return each.name == name; };
    const auto info = std::ranges::find_if(declared, named);
    const auto descriptor =
        std::ranges::find(session.outputs(), name, [](const auto& each) { return each.first; });
    const bool flags = info != declared.end() && info->type == "bool";
    result[nb::cast(name)] = array_of(std::move(bytes), descriptor->second, flags);
  }
  return result;
}

class Sessions {
 public:
  Sessions(const Context& context, const onnx::Model& model, const std::string& label,
           const Bindings& bindings, std::size_t most)
      : what_("run of '" + label + "'"), model_(model), bindings_(bindings) {
    for (const auto& input : summary().inputs) names_.push_back(nb::cast(input.name));
    onnx::SessionsOptions options;
    options.session.label = label;
    options.session.bindings = bindings;
    options.most = most;
    options.executor = worker();
    sessions_ = onnx::Sessions(context, model, options);
  }

  const onnx::Summary& summary() const { return model_.summary(); }
  void destroy() {
    sessions_ = {};
    last_ = {};
  }

  std::unique_ptr<Pending> prepare(const Bindings& bindings) {
    return reply(sessions_.get(bindings), [](const onnx::Session&) { return nb::none(); });
  }

  /// Lends the inputs' memory to the run, and waits.
  nb::dict run(const nb::dict& inputs, const std::vector<std::string>& outputs,
               const std::string& label, std::optional<double> timeout) {
    return nb::borrow<nb::dict>(
        start(inputs, {label, outputs, deadline(timeout), {}}, true)->waited());
  }
  /// Unless `lend`, copies the inputs: the caller may change them before the reply is there.
  std::unique_ptr<Pending> start_run(const nb::dict& inputs,
                                     const std::vector<std::string>& outputs,
                                     const std::string& label, std::optional<double> timeout,
                                     bool lend) {
    return start(inputs, {label, outputs, deadline(timeout), Cancellation()}, lend);
  }

 private:
  struct Given {
    View view;
    Shape shape;
  };
  using Symbols = std::map<std::string, std::uint32_t>;

  std::unique_ptr<Pending> start(const nb::dict& given, const onnx::RunOptions& options, bool lend);
  /// The given inputs, in the model's order. Throws type_error.
  std::vector<Given> checked(const nb::dict& given) const;
  bool fits(const onnx::ValueInfo& input, const Given& given, Symbols& symbols) const;

  const std::string what_;  ///< for errors
  const onnx::Model model_;
  const Bindings bindings_;
  std::vector<nb::object> names_;  ///< of the inputs, as str
  onnx::Sessions sessions_;
  /// The last run's shapes and session.
  std::vector<Shape> last_shapes_;
  onnx::Session last_;
};

std::string names_of(const std::vector<onnx::ValueInfo>& values) {
  std::string names;
  for (const auto& value : values) names += (names.empty() ? "'" : ", '") + value.name + "'";
  return names;
}

std::vector<Sessions::Given> Sessions::checked(const nb::dict& given) const {
  const auto& declared = summary().inputs;
  std::vector<Given> result;
  result.reserve(declared.size());
  Symbols symbols;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto refuse_input = [&](const std::string& why) {
      refuse(what_ + ": input '" + declared[i].name + "'" + why);
    };
    auto* const value = PyDict_GetItemWithError(given.ptr(), names_[i].ptr());
    if (value == nullptr) refuse_input(" is missing");
    View view{nb::handle(value)};
    auto shape = view.shape();
    result.push_back({std::move(view), std::move(shape)});
    const auto& made = result.back();
    if (!fits(declared[i], made, symbols))
      refuse_input(": expected " + to_string(declared[i]) + ", got " + made.view.text());
  }
  if (given.size() > declared.size())
    for (const auto& [name, value] : given) {
      const auto text = nb::cast<std::string>(nb::str(name));
      if (std::ranges::none_of(declared, [&](const auto& each) { return each.name == text; }))
        refuse(what_ + ": input '" + text + "' is not known, the model has " + names_of(declared));
    }
  return result;
}

bool Sessions::fits(const onnx::ValueInfo& input, const Given& given, Symbols& symbols) const {
  const auto& shape = given.shape;
  bool right = input.data_type && given.view.data_type() == input.data_type;
  if (input.dimensions && right) {
    right = shape.size() == input.dimensions->size();
    for (std::size_t i = 0; right && i < shape.size(); ++i) {
      const auto& dimension = (*input.dimensions)[i];
      if (dimension.value)
        right = *dimension.value == shape[i];
      else if (!dimension.symbol.empty())
        right = symbols.try_emplace(dimension.symbol, shape[i]).first->second == shape[i];
    }
  }
  if (bindings_.empty() || !right) return right;
  const auto bound = bindings_.find(input.name);
  return bound == bindings_.end() || bound->second == shape;
}

std::unique_ptr<Pending> Sessions::start(const nb::dict& given, const onnx::RunOptions& options,
                                         bool lend) {
  release_views();
  if (!sessions_) throw Error(ErrorKind::invalid_state, what_ + ": the session is destroyed");
  for (const auto& name : options.outputs)
    if (std::ranges::none_of(summary().outputs,
                             [&](const auto& each) { return each.name == name; }))
      refuse(what_ + ": output '" + name + "' is not known, the model has " +
             names_of(summary().outputs));
  auto inputs = checked(given);
  std::vector<Shape> shapes;
  NamedBuffers buffers;
  shapes.reserve(inputs.size()), buffers.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& view = inputs[i].view;
    if (!view.bytes().empty())  // else the graph does not have it
      buffers.emplace_back(summary().inputs[i].name, lend ? std::move(view).lent() : view.copied());
    shapes.push_back(std::move(inputs[i].shape));
  }

  if (!last_ || shapes != last_shapes_) {
    Bindings bindings;
    for (std::size_t i = 0; i < shapes.size(); ++i) bindings[summary().inputs[i].name] = shapes[i];
    auto found = sessions_.get(bindings);
    if (!found.ready()) {
      // The run begins where the library runs callbacks.
      const Promise<Ran> promise;
      found.then([promise, options, inputs = std::make_shared<NamedBuffers>(std::move(buffers))](
                     Result<onnx::Session> built) {
        try {
          const auto session = built.value();
          session.run(std::move(*inputs), options)
              .then([promise, session](Result<NamedBuffers> done) {
                if (done)
                  promise.resolve(Ran{session, std::move(done).value()});
                else
                  promise.reject(done.error());
              });
        } catch (const Error& error) {
          promise.reject(error);
        }
      });
      return reply(
          promise.future(), [](Ran ran) { return arrays_of(ran.session, std::move(ran.outputs)); },
          options.cancellation);
    }
    last_ = found.get();
    last_shapes_ = std::move(shapes);
  }
  return reply(
      last_.run(std::move(buffers), options),
      [session = last_](NamedBuffers done) { return arrays_of(session, std::move(done)); },
      options.cancellation);
}

nb::list values_of(const std::vector<onnx::ValueInfo>& values) {
  nb::list result;
  for (const auto& value : values) {
    nb::object shape = nb::none();
    if (value.dimensions) {
      nb::list sizes;
      for (const auto& each : *value.dimensions) {
        if (each.value)
          sizes.append(*each.value);
        else
          sizes.append(each.symbol.empty() ? nb::none() : nb::cast(each.symbol));
      }
      shape = nb::tuple(sizes);
    }
    result.append(nb::make_tuple(value.name, value.type, shape));
  }
  return result;
}

}  // namespace

void bind_sessions(nb::module_& module) {
  module.def("load_model", load_model);
  nb::class_<onnx::Model>(module, "Model").def("name", [](const onnx::Model& model) {
    return model.summary().graph_name;
  });
  nb::class_<Sessions>(module, "Sessions")
      .def(nb::init<const Context&, const onnx::Model&, const std::string&, const Bindings&,
                    std::size_t>())
      .def("inputs", [](const Sessions& own) { return values_of(own.summary().inputs); })
      .def("outputs", [](const Sessions& own) { return values_of(own.summary().outputs); })
      .def("prepare", &Sessions::prepare)
      .def("run", &Sessions::run)
      .def("start_run", &Sessions::start_run)
      .def("destroy", &Sessions::destroy);
}

}  // namespace binding
