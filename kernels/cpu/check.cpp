#include "kernels/cpu/check.hpp"

#include <algorithm>
#include <string>

#include "base/invariant.hpp"
#include "kernels/attention_operands.hpp"
#include "kernels/chain.hpp"
#include "kernels/integer_convolution.hpp"
#include "kernels/integer_product.hpp"
#include "kernels/packed_product.hpp"
#include "kernels/rms_normalization.hpp"
#include "kernels/rotary_embedding.hpp"
#include "ops/dimensions.hpp"
#include "ops/infer.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

using ops::ValueId;

class GraphCheck {
 public:
  GraphCheck(const PlanGraph& graph, std::string_view pass)
      : graph_(graph), pass_(pass), known_(graph.values.size()) {}

  void run() {
    for (std::size_t i = 0; i < known_.size(); ++i)
      known_[i] = graph_.values[i].kind == ops::Value::Kind::constant && graph_.values[i].constant;
    for (const ValueId value : graph_.inputs) {
      expect(value < known_.size() && graph_.values[value].kind == ops::Value::Kind::input,
             "a graph's input is one");
      known_[value] = true;
    }
    for (const PlanNode& node : graph_.nodes) check(node);
    for (const ValueId value : graph_.outputs)
      expect(value < known_.size() && known_[value], "a graph's output is made");
  }

 private:
  void expect(bool holds, const char* what) const {
    if (holds) [[likely]]
      return;
    fail(what);
  }
  [[noreturn]] void fail(const std::string& what) const {
    std::string text = what;
    text.append(", after ").append(pass_);
    if (node_ != nullptr) {
      text.append(", of ").append(operator_name(node_->op));
      if (!node_->label.empty()) text.append(" '").append(node_->label).append("'");
    }
    throw BrokenInvariant(text.c_str(), SourcePlace::current());
  }

  void check(const PlanNode& node) {
    node_ = &node;
    expect(!node.removed, "removed nodes are swept out");
    expect(node.own_inputs <= node.inputs.size(), "a node has its own operands");
    for (const ValueId value : node.inputs) {
      if (value == ops::no_value) continue;
      expect(value < known_.size() && known_[value], "a node reads what is made before");
      const PlanValue& read = graph_.values[value];
      expect(!read.constant || read.constant->size() == byte_length(read.descriptor),
             "a constant has its descriptor's bytes");
    }
    for (const ValueId value : node.outputs) {
      expect(value < known_.size() && !known_[value], "a value is made once");
      known_[value] = true;
    }
    expect(node.input_orders.size() <= node.inputs.size(), "an order is an operand's");
    check_operator(node);
    if (node.op != op_chain)
      for (const PostOp& post_op : node.post_ops) check_post_op(node, post_op);
    node_ = nullptr;
  }

  /// The operator accepts its operands and infers the shapes of its results.
  void check_operator(const PlanNode& node) {
    if (is_internal(node.op)) return check_internal(node);
    const Problem problem = problem_of(graph_, node);
    const auto results = infer(node, {problem.inputs.data(), node.own_inputs});
    expect(results.size() == problem.outputs.size(), "an operator has its row's results");
    for (std::size_t i = 0; i < results.size(); ++i)
      expect(results[i] == problem.outputs[i].descriptor, "a result has its operator's shape");
  }

  void check_internal(const PlanNode& node) const {
    if (node.op == op_attention) return check_attention(node);
    if (node.op == op_integer_product || node.op == op_packed_product)
      return check_constant_product(node);
    if (node.op == op_integer_convolution) return check_integer_convolution(node);
    if (node.op == op_dynamic_quantization) return check_dynamic_quantization(node);
    if (node.op == op_chain)
      return expect(chain_types(problem_of(graph_, node)).has_value(),
                    "a chain is of operators of each element");
    if (node.op == op_cached_attention)
      return expect(node.outputs.size() == 1 && cached_attention(problem_of(graph_, node)),
                    "an attention over a cache is one that our loops take");
    if (node.op == op_rms_normalization)
      return expect(rms_normalization(problem_of(graph_, node)).has_value(),
                    "a normalization is one that our loops take");
    if (node.op == op_rotary_embedding)
      return expect(rotary_embedding(problem_of(graph_, node)).has_value(),
                    "a rotary embedding is one that our loops take");
    expect(node.own_inputs == 1 && node.outputs.size() == 1, "a pass's operator has one operand");
    const PlanValue& in = graph_.values[node.inputs[0]];
    const PlanValue& out = graph_.values[node.outputs[0]];
    if (node.op == op_view)
      expect(node.view_offset + *byte_length(out.descriptor) <=
                 storage_bytes(in.descriptor, in.layout),
             "a view lies in what it is of");
    else if (node.op != op_depth_to_space)
      expect(in.descriptor == out.descriptor, "a pass's operator keeps shape and type");
  }

