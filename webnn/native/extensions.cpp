// Calls beyond WebNN: errors of tensors, error scopes, counters, plans, recordings.
#include <cstring>

#include "calls.hpp"
#include "handles.hpp"

namespace webnn {

using namespace polychron;

namespace {

napi_value error_or_null(const Environment& environment, const std::optional<Error>& error) {
  if (error) return environment.to_js(*error);
  napi_value null = nullptr;
  check(napi_get_null(environment.env(), &null));
  return null;
}

template <class T>
napi_value error_promise(Environment& environment, Future<T> future) {
  return environment.promise(std::move(future), [&environment](Result<T> error) {
    return error_or_null(environment, error.value());
  });
}

}  // namespace

napi_value tensor_error(const Call& call) {
  return error_promise(call.environment, call[0].as<TensorHandle>().tensor.error());
}

napi_value push_error_scope(const Call& call) {
  const auto name = call[1].text();
  const auto filter = name == "validation"      ? ErrorFilter::validation
                      : name == "out-of-memory" ? ErrorFilter::out_of_memory
                                                : ErrorFilter::internal;
  call[0].as<ContextHandle>().context.push_error_scope(filter);
  return undefined(call.env());
}

napi_value pop_error_scope(const Call& call) {
  return error_promise(call.environment, call[0].as<ContextHandle>().context.pop_error_scope());
}

napi_value stats(const Call& call) {
  const auto numbers = call[0].as<ContextHandle>().context.stats();
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  return Object(call.env())
      .set("writes", count(numbers.writes))
      .set("reads", count(numbers.reads))
      .set("dispatches", count(numbers.dispatches))
      .set("builds", count(numbers.builds))
      .set("completed", count(numbers.completed))
      .set("failed", count(numbers.failed))
      .set("notRun", count(numbers.not_run))
      .set("inFlight", count(numbers.in_flight))
      .set("copies", count(numbers.copies))
      .set("copiedBytes", count(numbers.copied_bytes))
      .set("tensors", count(numbers.tensors))
      .set("graphs", count(numbers.graphs))
      .set("bytes", count(numbers.bytes))
      .set("peakBytes", count(numbers.peak_bytes))
      .raw();
}

napi_value graph_plan(const Call& call) {
  const auto env = call.env();
  return make_array(env, call[0].as<GraphHandle>().graph.plan(),
                    [env](const std::string& line) { return make(env, std::string_view(line)); });
}

napi_value start_trace(const Call& call) {
  TraceOptions options;
  options.steps = call[0]["steps"].boolean();
  const auto calls = call[0]["calls"].text();
  options.calls = calls == "none"       ? TraceCalls::none
                  : calls == "payloads" ? TraceCalls::payloads
                                        : TraceCalls::sizes;
  if (const auto limit = call[0]["maxBytes"]; limit.present())
    options.max_bytes = static_cast<std::size_t>(limit.number());
  call.environment.runtime().start_trace(options);
  return undefined(call.env());
}

napi_value stop_trace(const Call& call) {
  call.environment.runtime().stop_trace();
  return undefined(call.env());
}

napi_value trace(const Call& call) {
  const auto bytes = call.environment.runtime().trace();
  napi_value buffer = nullptr;
  void* data = nullptr;
  check(napi_create_arraybuffer(call.env(), bytes.size(), &data, &buffer));
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return buffer;
}

}  // namespace webnn
