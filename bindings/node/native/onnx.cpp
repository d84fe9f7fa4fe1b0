// ONNX models: loaded and imported by the worker thread, compiled and run by a context.
#include <filesystem>
#include <map>
#include <new>

#include <polychron/onnx.hpp>

#include "calls.hpp"
#include "handles.hpp"
#include "run.hpp"

namespace webnn {

using namespace polychron;

namespace {

napi_value null(napi_env env) {
  napi_value result = nullptr;
  check(napi_get_null(env, &result));
  return result;
}

napi_value make_dimension(napi_env env, const onnx::Dimension& dimension) {
  if (dimension.value) return make(env, static_cast<double>(*dimension.value));
  return dimension.symbol.empty() ? null(env) : make(env, std::string_view(dimension.symbol));
}

/// An array of MLModelValue.
napi_value make_values(napi_env env, const std::vector<onnx::ValueInfo>& values) {
  return make_array(env, values, [&](const onnx::ValueInfo& value) {
    const auto dimension = [&](const onnx::Dimension& one) { return make_dimension(env, one); };
    return Object(env)
        .set("name", std::string_view(value.name))
        .set("type", std::string_view(value.type))
        .set("dataType", value.data_type ? make(env, to_string(*value.data_type)) : null(env))
        .set("shape", value.dimensions ? make_array(env, *value.dimensions, dimension) : null(env))
        .raw();
  });
}

/// [[name, size or sizes], ...]
std::map<std::string, Shape> bindings(const Value& pairs) {
  std::map<std::string, Shape> result;
  for (std::uint32_t i = 0; i < pairs.length(); ++i) {
    const auto pair = pairs.at(i);
    const auto sizes = pair.at(1);
    result[pair.at(0).text()] =
        sizes.type() == napi_number ? Shape{sizes.uint32()} : sizes.uint32s();
  }
  return result;
}

/// [handle, inputs, outputs].
napi_value make_session(napi_env env, const onnx::Session& session) {
  const std::vector parts{make(env, std::make_unique<SessionHandle>(session)),
                          make_descriptors(env, session.inputs()),
                          make_descriptors(env, session.outputs())};
  return make_array(env, parts, [](napi_value part) { return part; });
}

/// Loads on the worker's thread.
template <class F>
Future<onnx::Model> load_with(Environment& environment, F load) {
  const Promise<onnx::Model> promise;
  environment.worker().post([promise, load, no_memory = environment.no_memory()] {
    try {
      promise.resolve(load());
    } catch (const Error& error) {
      promise.reject(error);
    } catch (const std::bad_alloc&) {
      promise.reject(no_memory);
    }
  });
  return promise.future();
}

Future<onnx::Model> load(Environment& environment, const Value& model) {
  if (model.type() == napi_string)
    return load_with(environment,
                     [path = std::filesystem::path(model.text())] { return onnx::load(path); });
  // JavaScript may change or take away its own bytes.
  const auto bytes = std::make_shared<Buffer>(Buffer::copy_of(model.bytes()));
  return load_with(environment, [bytes] { return onnx::load({bytes->data(), bytes->size()}); });
}

}  // namespace

/// A promise of [handle, name, inputs, outputs], of a file or of bytes.
napi_value load_model(const Call& call) {
  const auto env = call.env();
  const auto convert = [env](Result<onnx::Model> loaded) {
    const auto& model = loaded.value();
    const auto& summary = model.summary();
    const std::vector parts{make(env, std::make_unique<ModelHandle>(model)),
                            make(env, std::string_view(summary.graph_name)),
                            make_values(env, summary.inputs), make_values(env, summary.outputs)};
    return make_array(env, parts, [](napi_value part) { return part; });
  };
  return call.environment.event(load(call.environment, call[0]), convert, true);
}

napi_value create_sessions(const Call& call) {
  const auto given = call[2];
  onnx::SessionsOptions options;
  options.session.label = given["label"].text();
  options.session.bindings = bindings(given["bindings"]);
  options.most = given["mostShapes"].uint32();
  if (const auto most = given["mostBytes"]; most.present())
    options.most_bytes = static_cast<std::uint64_t>(most.number());
  options.executor = call.environment.executor();
  return make(call.env(),
              std::make_unique<SessionsHandle>(onnx::Sessions(
                  call[0].as<ContextHandle>().context, call[1].as<ModelHandle>().model, options)));
}

/// The session for some bindings, or a promise of it.
napi_value session_at(const Call& call) {
  auto future = call[0].as<SessionsHandle>().sessions.get(bindings(call[1]));
  const auto env = call.env();
  if (future.ready()) return make_session(env, future.get());
  return call.environment.event(
      std::move(future),
      [env](Result<onnx::Session> session) { return make_session(env, session.value()); }, true);
}

napi_value run_session(const Call& call) {
  const auto& session = call[0].as<SessionHandle>().session;
  return run_promise(call.environment, call[3], [&] {
    return session.compute(copied_inputs(session.inputs(), call[1]),
                           lent_outputs(session.outputs(), call[2]),
                           run_options(call[4], call[5], call[6]));
  });
}

}  // namespace webnn