  void check_dynamic_quantization(const PlanNode& node) const {
    expect(node.inputs.size() == 1 && node.outputs.size() == 3,
           "a dynamic quantization has one operand and three results");
    const auto descriptor = [&](ops::ValueId value) { return graph_.values[value].descriptor; };
    const OperandDescriptor &in = descriptor(node.inputs[0]), &out = descriptor(node.outputs[0]);
    const OperandDescriptor &scale = descriptor(node.outputs[1]),
                            &zero = descriptor(node.outputs[2]);
    expect(in.data_type == DataType::float32 && out.data_type == DataType::uint8 &&
               in.shape == out.shape,
           "a dynamic quantization makes bytes of floats");
    expect(scale.data_type == DataType::float32 && zero.data_type == DataType::uint8 &&
               element_count(scale.shape) == 1 && element_count(zero.shape) == 1,
           "a dynamic quantization has one scale and one zero point");
  }

  /// The first two operands make the scores, to which the mask broadcasts. The scores and the third
  /// operand make the result.
  void check_attention(const PlanNode& node) const {
    expect((node.own_inputs == 3 || node.own_inputs == 4) && node.outputs.size() == 1 &&
               node.inputs.size() == node.own_inputs && node.post_ops.empty(),
           "an attention has three operands, or a mask as well");
    const Problem problem = problem_of(graph_, node);
    const auto shape = [&](std::size_t i) { return problem.inputs[i].descriptor.shape; };
    const auto product = [&](Shape left, const Shape& right) {
      const bool fits =
          left.size() >= 2 && right.size() >= 2 && left.back() == right[right.size() - 2];
      expect(fits, "an attention's operands can be multiplied");
      left.back() = right.back();
      return left;
    };
    const Shape scores = product(shape(0), shape(1));
    expect(node.own_inputs == 3 || ops::broadcastable(shape(3), scores),
           "an attention's mask broadcasts to its scores");
    expect(product(scores, shape(2)) == problem.outputs[0].descriptor.shape,
           "an attention has its products' shape");
  }

  void check_constant_product(const PlanNode& node) const {
    expect(node.outputs.size() == 1, "a product has one result");
    const Problem problem = problem_of(graph_, node);
    const auto operands = integer_operands(problem);
    expect(operands || packed_operands(problem),
           "a product of integers is one that our loops take");
    expect(!operands || operands->result == problem.outputs[0].descriptor.data_type,
           "a product of integers has its last operator's type");
    Shape result = problem.inputs[0].descriptor.shape;
    result.back() = problem.inputs[1].descriptor.shape.back();
    expect(result == problem.outputs[0].descriptor.shape,
           "a product of integers has its operands' shape");
  }

  /// The float32 convolution of the same shapes has the result's shape.
  void check_integer_convolution(const PlanNode& node) const {
    expect(node.outputs.size() == 1 && node.own_inputs == 4, "a convolution has one result");
    Problem problem = problem_of(graph_, node);
    const auto convolution = integer_convolution(problem);
    expect(convolution.has_value(), "a convolution of integers is one that our loops take");
    const OperandDescriptor& result = problem.outputs[0].descriptor;
    expect(convolution->result == result.data_type, "a convolution has its last operator's type");
    PlanNode real = node;
    real.op = ops::op("conv2d");
    problem.inputs.resize(2);
    for (Slot& slot : problem.inputs) slot.descriptor.data_type = DataType::float32;
    expect(infer(real, problem.inputs)[0].shape == result.shape,
           "a convolution of integers has its operands' shape");
  }

  void check_post_op(const PlanNode& node, const PostOp& post_op) const {
    const OperandDescriptor& result = graph_.values[node.outputs[0]].descriptor;
    for (const std::uint32_t operand : post_op.operands) {
      expect(operand >= node.own_inputs && operand < node.inputs.size(),
             "a post-operation's operand is behind the operator's own");
      // Only products have an order of the result. Their post-operations then have no operands.
      expect(node.output_order.empty(), "a post-operation sees its result as it lies");
      const PlanValue& value = graph_.values[node.inputs[operand]];
      expect(ops::broadcastable(value.descriptor.shape, result.shape),
             "a post-operation's operand broadcasts to the result");
    }
  }

  std::vector<OperandDescriptor> infer(const PlanNode& node, std::span<const Slot> inputs) const {
    std::vector<const OperandDescriptor*> operands;
    for (const Slot& slot : inputs) operands.push_back(slot.present ? &slot.descriptor : nullptr);
    try {
      return ops::infer(ops::row(node.op), operands, node.attributes, node.label,
                        ops::OptionsAre::cast);
    } catch (const Error& error) {
      fail("an operator allows its operands: " + error.message());
    }
  }

  const PlanGraph& graph_;
  std::string_view pass_;
  std::vector<bool> known_;  ///< per value: true once it can be read
  const PlanNode* node_ = nullptr;
};

bool overlap(const Stretch& a, const Stretch& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

void check_graph(const PlanGraph& graph, std::string_view pass) { GraphCheck(graph, pass).run(); }

void ArenaCheck::write(Stretch at, std::size_t content) {
  std::erase_if(held_, [&](const Held& held) { return overlap(held.at, at); });
  if (at.begin < at.end) held_.push_back({at, content});
}

void ArenaCheck::read(Stretch at, std::size_t content) const {
  const auto holds = [&](const Held& held) {
    return held.content == content && held.at.begin <= at.begin && at.end <= held.at.end;
  };
  ensure(at.begin >= at.end || std::any_of(held_.begin(), held_.end(), holds),
         "memory is not used again before its last reader");
}

}  // namespace polychron::kernels
