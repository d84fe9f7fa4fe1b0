// Keeps pictures between convolutions in blocked layouts, which oneDNN computes fastest. Reorders
// stand only where a plain and a blocked layout meet: at inputs, at outputs and at operators that
// take only plain layouts.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/fusion.hpp"
#include "kernels/kernel.hpp"
#include "kernels/window_range.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

class LayoutChooser {
 public:
  explicit LayoutChooser(PlanGraph& graph) : graph_(graph), blocked_(picture_layout()) {}

  void run() {
    std::vector<PlanNode> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (PlanNode& node : nodes) {
      if (auto padding = take_padding(node)) add(*std::move(padding));
      add(std::move(node));
    }
    for (ValueId& value : graph_.outputs) value = in_layout(value, Layout::plain);
  }

 private:
  const Shape& shape(ValueId value) const { return graph_.values[value].descriptor.shape; }
  bool is_blocked(ValueId value) const { return graph_.values[value].layout == blocked_; }
  bool whole_blocks(std::uint32_t channels) const {
    return channels % channel_block(blocked_) == 0;
  }

  void add(PlanNode node) {
    choose(node);
    graph_.nodes.push_back(std::move(node));
  }

  /// Takes a convolution's padding out of it, into the node that it returns, if the library then
  /// has a real kernel in blocks, which is several times faster. Its kernels (2.6.3) refuse padding
  /// wider than the pixels that they compute together, which are 3 with AVX2.
  std::optional<PlanNode> take_padding(PlanNode& node) {
    const auto* const a = std::get_if<Conv2dAttributes>(&node.attributes);
    if (a == nullptr || graph_.values[node.outputs[0]].descriptor.data_type != DataType::float32 ||
        !convolves_in_blocks(node) || has_real_kernel(node))
      return std::nullopt;
    const auto weights = floats_of(graph_.values[node.inputs[1]]);
    // The padding would meet them: 0 * infinity is NaN.
    if (!std::ranges::all_of(weights, [](float weight) { return std::isfinite(weight); }))
      return std::nullopt;
    const auto& p = a->padding;
    PlanValue padded = graph_.values[node.inputs[0]];
    padded.kind = ops::Value::Kind::result;
    padded.layout = Layout::plain;
    padded.constant.reset();
    padded.descriptor.shape[2] += p[0] + p[1];
    padded.descriptor.shape[3] += p[2] + p[3];
    if (!byte_length(padded.descriptor)) return std::nullopt;
    PlanNode rest = node;
    std::get<Conv2dAttributes>(rest.attributes).padding = {0, 0, 0, 0};
    rest.inputs[0] = graph_.add_value(std::move(padded));
    if (!has_real_kernel(rest)) return std::nullopt;
    PadAttributes padding{{0, 0, p[0], p[2]}, {0, 0, p[1], p[3]}, PaddingMode::constant, 0.0};
    auto pad =
        unary_node(op("pad"), std::move(padding), node.inputs[0], rest.inputs[0], node.label);
    node = std::move(rest);
    return pad;
  }

  /// Chooses the layouts of the node's result and operands.
  void choose(PlanNode& node) {
    const Layout layout = result_layout(node);
    const Shape result = node.outputs.empty() ? Shape{} : shape(node.outputs[0]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId& value = node.inputs[i];
      if (value == ops::no_value) continue;
      value = in_layout(value, operand_layout(node, i, layout, result));
    }
    for (const ValueId value : node.outputs) graph_.values[value].layout = layout;
  }

  Layout result_layout(const PlanNode& node) const {
    if (node.outputs.size() != 1 || shape(node.outputs[0]).size() != 4) return Layout::plain;
    if (graph_.values[node.outputs[0]].descriptor.data_type != DataType::float32)
      return Layout::plain;
    if (is(node.op, ops::Family::convolution))
      return convolves_in_blocks(node) && has_real_kernel(node) ? blocked_ : Layout::plain;
    if (node.op == op_depth_to_space)
      return whole_taps(node) && is_blocked(node.inputs[0]) ? blocked_ : Layout::plain;
    return follows(node) && is_computed_in_blocks(node) ? blocked_ : Layout::plain;
  }

