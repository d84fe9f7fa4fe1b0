// Graph builders. An operand comes back as [handle, data type, shape].
#include <cmath>

#include "attributes.hpp"
#include "calls.hpp"
#include "handles.hpp"

namespace webnn {

using namespace polychron;

namespace {

napi_value make_operand(napi_env env, Operand operand) {
  const auto type = operand.data_type();
  const auto dimensions = operand.dimensions();
  const std::vector parts{make(env, std::make_unique<OperandHandle>(std::move(operand))),
                          make(env, to_string(type)), make_shape(env, dimensions)};
  return make_array(env, parts, [](napi_value part) { return part; });
}

GraphBuilder& builder_of(const Call& call) { return call[0].as<BuilderHandle>().builder; }

}  // namespace

napi_value create_builder(const Call& call) {
  return make(call.env(), std::make_unique<BuilderHandle>(call[0].as<ContextHandle>().context));
}

napi_value input(const Call& call) {
  return make_operand(call.env(), builder_of(call).input(call[1].text(), call[2].descriptor()));
}

napi_value dynamic_input(const Call& call) {
  const InputDescriptor descriptor{call[2]["dataType"].data_type(), call[2]["shape"].dimensions()};
  return make_operand(call.env(), builder_of(call).dynamic_input(call[1].text(), descriptor));
}

napi_value dynamic_reshape(const Call& call) {
  return make_operand(call.env(),
                      builder_of(call).dynamic_reshape(call[1].as<OperandHandle>().operand,
                                                       call[2].dimensions(), call[3].text()));
}

napi_value constant(const Call& call) {
  const std::span<const std::byte> bytes = call[2].bytes();
  return make_operand(call.env(), builder_of(call).constant(call[1].descriptor(), bytes));
}

napi_value scalar(const Call& call) {
  return make_operand(call.env(),
                      builder_of(call).constant(call[1].data_type(), number(call.env(), call[2])));
}

napi_value constant_tensor(const Call& call) {
  return make_operand(call.env(), builder_of(call).constant(call[1].as<TensorHandle>().tensor));
}

napi_value apply(const Call& call) {
  const auto env = call.env();
  const auto name = call[1].text();
  const auto operands = call[2].list([](const Value& value) -> const Operand* {
    return value.present() ? &value.as<OperandHandle>().operand : nullptr;
  });
  auto results =
      builder_of(call).apply(name, operands, attributes(env, name, call[3]), call[4].text());
  return make_array(env, results,
                    [&](const Operand& operand) { return make_operand(env, operand); });
}

napi_value build(const Call& call) {
  NamedOperands outputs;
  const auto count = call[1].length();
  for (std::uint32_t i = 0; i < count; ++i)
    outputs.emplace_back(call[1].at(i).text(), call[2].at(i).as<OperandHandle>().operand);
  BuildOptions options;
  if (const auto most = call[3]; most.present()) options.most_shapes = most.uint32();
  const auto env = call.env();
  return call.environment.promise(
      builder_of(call).build(outputs, options), [env](Result<Graph> built) {
        const auto graph = std::move(built).value();
        const std::vector parts{make(env, std::make_unique<GraphHandle>(env, graph)),
                                make_descriptors(env, graph.dynamic_inputs()),
                                make_descriptors(env, graph.dynamic_outputs())};
        return make_array(env, parts, [](napi_value part) { return part; });
      });
}

}  // namespace webnn
