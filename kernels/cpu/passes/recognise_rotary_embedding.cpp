// Finds concat(a * cosine - b * sine, a * sine + b * cosine), as decoders are written. Where a and
// b are the parts of one value, as exporters write it, the step reads that value.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/rotary_embedding.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

class RotaryJoin {
 public:
  explicit RotaryJoin(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    std::vector<PlanNode> nodes;
    for (const PlanNode& node : graph_.nodes)
      if (!add_joined(nodes, node)) nodes.push_back(node);
    graph_.nodes = std::move(nodes);
    graph_.sweep();
  }

 private:
  struct Rotation {
    ValueId a, b, cosines, sines;
  };

  const Shape& shape(ValueId value) const { return match_.descriptor(value).shape; }

  bool add_joined(std::vector<PlanNode>& nodes, const PlanNode& concat) {
    if (concat.op != op("concat") || concat.inputs.size() != 2) return false;
    const ValueId first = only_source_of(concat.inputs[0]),
                  second = only_source_of(concat.inputs[1]);
    const auto found = rotation_of(first, second);
    if (!found || shape(concat.inputs[0]) != shape(concat.inputs[1])) return false;
    const auto& [a, b, cosines, sines] = *found;
    const Shape half = shape(a);
    const auto axis = std::get<ConcatAttributes>(concat.attributes).axis;
    const Shape& part = shape(concat.inputs[0]);
    std::uint64_t together = 1;  // elements of each half that lie side by side in the result
    for (std::size_t i = axis; i < part.size(); ++i) together *= part[i];
    if (half.empty() || (together != half.back() && together != 1)) return false;
    const bool interleaved = together == 1;
    Shape whole = half;
    whole.back() *= 2;
    PlanNode node;
    node.op = op_rotary_embedding;
    node.attributes =
        ConcatAttributes{static_cast<std::uint32_t>(half.size() - (interleaved ? 0 : 1))};
    node.inputs = {a, b, cosines, sines};
    if (const auto all = whole_of(a, b, whole, interleaved)) node.inputs = {*all, cosines, sines};
    node.own_inputs = node.inputs.size();
    node.label = concat.label;
    const ValueId result = concat.outputs[0];
    const bool same = shape(result) == whole;
    node.outputs = {same ? result : new_value(whole)};
    if (!rotary_embedding(problem_of(graph_, node))) return false;
    nodes.push_back(node);
    if (!same)
      nodes.push_back(unary_node(op("reshape"), ReshapeAttributes{shape(result)}, node.outputs[0],
                                 result, concat.label));
    return true;
  }

  ValueId new_value(const Shape& shape) {
    PlanValue value;
    value.descriptor = {DataType::float32, shape};
    return graph_.add_value(std::move(value));
  }

  /// The value before reshapes that nobody else reads; no_value if `value` has other readers.
  ValueId only_source_of(ValueId value) const {
    while (const PlanNode* const reshape = match_.only_made_by(value, op("reshape")))
      value = reshape->inputs[0];
    return only_consumer(graph_, match_.uses(), value) == Uses::none ? ops::no_value : value;
  }

  std::optional<Rotation> rotation_of(ValueId first, ValueId second) const {
    const PlanNode* const difference = match_.made_by(first, op("sub"));
    const PlanNode* const sum = match_.made_by(second, op("add"));
    if (difference == nullptr || sum == nullptr) return std::nullopt;
    const auto product = [&](const PlanNode& of, std::size_t i) {
      return match_.only_made_by(of.inputs[i], op("mul"));
    };
    const PlanNode *const ac = product(*difference, 0), *const bs = product(*difference, 1),
                          *const one = product(*sum, 0), *const other = product(*sum, 1);
    if (ac == nullptr || bs == nullptr || one == nullptr || other == nullptr) return std::nullopt;
    const auto are = [](const PlanNode& mul, ValueId x, ValueId y) {
      return (mul.inputs[0] == x && mul.inputs[1] == y) ||
             (mul.inputs[0] == y && mul.inputs[1] == x);
    };
    for (const auto& [i, angle] : both_orders)
      for (const auto& [k, of_b] : both_orders) {
        const Rotation r{ac->inputs[i], bs->inputs[k], ac->inputs[angle], bs->inputs[of_b]};
        if (match_.descriptor(r.a) == match_.descriptor(first) &&
            match_.descriptor(r.b) == match_.descriptor(first) &&
            ((are(*one, r.a, r.sines) && are(*other, r.b, r.cosines)) ||
             (are(*other, r.a, r.sines) && are(*one, r.b, r.cosines))))
          return r;
      }
    return std::nullopt;
  }

  /// The value of shape `whole` whose halves, or even and odd elements, are slices a and b.
  std::optional<ValueId> whole_of(ValueId a, ValueId b, const Shape& whole,
                                  bool interleaved) const {
    const PlanNode *const even = match_.made_by(a, op("slice")), *const odd =
                                                                     match_.made_by(b, op("slice"));
    if (even == nullptr || odd == nullptr || even->inputs[0] != odd->inputs[0] ||
        shape(even->inputs[0]) != whole)
      return std::nullopt;
    const std::size_t last = whole.size() - 1;
    const auto begins = [&](const PlanNode& slice, std::uint32_t at) {
      const auto& own = std::get<SliceAttributes>(slice.attributes);
      for (std::size_t i = 0; i <= last; ++i)
        if (own.starts[i] != (i == last ? at : 0) ||
            (own.strides ? (*own.strides)[i] : 1) != (i == last && interleaved ? 2U : 1U))
          return false;
      return true;
    };
    return begins(*even, 0) && begins(*odd, interleaved ? 1 : whole[last] / 2)
               ? std::optional(even->inputs[0])
               : std::nullopt;
  }

  PlanGraph& graph_;
  Matcher match_;
};

}  // namespace

void recognise_rotary_embedding(PlanGraph& graph) { RotaryJoin(graph).run(); }

}  // namespace polychron::kernels
