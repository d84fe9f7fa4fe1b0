// Context's calls on graphs: bind names to tensors or buffers, then tell the context's actor.
#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "base/invariant.hpp"
#include "polychron/context.hpp"
#include "runtime/calls.hpp"
#include "runtime/dynamic_graph.hpp"

namespace polychron {

namespace {

using detail::conditions_of;
using detail::ContextHandle;
using detail::FutureAccess;
using detail::GraphHandle;
using detail::Port;
using detail::reporting;
using detail::TensorHandle;

/// The parts of a call that errors name: the graph, "dispatch" or "compute", and the label.
struct CallSite {
  const GraphHandle& graph;
  const char* operation;
  const DispatchOptions& options;

  Error error(ErrorKind kind, std::string message) const {
    return Error(kind, std::move(message))
        .with_operation(operation, options.label)
        .with_object(graph.name());
  }
  Error wrong(std::string message) const {
    return error(ErrorKind::type_error, std::move(message));
  }
};

using Handles = boost::container::small_vector<const TensorHandle*, 8>;

Error misfit(const CallSite& call, const char* side, const std::string& name,
             const std::string& expected, const TensorHandle& tensor) {
  return call.wrong(std::string(side) + " '" + name + "': expected " + expected + ", got " +
                    tensor.name() + ", which is " + to_string(tensor.descriptor));
}

/// The handles of `tensors` in the order of the graph's inputs or outputs (`side`), which have the
/// names and types of these.
Handles match(const std::shared_ptr<ContextHandle>& context, const CallSite& call, const char* side,
              const NamedDescriptors& declared, const NamedTensors& tensors) {
  if (tensors.size() != declared.size())
    throw call.wrong("expected " + std::to_string(declared.size()) + " " + side + "s, got " +
                     std::to_string(tensors.size()));
  Handles handles;
  for (const auto& [name, descriptor] : declared) {
    // With few names a scan is faster than a table.
    const auto named =
        std::find_if(tensors.begin(), tensors.end(),
                     [&name = name](const auto& entry) { return entry.first == name; });
    if (named == tensors.end())
      throw call.wrong(std::string(side) + " '" + name + "' is not given");
    const auto& tensor = *TensorHandle::of(named->second);
    tensor.check_usable(context);
    if (tensor.is_constant)
      throw call.wrong(tensor.name() + " is constant: give it to a GraphBuilder");
    if (tensor.descriptor.data_type != descriptor.data_type ||
        (!call.graph.dynamic && tensor.descriptor.shape != descriptor.shape))
      throw misfit(
          call, side, name,
          call.graph.dynamic ? std::string(to_string(descriptor.data_type)) : to_string(descriptor),
          tensor);
    handles.push_back(&tensor);
  }
  return handles;
}

msg::TensorIds ids_of(const Handles& handles) {
  msg::TensorIds ids;
  for (const auto* handle : handles) ids.push_back(handle->id);
  return ids;
}

CallSite check_graph(const std::shared_ptr<ContextHandle>& context, const Graph& graph,
                     const char* operation, const DispatchOptions& options) {
  const CallSite call{*GraphHandle::of(graph), operation, options};
  if (call.graph.context != context) throw call.wrong("the graph belongs to another context");
  context->check_alive();
  if (call.graph.destroyed.done())
    throw call.error(ErrorKind::invalid_state, "the graph is destroyed");
  return call;
}

/// Positions in the caller's list; few, so that a call does not allocate for them.
using Places = boost::container::small_vector<std::size_t, 8>;

/// The position in `buffers` of each input or output, in the graph's order.
Places match(const CallSite& call, const char* side, const NamedDescriptors& declared,
             const NamedBuffers& buffers) {
  if (call.graph.dynamic)
    throw call.wrong("the graph has dynamic dimensions, expected a dispatch: tensors have shapes");
  if (buffers.size() != declared.size())
    throw call.wrong("expected " + std::to_string(declared.size()) + " " + side + "s, got " +
                     std::to_string(buffers.size()));
  Places order;
  for (const auto& [name, descriptor] : declared) {
    const auto named =
        std::find_if(buffers.begin(), buffers.end(),
                     [&name = name](const auto& entry) { return entry.first == name; });
    if (named == buffers.end())
      throw call.wrong(std::string(side) + " '" + name + "' is not given");
    static_cast<void>(named->second.data());  // a detached buffer is a type_error
    if (named->second.size() != *byte_length(descriptor))
      throw call.wrong(std::string(side) + " '" + name + "': expected " +
                       std::to_string(*byte_length(descriptor)) + " bytes (" +
                       to_string(descriptor) + "), got " + std::to_string(named->second.size()));
    order.push_back(static_cast<std::size_t>(named - buffers.begin()));
  }
  ensure(order.size() == buffers.size(), "each buffer has a place in the graph");
  return order;
}

/// Names for buffers that will come back.
NamedBuffers named(const NamedDescriptors& declared) {
  NamedBuffers result;
  result.reserve(declared.size());
  for (const auto& entry : declared) result.emplace_back(entry.first, Buffer());
  return result;
}

void fill(NamedBuffers& named, std::vector<Buffer>& buffers) noexcept {
  for (std::size_t i = 0; i < named.size(); ++i) named[i].second = std::move(buffers[i]);
}

/// The plan's steps, without times yet. A line of the plan is "implementation: [label] operation".
std::vector<StepProfile> steps_of(const msg::Built& built) {
  std::vector<StepProfile> steps;
  for (const auto& line : built.plan) {
    const std::string between = ": ";
    const auto end = std::min(line.find(between), line.size());
    auto operation = line.substr(std::min(end + between.size(), line.size()));
    const auto label = steps.size() < built.labels.size() ? built.labels[steps.size()] : "";
    if (const auto said = "[" + label + "] "; operation.starts_with(said))
      operation.erase(0, said.size());
    steps.push_back({label, line.substr(0, end), std::move(operation), 0});
  }
  return steps;
}

/// The tensor's name in errors: its own, and the graph's name of each input or output that it is
/// given for.
std::string places_of(msg::TensorId id, const NamedTensors& inputs, const NamedTensors& outputs) {
  std::string tensor, places;
  const auto collect = [&](const char* side, const NamedTensors& given) {
    for (const auto& [name, handle] : given) {
      if (TensorHandle::of(handle)->id != id) continue;
      tensor = TensorHandle::of(handle)->name();
      places += std::string(places.empty() ? ", as " : " and ") + side + " '" + name + "'";
    }
  };
  collect("input", inputs);
  collect("output", outputs);
  return tensor + " is given twice" + places;
}

/// An output tensor may be nothing else in the same dispatch. One tensor may be several inputs, as
/// in browsers; the specification's text refuses that, and so does a strict context.
void check_distinct(const CallSite& call, const NamedTensors& named_inputs,
                    const NamedTensors& named_outputs, const msg::TensorIds& inputs,
                    const msg::TensorIds& outputs) {
  boost::container::small_vector<msg::TensorId, 8> all(inputs.begin(), inputs.end());
  std::sort(all.begin(), all.end());
  if (!call.graph.context->strict) all.erase(std::unique(all.begin(), all.end()), all.end());
  all.insert(all.end(), outputs.begin(), outputs.end());
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice != all.end()) throw call.wrong(places_of(*twice, named_inputs, named_outputs));
}

/// The graph that a dispatch runs, and the reason if it cannot.
struct Target {
  /// Keeps the graph of these shapes alive until the dispatch is called.
  std::shared_ptr<const detail::DynamicGraph::Specialization> specialization{};
  msg::GraphId graph = 0;
  std::optional<msg::Report> refused{};
};

/// Of a graph with dynamic dimensions: as its tensors' shapes say.
Target target_of(const CallSite& call, const Handles& inputs, const Handles& outputs) {
  if (!call.graph.dynamic) return {{}, call.graph.id, {}};
  std::vector<Shape> shapes;
  for (const auto* input : inputs) shapes.push_back(input->descriptor.shape);
  try {
    auto specialization = call.graph.dynamic->get(shapes);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const auto& [name, descriptor] = specialization->outputs[i];
          descriptor.shape != outputs[i]->descriptor.shape)
        throw misfit(call, "output", name, to_string(descriptor), *outputs[i]);
    const auto id = specialization->handle->id;
    return {std::move(specialization), id, {}};
  } catch (const Error& error) {
    // The outputs become errored, as those of any dispatch that fails.
    if (error.kind() != ErrorKind::type_error) throw;
    return {{}, 0, msg::Report{error.with_object(call.graph.name())}};
  }
}

}  // namespace

