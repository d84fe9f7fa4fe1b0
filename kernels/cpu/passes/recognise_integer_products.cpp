// Joins an exact product of 8-bit integers into one step. WebNN has products of floats only, so
// importers write sum over parts of cast(int32, a[part] x b[part]), where a and b are differences
// of 8-bit integers in float32, and parts of the inner dimension keep sums exact.
#include <numeric>

#include "kernels/cpu/passes/integer_difference.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/integer_product.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// Elements [begin, end) of the rows or columns of a matrix.
struct Interval {
  ValueId whole;
  std::uint32_t begin, end;
};

class Recogniser {
 public:
  explicit Recogniser(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    // The last node of a sum comes first.
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      PlanNode& node = graph_.nodes[i];
      if (node.removed || (node.op != op("add") && node.op != op("cast"))) continue;
      parts_.clear();
      if (auto product = product_of(node)) replace(i, *std::move(product));
    }
    graph_.sweep();
  }

 private:
  const Shape& shape(ValueId value) const { return graph_.values[value].descriptor.shape; }
  DataType type(ValueId value) const { return graph_.values[value].descriptor.data_type; }

  /// The integer product that ends in `last`. Its nodes, which nobody else reads, are `parts_`.
  std::optional<PlanNode> product_of(PlanNode& last) {
    std::optional<Interval> left, right;
    PlanNode* node = &last;
    for (bool ends = false; !ends;) {
      ends = node->op == op("cast");
      PlanNode* const cast = ends ? node : match_.only_made_by(node->inputs[1], op("cast"));
      if (cast == nullptr || type(cast->outputs[0]) != DataType::int32) return std::nullopt;
      PlanNode* const product = match_.only_made_by(cast->inputs[0], op("matmul"));
      if (product == nullptr) return std::nullopt;
      const auto a = stretch_of(product->inputs[0], 1), b = stretch_of(product->inputs[1], 2);
      if (!a || !b || a->begin != b->begin || a->end != b->end) return std::nullopt;
      if (left ? a->whole != left->whole || b->whole != right->whole || a->end != left->begin
               : a->end != shape(a->whole).back())
        return std::nullopt;
      left = a, right = b;
      parts_.insert(parts_.end(), {node, cast, product});
      if (ends) break;
      const ValueId rest = node->inputs[0];
      node = match_.only_made_by(rest, op("add"));
      if (node == nullptr) node = match_.only_made_by(rest, op("cast"));
      if (node == nullptr) return std::nullopt;
    }
    if (left->begin != 0) return std::nullopt;
    return joined(last, left->whole, right->whole);
  }

  /// The part of a matrix that `value` is, along the dimension that is `from_last` from the end.
  std::optional<Interval> stretch_of(ValueId value, std::size_t from_last) const {
    const PlanNode* const slice = match_.made_by(value, op("slice"));
    const ValueId whole = slice == nullptr ? value : slice->inputs[0];
    const Shape& all = shape(whole);
    if (all.size() < from_last) return std::nullopt;
    const std::size_t axis = all.size() - from_last;
    if (slice == nullptr) return Interval{whole, 0, all[axis]};
    const auto& a = std::get<SliceAttributes>(slice->attributes);
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((a.strides && (*a.strides)[i] != 1) ||
          (i != axis && (a.starts[i] != 0 || a.sizes[i] != all[i])))
        return std::nullopt;
    return Interval{whole, a.starts[axis], a.starts[axis] + a.sizes[axis]};
  }

  std::optional<PlanNode> joined(const PlanNode& last, ValueId left, ValueId right) {
    const auto a = difference_of(match_, left), b = difference_of(match_, right);
    // Constants are multiplied once, when they are folded.
    if (!a || !b || graph_.is_constant(a->elements)) return std::nullopt;
    if (b->zero != ops::no_value && shape(b->zero).size() > 0 &&
        shape(b->zero).back() != *element_count(shape(b->zero)))
      return std::nullopt;
    PlanNode node;
    node.op = op_integer_product;
    node.inputs = {a->elements, b->elements, a->zero, match_.source_of(b->zero)};
    node.own_inputs = node.inputs.size();
    node.outputs = last.outputs;
    node.label = last.label;
    if (const PlanNode* const transpose = match_.made_by(b->elements, op("transpose"))) {
      node.inputs[1] = transpose->inputs[0];
      node.input_orders = {{}, order_of(*transpose)};
    }
    return integer_operands(problem_of(graph_, node)) ? std::optional(std::move(node))
                                                      : std::nullopt;
  }

  std::vector<std::uint32_t> order_of(const PlanNode& transpose) const {
    const auto& permutation = std::get<TransposeAttributes>(transpose.attributes).permutation;
    if (permutation) return *permutation;
    std::vector<std::uint32_t> reversed(shape(transpose.inputs[0]).size());
    std::iota(reversed.rbegin(), reversed.rend(), 0U);
    return reversed;
  }

  /// Puts `product` in the place of its last part or, if that is all that reads it, of the cast to
  /// float32.
  void replace(std::size_t index, PlanNode product) {
    const std::size_t next = only_consumer(graph_, match_.uses(), product.outputs[0]);
    const bool real = next != Uses::none && graph_.nodes[next].op == op("cast") &&
                      type(graph_.nodes[next].outputs[0]) == DataType::float32;
    const std::size_t place = real ? next : index;
    if (real) {
      product.outputs = graph_.nodes[next].outputs;
      match_.forget(next);
    }
    for (PlanNode* const part : parts_) {
      match_.forget(static_cast<std::size_t>(part - graph_.nodes.data()));
      part->removed = true;
    }
    graph_.nodes[place] = std::move(product);
    match_.learn(place);
  }

  PlanGraph& graph_;
  Matcher match_;
  std::vector<PlanNode*> parts_;
};

}  // namespace

void recognise_integer_products(PlanGraph& graph) { Recogniser(graph).run(); }

}  // namespace polychron::kernels
