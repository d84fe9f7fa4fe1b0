#include "tests/kernels/surroundings.hpp"

#include <algorithm>
#include <numeric>

#include "ops/infer.hpp"
#include "ops/number.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::tests {

namespace {

using ops::op;
using ops::ValueId;
using Sizes = std::vector<std::uint32_t>;

class Maker {
 public:
  std::shared_ptr<ops::Graph> graph = std::make_shared<ops::Graph>();
  std::size_t rounding_steps = 0;

  ValueId add(ops::Value value) {
    graph->values.push_back(std::move(value));
    return static_cast<ValueId>(graph->values.size() - 1);
  }
  const OperandDescriptor& of(ValueId value) const { return graph->values[value].descriptor; }
  bool is_float(ValueId value) const {
    return of(value).data_type == DataType::float32 || of(value).data_type == DataType::float16;
  }
  ValueId constant(OperandDescriptor descriptor, const Number& number) {
    Buffer bytes(*byte_length(descriptor));
    const auto element = ops::element_bytes(number, descriptor.data_type);
    for (std::size_t at = 0; at < bytes.size(); at += element.size())
      std::ranges::copy(element, bytes.bytes().begin() + static_cast<std::ptrdiff_t>(at));
    return add({ops::Value::Kind::constant, std::move(descriptor),
                std::make_shared<const Buffer>(std::move(bytes))});
  }
  std::vector<ValueId> nodes(ops::OpId id, std::vector<ValueId> inputs, Attributes attributes) {
    std::vector<const OperandDescriptor*> operands;
    for (const ValueId value : inputs)
      operands.push_back(value == ops::no_value ? nullptr : &graph->values[value].descriptor);
    auto results = ops::infer(ops::row(id), operands, attributes);
    ops::Node node{id, std::move(inputs), {}, std::move(attributes), {}};
    for (auto& result : results)
      node.outputs.push_back(add({ops::Value::Kind::result, std::move(result), nullptr}));
    graph->nodes.push_back(std::move(node));
    return graph->nodes.back().outputs;
  }
  ValueId node(ops::OpId id, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return nodes(id, std::move(inputs), std::move(attributes))[0];
  }

  /// Gives back `x`, to the last bit but a NaN's.
  ValueId same(ValueId x, unsigned step) {
    const Shape shape = of(x).shape;
    const auto type = of(x).data_type;
    const auto count = static_cast<std::uint32_t>(*element_count(shape));
    const bool has_axis = !shape.empty() && count <= 4000;
    if (is_packed(type)) return x;  // few operators take them
    switch (step) {
      case 0:
        return node(op("identity"), {x});
      case 1:
        return node(op("reshape"), {node(op("reshape"), {x}, ReshapeAttributes{{count}})},
                    ReshapeAttributes{shape});
      case 2: {
        Sizes order(shape.size());
        std::iota(order.rbegin(), order.rend(), 0U);
        const TransposeAttributes turn{order};
        return node(op("transpose"), {node(op("transpose"), {x}, turn)}, turn);
      }
      case 3:
        return node(op("reverse"), {node(op("reverse"), {x}, ReverseAttributes{})},
                    ReverseAttributes{});
      case 4: {
        if (!has_axis) return x;
        Sizes starts(shape.size(), 0);
        starts[0] = shape[0];
        return node(op("slice"), {node(op("concat"), {x, x}, ConcatAttributes{0})},
                    SliceAttributes{starts, shape, {}});
      }
      case 5:
        if (!ops::type_sets::signeds.has(type)) return x;
        return node(op("neg"), {node(op("neg"), {x})});
      case 6: {
        if (!has_axis) return x;
        const auto last = static_cast<std::uint32_t>(shape.size() - 1);
        const ValueId both = node(op("concat"), {x, x}, ConcatAttributes{last});
        return nodes(op("split"), {both}, SplitAttributes{{2}, true, last})[1];
      }
      case 7: {
        if (!has_axis) return x;
        const Sizes ones(shape.size(), 1);
        PadAttributes pad;
        pad.beginning_padding = pad.ending_padding = ones;
        return node(op("slice"), {node(op("pad"), {x}, pad)}, SliceAttributes{ones, shape, {}});
      }
      case 8:
        if (!is_float(x)) return x;
        return node(op("mul"), {x, constant({type, {}}, 1.0)});
      case 9: {
        if (!has_axis) return x;
        std::vector<std::int32_t> places(shape[0]);
        std::iota(places.begin(), places.end(), 0);
        auto bytes =
            std::make_shared<const Buffer>(Buffer::copy_of(std::span<const std::int32_t>(places)));
        const ValueId indices =
            add({ops::Value::Kind::constant, {DataType::int32, {shape[0]}}, std::move(bytes)});
        return node(op("gather"), {x, indices}, GatherAttributes{0});
      }
      case 10: {
        if (type != DataType::float16) return node(op("cast"), {x}, CastAttributes{type});
        const ValueId wide = node(op("cast"), {x}, CastAttributes{DataType::float32});
        return node(op("cast"), {wide}, CastAttributes{type});
      }
      default:
        if (!is_float(x)) return x;
        return node(op("where"), {node(op("isNaN"), {x}), x, x});
    }
  }

