// Contexts, tensors, graphs and builders.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "array.hpp"
#include "attributes.hpp"
#include "errors.hpp"
#include "modules.hpp"

namespace binding {

using namespace polychron;

namespace {

/// A context that a call cannot block: more operations than memory holds.
constexpr std::uint64_t unlimited_in_flight = std::uint64_t{1} << 40;

/// The entries of a dictionary by name. Throws type_error for values of other classes than T.
template <class T>
std::vector<std::pair<std::string, T>> named(const nb::dict& given, const std::string& what) {
  std::vector<std::pair<std::string, T>> result;
  result.reserve(given.size());
  for (const auto& [name, value] : given) {
    std::string text;
    const T* own = nullptr;
    if (!nb::try_cast(name, text)) refuse(what + ": names are of class str");
    if (!nb::try_cast(value, own) || own == nullptr)
      refuse(what + ": '" + text + "' is of class " + nb::inst_name(value).c_str());
    result.emplace_back(std::move(text), *own);
  }
  return result;
}

/// Dynamic dimensions by their names.
nb::tuple names_of(const std::vector<Dimension>& dimensions) {
  nb::list result;
  for (const auto& each : dimensions)
    result.append(each.is_dynamic() ? nb::cast(each.name) : nb::cast(each.size));
  return nb::tuple(result);
}

nb::dict described(const NamedInputDescriptors& descriptors) {
  nb::dict result;
  for (const auto& [name, descriptor] : descriptors)
    result[nb::cast(name)] =
        nb::make_tuple(std::string(to_string(descriptor.data_type)), names_of(descriptor.shape));
  return result;
}

/// Sizes, names, None, and pairs of a name or None and the largest size. Throws type_error.
std::vector<Dimension> dimensions_of(const nb::object& shape, const std::string& what) {
  const auto refused = [&what](nb::handle given) {
    refuse(what + ": expected a shape of sizes, names, None and (name, largest size), got " +
           nb::cast<std::string>(nb::repr(given)));
  };
  std::vector<nb::object> items;
  if (!nb::try_cast(shape, items)) refused(shape);
  std::vector<Dimension> result;
  for (const auto& item : items) {
    std::uint32_t size = 0;
    std::pair<std::optional<std::string>, std::optional<std::uint32_t>> bounded;
    if (nb::try_cast(item, size) && size > 0)
      result.emplace_back(size);
    else if (!nb::try_cast(item, bounded.first) && !nb::try_cast(item, bounded))
      refused(shape);
    else if (bounded.first)
      result.emplace_back(*bounded.first, bounded.second);
    else
      result.push_back(Dimension::unnamed(bounded.second));
  }
  return result;
}

NamedShapes shapes_of(const nb::dict& given, const std::string& what) {
  NamedShapes result;
  for (const auto& [name, value] : given) {
    auto& [text, shape] = result.emplace_back();
    if (!nb::try_cast(name, text) || !nb::try_cast(value, shape))
      refuse(what + ": expected shapes by name, got " + nb::cast<std::string>(nb::repr(given)));
  }
  return result;
}

std::unique_ptr<Pending> create_context(const std::string& label, bool accelerated,
                                        const std::string& power_preference, int threads, int lanes,
                                        std::optional<std::uint64_t> memory_limit,
                                        std::optional<std::uint64_t> max_in_flight,
                                        const std::vector<std::string>& features) {
  ContextOptions options;
  options.label = label;
  options.accelerated = accelerated;
  if (power_preference == "high-performance")
    options.power_preference = PowerPreference::high_performance;
  else if (power_preference != "default" && power_preference != "low-power")
    refuse(
        "create_context: power_preference: expected 'default', 'high-performance' or "
        "'low-power', got '" +
        power_preference + "'");
  options.threads = threads;
  options.lanes = lanes;
  options.max_in_flight = max_in_flight.value_or(unlimited_in_flight);
  options.admission = AdmissionPolicy::fail;
  options.features = features;
  if (memory_limit) options.memory_limit = *memory_limit;
  return reply(runtime().create_context(options),
               [](Context context) { return nb::cast(context); });
}

nb::object as_object(Tensor tensor) { return nb::cast(std::move(tensor)); }

std::unique_ptr<Pending> create_tensor(Context& context, const std::string& type,
                                       const nb::object& shape, bool readable, bool writable,
                                       const std::string& label) {
  const auto [data_type, sizes] = descriptor_of(type, shape, "create_tensor");
  return reply(
      context.create_tensor(TensorDescriptor{{data_type, sizes}, readable, writable, label}),
      as_object);
}

std::unique_ptr<Pending> create_constant_tensor(Context& context, const std::string& type,
                                                const nb::object& shape, const nb::object& array,
                                                const std::string& label) {
  const auto descriptor = descriptor_of(type, shape, "create_constant_tensor");
  const View view(array);
  view.check(descriptor, "create_constant_tensor");
  return reply(context.create_constant_tensor(descriptor, view.copied(), label), as_object);
}

void write_tensor(Context& context, const Tensor& tensor, const nb::object& array,
                  const std::string& label, std::optional<double> timeout) {
  const View view(array);
  view.check(tensor.descriptor(), "write_tensor: " + object_text(tensor));
  WriteOptions options{label, deadline(timeout)};
  without_gil([&] { context.write_tensor(tensor, view.bytes(), options); });
}

std::unique_ptr<Pending> read_tensor(Context& context, const Tensor& tensor) {
  return reply(context.read_tensor(tensor), [descriptor = tensor.descriptor()](Buffer bytes) {
    return array_of(std::move(bytes), descriptor);
  });
}

std::unique_ptr<Pending> export_tensor(Context& context, const Tensor& tensor) {
  return reply(context.export_tensor(tensor), [](TensorLease lease) {
    return nb::cast(new Memory(std::move(lease)), nb::rv_policy::take_ownership);
  });
}

void dispatch(Context& context, const Graph& graph, const nb::dict& inputs, const nb::dict& outputs,
              const std::string& label, std::optional<double> timeout) {
  DispatchOptions options;
  options.label = label;
  options.deadline = deadline(timeout);
  context.dispatch(graph, named<Tensor>(inputs, "dispatch"), named<Tensor>(outputs, "dispatch"),
                   options);
}

nb::dict limits_of(const TensorLimits& limits) {
  nb::list types;
  for (const auto type : limits.data_types) types.append(std::string(to_string(type)));
  nb::dict result;
  result["data_types"] = types;
  result["rank_range"] = nb::make_tuple(limits.rank_min, limits.rank_max);
  return result;
}

nb::dict op_support_limits(const Context& context) {
  const auto& all = context.op_support_limits();
  nb::dict result;
  result["input"] = limits_of(all.input);
  result["constant"] = limits_of(all.constant);
  result["output"] = limits_of(all.output);
  for (const auto& each : all.operators) {
    nb::dict operands;
    for (const auto& [name, limit] : each.operands) operands[name.c_str()] = limits_of(limit);
    result[each.name.c_str()] = operands;
  }
  return result;
}

nb::dict stats(const Context& context) {
  const auto numbers = context.stats();
  nb::dict result;
#define COUNTER(name) result[#name] = numbers.name
  COUNTER(writes), COUNTER(reads), COUNTER(dispatches), COUNTER(computes), COUNTER(builds);
  COUNTER(completed), COUNTER(failed), COUNTER(not_run), COUNTER(in_flight), COUNTER(refused);
  COUNTER(copies), COUNTER(copied_bytes), COUNTER(tensors), COUNTER(graphs), COUNTER(bytes);
#undef COUNTER
  return result;
}

std::unique_ptr<Pending> lost(const Context& context) {
  return reply(context.lost(), [](const LostInfo& info) -> nb::object {
    return nb::make_tuple(std::string(to_string(info.reason)), info.message);
  });
}

std::vector<Operand> apply(GraphBuilder& builder, const std::string& name, const nb::list& operands,
                           const nb::dict& given, const std::string& label) {
  std::vector<const Operand*> addresses;
  for (const nb::handle each : operands) {
    const Operand* operand = nullptr;
    if (!each.is_none() && !nb::try_cast(each, operand))
      refuse(name + ": operand " + std::to_string(addresses.size() + 1) +
             ": expected an MLOperand, got " + nb::cast<std::string>(nb::repr(each)));
    addresses.push_back(operand);
  }
  return builder.apply(name, addresses, attributes(name, given), label);
}

std::unique_ptr<Pending> build(GraphBuilder& builder, const nb::dict& outputs,
                               const std::string& label, std::size_t most_shapes) {
  return reply(builder.build(named<Operand>(outputs, "build"), {label, most_shapes}),
               [](Graph graph) { return nb::cast(graph); });
}

Operand input(GraphBuilder& builder, const std::string& name, const std::string& type,
              const nb::object& shape) {
  const auto what = "input '" + name + "'";
  if (Shape sizes; nb::try_cast(shape, sizes))
    return builder.input(name, descriptor_of(type, shape, what));
  const auto data_type = descriptor_of(type, nb::tuple(), what).data_type;
  return builder.dynamic_input(name, {data_type, dimensions_of(shape, what)});
}

std::unique_ptr<Pending> prepare(const Graph& graph, const nb::dict& inputs) {
  return reply(graph.prepare(shapes_of(inputs, "prepare")), [] { return nb::none(); });
}

nb::dict compute_shapes(const Graph& graph, const nb::dict& inputs) {
  nb::dict result;
  for (const auto& [name, shape] : graph.compute_shapes(shapes_of(inputs, "compute_shapes")))
    result[nb::cast(name)] = shape_of(shape);
  return result;
}

Operand constant(GraphBuilder& builder, const std::string& type, const nb::object& shape,
                 const nb::object& array) {
  const auto descriptor = descriptor_of(type, shape, "constant");
  const View view(array);
  view.check(descriptor, "constant");
  return builder.constant(descriptor, view.copied());
}

}  // namespace

OperandDescriptor descriptor_of(const std::string& type, const nb::object& shape,
                                const std::string& what) {
  const auto data_type = data_type_from_string(type);
  if (!data_type) refuse(what + ": '" + type + "' is not a data type of WebNN");
  Shape sizes;
  if (!nb::try_cast(shape, sizes))
    refuse(what + ": expected a shape of numbers, got " + nb::cast<std::string>(nb::repr(shape)));
  return {*data_type, std::move(sizes)};
}

nb::tuple shape_of(const Shape& shape) { return nb::tuple(nb::cast(shape)); }

std::string object_text(const Tensor& tensor) {
  return describe_object("tensor", tensor.label(), tensor.id());
}

std::optional<std::chrono::steady_clock::time_point> deadline(std::optional<double> timeout) {
  if (!timeout) return std::nullopt;
  constexpr double century = 3e9;
  if (!(*timeout >= 0))
    refuse("timeout: expected seconds from now, got " + std::to_string(*timeout));
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(std::min(*timeout, century)));
}