const Buffer& buffer_of(const NamedBuffers& buffers, std::string_view name) {
  const auto named = std::ranges::find(buffers, name, &NamedBuffers::value_type::first);
  if (named != buffers.end()) return named->second;
  return detail::with_errors([&]() -> const Buffer& {
    std::string known;
    for (const auto& entry : buffers) known += (known.empty() ? "'" : ", '") + entry.first + "'";
    throw Error(ErrorKind::type_error, "there is no buffer '" + std::string(name) +
                                           "'; there are " + (known.empty() ? "none" : known));
  });
}

Buffer& buffer_of(NamedBuffers& buffers, std::string_view name) {
  return const_cast<Buffer&>(buffer_of(std::as_const(buffers), name));
}

void Context::dispatch(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs,
                       const DispatchOptions& options) {
  const auto& context = ContextHandle::of(*this);
  reporting(context, [&] {
    const auto call = check_graph(context, graph, "dispatch", options);
    const auto& handle = call.graph;
    const auto& dynamic = handle.dynamic;
    const auto given =
        match(context, call, "input", dynamic ? dynamic->inputs() : handle.built.inputs, inputs);
    const auto wanted = match(context, call, "output",
                              dynamic ? dynamic->outputs() : handle.built.outputs, outputs);
    auto input_ids = ids_of(given);
    auto output_ids = ids_of(wanted);
    check_distinct(call, inputs, outputs, input_ids, output_ids);
    auto& port = *context->port;
    const auto conditions = conditions_of(options);
    auto permit = port.enter(Port::AdmissionClass::operations, conditions);
    auto target = target_of(call, given, wanted);
    port.submit(msg::Dispatch{target.graph, std::move(input_ids), std::move(output_ids),
                              options.label, options.deadline, std::move(target.refused)},
                {{}, std::move(permit), conditions.cancellation});
    msg::count(port.counters().dispatches);
  });
}