  /// The node's problem with its result in blocks.
  Problem in_blocks(const PlanNode& node) const {
    Problem problem = problem_of(graph_, node);
    const Shape& result = shape(node.outputs[0]);
    problem.outputs[0].layout = blocked_;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      Slot& slot = problem.inputs[i];
      if (!slot.present) continue;
      const Layout layout = operand_layout(node, i, blocked_, result);
      if (layout != slot.layout) slot.constant.reset();  // a reorder will replace it
      slot.layout = layout;
    }
    return problem;
  }

  /// True if some implementation takes the node in blocks.
  bool is_computed_in_blocks(const PlanNode& node) const {
    const Problem problem = in_blocks(node);
    return std::ranges::any_of(implementations(node.op), [&](const Implementation& known) {
      return static_cast<bool>(known.prepare(problem));
    });
  }

  /// True if the convolution has a kernel in blocks other than the library's reference
  /// implementation.
  bool has_real_kernel(const PlanNode& node) const { return !way_of(in_blocks(node)).empty(); }

  /// True if the channels of each tap fill whole blocks.
  bool whole_taps(const PlanNode& node) const {
    const Shape& in = shape(node.inputs[0]);
    const Shape& out = shape(node.outputs[0]);
    return whole_blocks(in[1] / (out[2] / in[2] * (out[3] / in[3])));
  }

  bool convolves_in_blocks(const PlanNode& node) const {
    if (!graph_.is_constant(node.inputs[1])) return false;
    // A picture of one pixel is a vector, so its convolution is a product.
    if (shape(node.inputs[0])[2] == 1 && shape(node.inputs[0])[3] == 1) return false;
    const std::uint32_t in = shape(node.inputs[0])[1], out = shape(node.outputs[0])[1];
    const auto fits = [&](std::uint32_t groups, InputOperandLayout layout) {
      if (layout != InputOperandLayout::nchw) return false;
      return groups == 1 || (groups == in && groups == out) ||
             (whole_blocks(in / groups) && whole_blocks(out / groups));
    };
    // The library refuses windows far outside of the picture, and no other kernel takes all of
    // these.
    const auto near = [&](const auto& a, ValueId picture) {
      return windows_stay_near(a, shape(picture)[2], shape(picture)[3]);
    };
    if (const auto* a = std::get_if<Conv2dAttributes>(&node.attributes))
      return near(*a, node.inputs[0]) && fits(a->groups, a->input_layout);
    const auto& a = std::get<ConvTranspose2dAttributes>(node.attributes);
    Problem plain = problem_of(graph_, node);
    for (Slot& slot : plain.inputs) slot.layout = Layout::plain;
    if (way_of(plain) == by_scattering) return false;
    // With fewer channels the library would compute a block that is mostly padding.
    return near(a, node.outputs[0]) && a.groups == 1 && out >= channel_block(blocked_) / 2 &&
           fits(1, a.input_layout);
  }

  /// True if a convolution with its result in blocks also takes its picture in blocks. oneDNN
  /// (2.6.3) has a fast kernel from a plain picture with less than a block of channels to blocks.
  /// For the same picture in blocks it has only its reference implementation, 20 to 3,000 times
  /// slower. A transposed convolution has a fast kernel only if both pictures have the same layout.
  bool reads_blocks(const PlanNode& node) const {
    const auto* const a = std::get_if<Conv2dAttributes>(&node.attributes);
    if (a == nullptr || a->groups != 1) return true;
    if (shape(node.inputs[0])[1] >= channel_block(blocked_)) return true;
    Problem problem = problem_of(graph_, node);
    problem.inputs[0].layout = problem.outputs[0].layout = blocked_;
    return way_of(problem) == by_panels;
  }

  /// True if the node is best computed in blocks because its picture already comes in blocks.
  bool follows(const PlanNode& node) const {
    const auto blocked = [&](ValueId value) { return value != ops::no_value && is_blocked(value); };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), blocked)) return false;
    if (const auto* a = std::get_if<Pool2dAttributes>(&node.attributes))
      return a->layout == InputOperandLayout::nchw;
    if (node.op == op("resample2d"))
      return std::get<Resample2dAttributes>(node.attributes).axes ==
             std::vector<std::uint32_t>{2, 3};
    if (const auto* a = std::get_if<ConcatAttributes>(&node.attributes))
      return a->axis == 1 && std::all_of(node.inputs.begin(), node.inputs.end(),
                                         [&](ValueId v) { return blocked(v); });
    return elementwise(node) && is_whole_and_blocked(node);
  }

  static bool elementwise(const PlanNode& node) {
    return is(node.op, ops::Family::elementwise) || is(node.op, ops::Family::activation) ||
           node.op == op_swish;
  }

  /// True if an operand of the result's shape comes in blocks. A small blocked operand alone is no
  /// reason. In blocks a broadcast operand must come second.
  bool is_whole_and_blocked(const PlanNode& node) const {
    const Shape& result = shape(node.outputs[0]);
    const std::size_t count = commutes(node.op) ? node.own_inputs : 1;
    for (std::size_t i = 0; i < count; ++i)
      if (shape(node.inputs[i]) == result && is_blocked(node.inputs[i])) return true;
    return false;
  }

  Layout operand_layout(const PlanNode& node, std::size_t index, Layout result_layout,
                        const Shape& result) const {
    if (node.op == op_depth_to_space) return graph_.values[node.inputs[0]].layout;
    if (result_layout == Layout::plain) return Layout::plain;
    const Shape& own = shape(node.inputs[index]);
    if (index >= node.own_inputs) return own == result ? result_layout : Layout::plain;
    if (is(node.op, ops::Family::convolution))
      return index == 0 && reads_blocks(node) ? result_layout : Layout::plain;
    if (!elementwise(node)) return result_layout;
    // A vector of channels takes the picture's layout; a scalar stays plain.
    return own.size() == 4 && own[1] == result[1] ? result_layout : Layout::plain;
  }

  /// `value` in `layout`: itself, or the result of a reorder, which is made once.
  ValueId in_layout(ValueId value, Layout layout) {
    if (graph_.values[value].layout == layout) return value;
    const auto [known, added] = reordered_.try_emplace({value, layout}, ops::no_value);
    if (!added) return known->second;
    PlanValue result = graph_.values[value];
    result.kind = ops::Value::Kind::result;
    result.layout = layout;
    result.constant.reset();
    // A pixel of whole blocks has the same bytes in either layout.
    const Shape& own = result.descriptor.shape;
    const bool same_bytes = own[2] == 1 && own[3] == 1 && whole_blocks(own[1]);
    PlanNode reorder;
    reorder.op = same_bytes ? op_view : op_reorder;
    reorder.inputs = {value};
    reorder.own_inputs = 1;
    known->second = graph_.add_value(std::move(result));
    reorder.outputs = {known->second};
    graph_.nodes.push_back(std::move(reorder));
    return known->second;
  }

  PlanGraph& graph_;
  Layout blocked_;
  std::map<std::pair<ValueId, Layout>, ValueId> reordered_;
};

}  // namespace

void choose_layouts(PlanGraph& graph) { LayoutChooser(graph).run(); }

}  // namespace polychron::kernels
