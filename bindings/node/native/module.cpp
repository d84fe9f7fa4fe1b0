// The addon: start(makeError, schedule) gives an environment's functions.
#include <array>

#include "calls.hpp"

namespace webnn {

namespace {

napi_value start(napi_env env, napi_callback_info info) {
  std::array<napi_value, 2> given{};
  std::size_t count = given.size();
  napi_value functions = nullptr;
  const std::array properties{
#define WEBNN_FUNCTION(name, function)                                 \
  napi_property_descriptor{name,    nullptr, entry<function>, nullptr, \
                           nullptr, nullptr, napi_enumerable, nullptr}
      WEBNN_FUNCTION("close", close),
      WEBNN_FUNCTION("pump", pump),
      WEBNN_FUNCTION("createContext", create_context),
      WEBNN_FUNCTION("contextLost", context_lost),
      WEBNN_FUNCTION("accelerated", accelerated),
      WEBNN_FUNCTION("limits", limits),
      WEBNN_FUNCTION("destroy", destroy),
      WEBNN_FUNCTION("dispatch", dispatch),
      WEBNN_FUNCTION("createTensor", create_tensor),
      WEBNN_FUNCTION("createConstantTensor", create_constant_tensor),
      WEBNN_FUNCTION("writeTensor", write_tensor),
      WEBNN_FUNCTION("readTensor", read_tensor),
      WEBNN_FUNCTION("readTensorLate", read_tensor_late),
      WEBNN_FUNCTION("createBuilder", create_builder),
      WEBNN_FUNCTION("input", input),
      WEBNN_FUNCTION("dynamicInput", dynamic_input),
      WEBNN_FUNCTION("dynamicReshape", dynamic_reshape),
      WEBNN_FUNCTION("constant", constant),
      WEBNN_FUNCTION("scalar", scalar),
      WEBNN_FUNCTION("constantTensor", constant_tensor),
      WEBNN_FUNCTION("apply", apply),
      WEBNN_FUNCTION("build", build),
      WEBNN_FUNCTION("createCancellation", create_cancellation),
      WEBNN_FUNCTION("cancel", cancel),
      WEBNN_FUNCTION("run", run),
      WEBNN_FUNCTION("loadModel", load_model),
      WEBNN_FUNCTION("createSessions", create_sessions),
      WEBNN_FUNCTION("sessionAt", session_at),
      WEBNN_FUNCTION("runSession", run_session),
      WEBNN_FUNCTION("tensorError", tensor_error),
      WEBNN_FUNCTION("pushErrorScope", push_error_scope),
      WEBNN_FUNCTION("popErrorScope", pop_error_scope),
      WEBNN_FUNCTION("stats", stats),
      WEBNN_FUNCTION("exportTensor", export_tensor),
      WEBNN_FUNCTION("release", release),
      WEBNN_FUNCTION("graphPlan", graph_plan),
      WEBNN_FUNCTION("computeShapes", compute_shapes),
      WEBNN_FUNCTION("prepare", prepare),
      WEBNN_FUNCTION("startTrace", start_trace),
      WEBNN_FUNCTION("stopTrace", stop_trace),
      WEBNN_FUNCTION("trace", trace),
#undef WEBNN_FUNCTION
  };
  try {
    void* present = nullptr;
    check(napi_get_instance_data(env, &present));
    // A module may be evaluated twice in one environment.
    if (present == nullptr) {
      check(napi_get_cb_info(env, info, &count, given.data(), nullptr, nullptr));
      auto environment = std::make_unique<Environment>(env, given[0], given[1]);
      const auto free = [](napi_env, void* data, void*) { delete static_cast<Environment*>(data); };
      check(napi_set_instance_data(env, environment.get(), free, nullptr));
      environment.release();
    }
    check(napi_create_object(env, &functions));
    check(napi_define_properties(env, functions, properties.size(), properties.data()));
  } catch (const Refused&) {
    napi_throw_error(env, nullptr, "webnn cannot start in this environment");
    return nullptr;
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
    return nullptr;
  }
  return functions;
}

}  // namespace

}  // namespace webnn

NAPI_MODULE_INIT() {
  napi_value function = nullptr;
  if (napi_create_function(env, "start", NAPI_AUTO_LENGTH, webnn::start, nullptr, &function) !=
          napi_ok ||
      napi_set_named_property(env, exports, "start", function) != napi_ok)
    return nullptr;
  return exports;
}
