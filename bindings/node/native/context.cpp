// Contexts and dispatches.
#include "calls.hpp"
#include "handles.hpp"

namespace webnn {

using namespace polychron;

namespace {

/// Calls must never block the event loop, so a context admits as many as memory holds.
constexpr std::uint64_t unlimited_in_flight = std::uint64_t{1} << 40;

NamedTensors named_tensors(const Value& names, const Value& handles) {
  NamedTensors result;
  const auto count = names.length();
  result.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i)
    result.emplace_back(names.at(i).text(), handles.at(i).as<TensorHandle>().tensor);
  return result;
}

napi_value make_limits(napi_env env, const TensorLimits& limits) {
  const auto name = [&](DataType type) { return make(env, to_string(type)); };
  Object range(env);
  range.set("min", static_cast<double>(limits.rank_min))
      .set("max", static_cast<double>(limits.rank_max));
  // WebNN's own types only: it has dropped the 4-bit ones.
  std::vector<DataType> types;
  for (const auto type : limits.data_types)
    if (!is_packed(type)) types.push_back(type);
  return Object(env)
      .set("dataTypes", make_array(env, types, name))
      .set("rankRange", range.raw())
      .raw();
}

/// A promise of the loss of a context.
napi_value lost(const Call& call, bool certain) {
  const auto env = call.env();
  const auto convert = [env](Result<LostInfo> result) {
    const auto& info = result.value();
    return Object(env)
        .set("message", std::string_view(info.message))
        .set("reason", to_string(info.reason))
        .raw();
  };
  return call.environment.event(call[0].as<ContextHandle>().context.lost(), convert, certain);
}

}  // namespace

/// The end of the process or the worker is near: ends the runtime while its libraries still work.
napi_value close(const Call& call) {
  call.environment.close();
  return undefined(call.env());
}

/// The loop calls this after `schedule`.
napi_value pump(const Call& call) {
  call.environment.pump();
  return undefined(call.env());
}

napi_value create_context(const Call& call) {
  const auto options = call[0];
  ContextOptions native;
  native.label = options["label"].text();
  native.accelerated = options["accelerated"].boolean();
  if (options["powerPreference"].text() == "high-performance")
    native.power_preference = PowerPreference::high_performance;
  native.max_in_flight = unlimited_in_flight;
  native.admission = AdmissionPolicy::fail;
  if (const auto threads = options["threads"]; threads.present()) native.threads = threads.int32();
  if (const auto lanes = options["lanes"]; lanes.present()) native.lanes = lanes.int32();
  if (const auto features = options["features"]; features.present())
    native.features = features.list([](const Value& name) { return name.text(); });
  if (const auto limit = options["memoryLimit"]; limit.present())
    native.memory_limit = static_cast<std::uint64_t>(limit.number());
  const auto env = call.env();
  return call.environment.promise(
      call.environment.runtime().create_context(native), [env](Result<Context> context) {
        return make(env, std::make_unique<ContextHandle>(std::move(context).value()));
      });
}

napi_value context_lost(const Call& call) { return lost(call, false); }

napi_value accelerated(const Call& call) {
  return make(call.env(), call[0].as<ContextHandle>().context.accelerated());
}

napi_value limits(const Call& call) {
  const auto env = call.env();
  const auto& all = call[0].as<ContextHandle>().context.op_support_limits();
  Object result(env);
  const bool nchw = all.preferred_input_layout == InputOperandLayout::nchw;
  result.set("preferredInputLayout", std::string_view(nchw ? "nchw" : "nhwc"))
      .set("maxTensorByteLength", static_cast<double>(all.max_tensor_byte_length))
      .set("input", make_limits(env, all.input))
      .set("constant", make_limits(env, all.constant))
      .set("output", make_limits(env, all.output));
  for (const auto& each : all.operators) {
    Object operands(env);
    for (const auto& [name, limit] : each.operands)
      operands.set(name.c_str(), make_limits(env, limit));
    result.set(each.name.c_str(), operands.raw());
  }
  return result.raw();
}

void ContextHandle::destroy(const Call& call) {
  context.destroy();
  // Now the loop lives until `lost` resolves, for a program that awaits it.
  lost(call, true);
}

napi_value destroy(const Call& call) {
  call[0].handle().destroy(call);
  return undefined(call.env());
}

napi_value dispatch(const Call& call) {
  auto& context = call[0].as<ContextHandle>().context;
  DispatchOptions options;
  if (call[6].present()) options.label = call[6].text();
  call.environment.called();
  context.dispatch(call[1].as<GraphHandle>().graph, named_tensors(call[2], call[3]),
                   named_tensors(call[4], call[5]), options);
  return undefined(call.env());
}

}  // namespace webnn