void bind_webnn(nb::module_& module) {
  module.def("create_context", create_context);
  nb::class_<Context>(module, "Context")
      .def("create_tensor", create_tensor)
      .def("create_constant_tensor", create_constant_tensor)
      .def("write_tensor", write_tensor)
      .def("read_tensor", read_tensor)
      .def("export_tensor", export_tensor)
      .def("dispatch", dispatch)
      .def("op_support_limits", op_support_limits)
      .def("accelerated", &Context::accelerated)
      .def("stats", stats)
      .def("lost", lost)
      .def("destroy", &Context::destroy);
  nb::class_<Tensor>(module, "Tensor")
      .def("descriptor",
           [](const Tensor& tensor) {
             return nb::make_tuple(std::string(to_string(tensor.data_type())),
                                   shape_of(tensor.shape()));
           })
      .def("readable", &Tensor::readable)
      .def("writable", &Tensor::writable)
      .def("constant", &Tensor::constant)
      .def("label", &Tensor::label)
      .def("destroy", &Tensor::destroy);
  nb::class_<Graph>(module, "Graph")
      .def("inputs", [](const Graph& graph) { return described(graph.dynamic_inputs()); })
      .def("outputs", [](const Graph& graph) { return described(graph.dynamic_outputs()); })
      .def("compute_shapes", compute_shapes)
      .def("prepare", prepare)
      .def("plan", [](const Graph& graph) { return graph.plan(); })
      .def("destroy", &Graph::destroy);
  nb::class_<Operand>(module, "Operand").def("descriptor", [](const Operand& operand) {
    return nb::make_tuple(std::string(to_string(operand.data_type())),
                          names_of(operand.dimensions()));
  });
  nb::class_<GraphBuilder>(module, "Builder")
      .def(nb::init<const Context&>())
      .def("input", input)
      .def("constant", constant)
      .def("scalar",
           [](GraphBuilder& builder, const std::string& type, const nb::object& value) {
             return builder.constant(descriptor_of(type, nb::tuple(), "constant").data_type,
                                     number(value));
           })
      .def("constant_tensor",
           [](GraphBuilder& builder, const Tensor& tensor) { return builder.constant(tensor); })
      .def("apply", apply)
      .def("reshape",
           [](GraphBuilder& builder, const Operand& x, const nb::object& new_shape,
              const std::string& label) {
             return builder.dynamic_reshape(x, dimensions_of(new_shape, "reshape"), label);
           })
      .def("build", build);
}

}  // namespace binding
