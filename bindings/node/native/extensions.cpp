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

/// The arguments of a call behind its graph: names and shapes.
NamedShapes named_shapes(const Call& call) {
  NamedShapes result;
  const auto count = call[1].length();
  for (std::uint32_t i = 0; i < count; ++i)
    result.emplace_back(call[1].at(i).text(), call[2].at(i).uint32s());
  return result;
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
      .set("computes", count(numbers.computes))
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

/// [handle, ArrayBuffer]. The buffer is over the tensor's own memory, which the lease keeps.
napi_value export_tensor(const Call& call) {
  const auto env = call.env();
  return call.environment.promise(
      call[0].as<ContextHandle>().context.export_tensor(call[1].as<TensorHandle>().tensor),
      [env](Result<TensorLease> granted) {
        auto lease = std::make_shared<TensorLease>(std::move(granted).value());
        const auto bytes = lease->bytes();
        auto kept = std::make_unique<std::shared_ptr<TensorLease>>(lease);
        const auto free = [](napi_env, void*, void* own) {
          delete static_cast<std::shared_ptr<TensorLease>*>(own);
        };
        napi_value buffer = nullptr;
        check(napi_create_external_arraybuffer(env, bytes.data(), bytes.size(), free, kept.get(),
                                               &buffer));
        kept.release();
        const std::vector parts{make(env, std::make_unique<LeaseHandle>(env, lease, buffer)),
                                buffer};
        return make_array(env, parts, [](napi_value part) { return part; });
      });
}

/// Detaches the buffer first, so that no program reads memory that is the tensor's again.
napi_value release(const Call& call) {
  auto& handle = call[0].as<LeaseHandle>();
  napi_value buffer = nullptr;
  check(napi_get_reference_value(call.env(), handle.buffer, &buffer));
  bool gone = false;
  if (buffer != nullptr) check(napi_is_detached_arraybuffer(call.env(), buffer, &gone));
  // Someone else has the memory, if a runtime allowed to transfer it: then its finalizer returns
  // it.
  if (gone) return undefined(call.env());
  if (buffer != nullptr) check(napi_detach_arraybuffer(call.env(), buffer));
  handle.lease->return_now();
  return undefined(call.env());
}

napi_value graph_plan(const Call& call) {
  const auto env = call.env();
  return make_array(env, call[0].as<GraphHandle>().graph.plan(),
                    [env](const std::string& line) { return make(env, std::string_view(line)); });
}

/// An array of [name, shape].
napi_value compute_shapes(const Call& call) {
  const auto env = call.env();
  const auto shapes = call[0].as<GraphHandle>().graph.compute_shapes(named_shapes(call));
  return make_array(env, shapes, [env](const NamedShapes::value_type& each) {
    const std::vector parts{make(env, std::string_view(each.first)), make_shape(env, each.second)};
    return make_array(env, parts, [](napi_value part) { return part; });
  });
}

napi_value prepare(const Call& call) {
  const auto env = call.env();
  return call.environment.promise(call[0].as<GraphHandle>().graph.prepare(named_shapes(call)),
                                  [env](Result<void> done) {
                                    done.value();
                                    return undefined(env);
                                  });
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