  /// Computes with `x`.
  ValueId changed(ValueId x, unsigned step) {
    const auto type = of(x).data_type;
    if (is_packed(type)) return x;
    const auto scalar = [&](double number) { return constant({type, {}}, number); };
    if (!is_float(x)) return node(step % 2 == 0 ? op("add") : op("max"), {x, scalar(step % 3)});
    ++rounding_steps;
    const auto vector = [&] {
      Shape shape(of(x).shape.size(), 1);
      if (!shape.empty()) shape.back() = of(x).shape.back();
      if (shape.size() == 4 && step % 2 == 0) shape = {1, of(x).shape[1], 1, 1};
      return constant({type, shape}, 0.375);
    };
    switch (step % 15) {
      case 0:
        return node(op("relu"), {x});
      case 1:
        return node(op("sigmoid"), {x});
      case 2:
        return node(op("add"), {x, vector()});
      case 3:
        return node(op("mul"), {vector(), x});
      case 4:
        return node(op("clamp"), {x}, ClampAttributes{-0.75, 1.5});
      case 5:
        return node(op("mul"), {x, node(op("sigmoid"), {x})});
      case 6:
        return node(op("hardSwish"), {x});
      case 7:
        return node(op("sub"), {scalar(0.5), x});
      case 8:
        return node(op("max"), {x, vector()});
      case 9:
        return node(op("abs"), {x});
      case 10:
        return node(op("linear"), {x}, LinearAttributes{1.5, 0.25});
      case 11:
        return node(op("div"), {x, scalar(1.5)});
      case 12:
        return node(op("leakyRelu"), {x}, LeakyReluAttributes{0.1});
      case 13:
        return node(op("hardSigmoid"), {x}, HardSigmoidAttributes{0.5, 0.5});
      default:
        return node(op("add"), {x, x});
    }
  }
};

constexpr unsigned same_steps = 12, changing_steps = 15, first_changing = 100;

}  // namespace

Surroundings random_surroundings(const GeneratedCall& call, bool changing, test::Random& random) {
  Surroundings made;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    made.before.emplace_back();
    for (auto count = random.number(0, 2); count > 0; --count)
      made.before.back().push_back(random.number(0, same_steps - 1));
  }
  for (auto count = random.number(0, 3); count > 0; --count)
    made.after.push_back(changing && random.number(0, 3) > 0
                             ? first_changing + random.number(0, changing_steps - 1)
                             : random.number(0, same_steps - 1));
  made.own = random.number(0, 3) == 0;
  made.kept = random.number(0, 3) == 0;
  return made;
}

SurroundedCall surrounded(const GeneratedCall& call, const Surroundings& surroundings) {
  using Kind = ops::Value::Kind;
  Maker maker;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const auto& operand = call.operands[i];
    inputs.push_back(ops::no_value);
    if (!operand.present) continue;
    ValueId value;
    if (operand.constant) {
      value = maker.add({Kind::constant, operand.descriptor,
                         std::make_shared<const Buffer>(Buffer::copy_of(operand.bytes))});
    } else {
      value = maker.add({Kind::input, operand.descriptor, nullptr});
      maker.graph->inputs.emplace_back("in" + std::to_string(i), value);
    }
    for (const unsigned step : surroundings.before[i]) value = maker.same(value, step);
    inputs.back() = value;
  }
  const auto results = maker.nodes(ops::id(*call.row), inputs, call.attributes);
  const auto output = [&](const std::string& name, ValueId value) {
    const bool there = std::ranges::any_of(
        maker.graph->outputs, [&](const auto& other) { return other.second == value; });
    if (!there) maker.graph->outputs.emplace_back(name, value);
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueId value = results[i];
    for (const unsigned step : surroundings.after)
      value = step < first_changing ? maker.same(value, step)
                                    : maker.changed(value, step - first_changing);
    output("out" + std::to_string(i), value);
    if (surroundings.own) output("own" + std::to_string(i), results[i]);
  }
  if (surroundings.kept && !is_packed(call.operands[0].descriptor.data_type))
    output("kept", maker.node(op("identity"), {inputs[0]}));
  return {std::move(maker.graph), maker.rounding_steps};
}

}  // namespace polychron::tests
