// Runs from bytes to bytes: of graphs, and of sessions.
#include "run.hpp"

#include <algorithm>
#include <chrono>

#include "calls.hpp"
#include "handles.hpp"

namespace webnn {

using namespace polychron;

napi_value create_cancellation(const Call& call) {
  return make(call.env(), std::make_unique<CancellationHandle>());
}

napi_value cancel(const Call& call) {
  call[0].as<CancellationHandle>().cancellation.cancel();
  return undefined(call.env());
}

NamedBuffers copied_inputs(const NamedDescriptors& declared, const Value& bytes) {
  NamedBuffers inputs;
  inputs.reserve(declared.size());
  for (std::uint32_t i = 0; i < declared.size(); ++i)
    inputs.emplace_back(declared[i].first, Buffer::copy_of(bytes.at(i).bytes()));
  return inputs;
}

NamedBuffers lent_outputs(const NamedDescriptors& declared, const Value& memory) {
  NamedBuffers outputs;
  outputs.reserve(declared.size());
  for (std::uint32_t i = 0; i < declared.size(); ++i) {
    const auto& [name, descriptor] = declared[i];
    const auto own = memory.at(i);
    if (!own.present()) {
      outputs.emplace_back(name, Buffer::uninitialized(byte_length(descriptor).value()));
      continue;
    }
    const auto bytes = own.bytes();
    outputs.emplace_back(name,
                         Buffer::adopt(bytes.data(), bytes.size(), [](std::byte*, std::size_t) {}));
  }
  return outputs;
}

DispatchOptions run_options(const Value& label, const Value& timeout, const Value& cancellation) {
  DispatchOptions options;
  options.label = label.text();
  if (timeout.present()) {
    // Beyond a century the clock's own numbers would not do.
    constexpr double longest = 1e12;
    const std::chrono::duration<double, std::milli> rest(std::min(timeout.number(), longest));
    options.deadline = std::chrono::steady_clock::now() +
                       std::chrono::duration_cast<std::chrono::steady_clock::duration>(rest);
  }
  if (cancellation.present())
    options.cancellation = cancellation.as<CancellationHandle>().cancellation;
  return options;
}

napi_value run(const Call& call) {
  auto& context = call[0].as<ContextHandle>().context;
  const auto& graph = call[1].as<GraphHandle>().graph;
  return run_promise(call.environment, call[4], [&] {
    return context.compute(graph, copied_inputs(graph.inputs(), call[2]),
                           lent_outputs(graph.outputs(), call[3]),
                           run_options(call[5], call[6], call[7]));
  });
}

}  // namespace webnn