Future<ComputeResult> Context::compute_with(const Graph& graph, NamedBuffers&& inputs,
                                            NamedBuffers&& outputs,
                                            const DispatchOptions& options) {
  const auto& context = ContextHandle::of(*this);
  Future<ComputeResult> future;
  reporting(context, [&] {
    const auto call = check_graph(context, graph, "compute", options);
    const auto& handle = call.graph;
    const auto input_order = match(call, "input", handle.built.inputs, inputs);
    const auto output_order = match(call, "output", handle.built.outputs, outputs);
    auto& port = *context->port;
    const auto conditions = conditions_of(options);
    auto permit = port.enter(Port::AdmissionClass::operations, conditions);
    // Steps that may fail come first. After them the buffers leave the caller, and always come
    // back.
    const auto promise = context->promise<ComputeResult>();
    future = promise.future();
    const auto result = std::make_shared<ComputeResult>(
        ComputeResult{named(handle.built.inputs), named(handle.built.outputs), Result<void>()});
    const auto reply = context->promise<msg::BatchReply>();
    auto settled = reply.future();
    const auto batch =
        std::make_shared<msg::BatchRef::element_type>(msg::BatchReply{}, reply, port.origin());
    batch->content.inputs.resize(inputs.size());
    batch->content.outputs.resize(outputs.size());
    if (options.profile) {
      result->profile = steps_of(handle.built);
      batch->content.seconds.resize(result->profile.size());
    }
    // The continuation keeps the graph alive until then.
    FutureAccess::relay(std::move(settled),
                        [promise, result, graph](Result<msg::BatchReply> answer) {
                          auto& done = answer.value();  // a loan always comes back
                          fill(result->inputs, done.inputs);
                          fill(result->outputs, done.outputs);
                          if (done.error) result->status = Result<void>(*done.error);
                          for (std::size_t i = 0; i < done.seconds.size(); ++i)
                            result->profile[i].seconds = done.seconds[i];
                          promise.resolve(std::move(*result));
                        });
    const auto lend = [](auto& lent, NamedBuffers& buffers, const auto& order) {
      for (std::size_t i = 0; i < order.size(); ++i) lent[i] = std::move(buffers[order[i]].second);
    };
    lend(batch->content.inputs, inputs, input_order);
    lend(batch->content.outputs, outputs, output_order);
    try {
      port.submit(msg::Compute{handle.id, options.label, options.deadline},
                  {batch, std::move(permit), conditions.cancellation});
    } catch (...) {
      if (batch->claim()) {
        const auto back = [](auto& lent, NamedBuffers& buffers, const auto& order) {
          for (std::size_t i = 0; i < order.size(); ++i)
            buffers[order[i]].second = std::move(lent[i]);
        };
        back(batch->content.inputs, inputs, input_order);
        back(batch->content.outputs, outputs, output_order);
      }
      throw;
    }
    msg::count(port.counters().computes);
  });
  return future;
}

}  // namespace polychron
