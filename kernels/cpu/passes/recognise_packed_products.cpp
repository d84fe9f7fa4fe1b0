// Joins a product and its constant matrix of 4-bit or 8-bit integers into one step, in which the
// matrix stays packed. Graphs write the matrix as dequantizeLinear(q, scale, zero point), and then
//  - nothing, or
//  - add(minimum), as in GGUF's Q4_1, or
//  - sub(zero point), mul(scale), where zero points are floats and the first scale is 1.
// Reshapes may divide columns into blocks, and a transpose may come last. Of a gemm's c an addition
// of its own remains.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/packed_int4.hpp"
#include "kernels/packed_product.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// The product's matrix in memory: [columns, elements] or [elements, columns].
struct QuantizedShape {
  std::uint32_t elements, columns;
  bool by_columns;  ///< a column's elements are neighbours
};

/// A constant with a number for each block of a column, or for several blocks or columns.
class BlockNumbers {
 public:
  /// `constant` has the shape `own`, which blocks of `shape` share. nullopt if elements of a block
  /// have different numbers.
  static std::optional<BlockNumbers> of(const PlanValue& constant, Shape own, const Shape& shape,
                                        const QuantizedShape& matrix) {
    if (own.size() > shape.size()) return std::nullopt;
    own.insert(own.begin(), shape.size() - own.size(), 1);
    // The dimensions of the columns' elements: one, or blocks and what is in them.
    const bool divided = shape.size() == 3;
    const std::size_t first = matrix.by_columns ? 1 : 0,
                      of_columns = matrix.by_columns ? 0 : shape.size() - 1;
    if (shape.size() != 2 && !divided) return std::nullopt;
    const std::uint32_t elements = divided ? shape[first] * shape[first + 1] : shape[first];
    if (elements != matrix.elements || shape[of_columns] != matrix.columns) return std::nullopt;
    std::uint32_t blocks = own[first];
    if (divided) {
      if (own[first + 1] != 1 && own[first] != shape[first]) return std::nullopt;
      blocks *= own[first + 1];
    }
    return BlockNumbers(constant, blocks, own[of_columns], matrix);
  }
  std::uint32_t blocks() const { return blocks_; }
  /// The number for block `block` of `blocks`.
  double at(std::uint32_t block, std::uint32_t blocks, std::uint32_t column) const {
    const std::size_t b = block / (blocks / blocks_), c = column / (matrix_.columns / columns_);
    const std::size_t i = matrix_.by_columns ? c * blocks_ + b : b * columns_ + c;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(constant_->data());
    switch (type_) {
      case DataType::float32:
        return reinterpret_cast<const float*>(bytes)[i];
      case DataType::int4:
        return nibble<std::int8_t>(bytes, i);
      case DataType::uint4:
        return nibble<std::uint8_t>(bytes, i);
      case DataType::int8:
        return static_cast<std::int8_t>(bytes[i]);
      default:
        return bytes[i];
    }
  }
  bool all(double number) const {
    for (std::uint32_t b = 0; b < blocks_; ++b)
      for (std::uint32_t c = 0; c < matrix_.columns; ++c)
        if (at(b, blocks_, c) != number) return false;
    return true;
  }

 private:
  BlockNumbers(const PlanValue& constant, std::uint32_t blocks, std::uint32_t columns,
               const QuantizedShape& matrix)
      : constant_(constant.constant),
        type_(constant.descriptor.data_type),
        blocks_(blocks),
        columns_(columns),
        matrix_(matrix) {}

  ops::ConstantBytes constant_;
  DataType type_;
  std::uint32_t blocks_, columns_;
  QuantizedShape matrix_;
};

/// A matrix of integers with what makes real numbers of them.
struct QuantizedMatrix {
  ValueId elements = ops::no_value;
  std::optional<BlockNumbers> scale, zero, minimum;
};

class PackedRecogniser {
 public:
  explicit PackedRecogniser(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    std::vector<PlanNode> nodes;
    for (const PlanNode& node : graph_.nodes) {
      auto product = product_of(node);
      if (!product) {
        nodes.push_back(node);
        continue;
      }
      nodes.push_back(*std::move(product));
      if (has_c(node)) add_c(nodes, node.inputs[2]);
    }
    graph_.nodes = std::move(nodes);
    graph_.sweep();
  }

 private:
  const Shape& shape(ValueId value) const { return graph_.values[value].descriptor.shape; }

  static bool has_c(const PlanNode& node) {
    return node.op == op("gemm") && node.inputs.size() > 2 && node.inputs[2] != ops::no_value;
  }

  /// Lets the last of `nodes` make a value of its own, to which another one adds `c`.
  void add_c(std::vector<PlanNode>& nodes, ValueId c) {
    PlanNode& product = nodes.back();
    PlanNode add;
    add.op = op("add");
    add.outputs = product.outputs;
    add.label = product.label;
    PlanValue result;
    result.descriptor = graph_.values[add.outputs[0]].descriptor;
    product.outputs = {graph_.add_value(std::move(result))};
    add.inputs = {product.outputs[0], c};
    add.own_inputs = add.inputs.size();
    nodes.push_back(std::move(add));
  }

  std::optional<PlanNode> product_of(const PlanNode& node) {
    if (node.op != op("matmul") && node.op != op("gemm")) return std::nullopt;
    bool transposed = false;
    if (node.op == op("gemm")) {
      const auto& a = std::get<GemmAttributes>(node.attributes);
      if (a.alpha != 1 || a.a_transpose || (has_c(node) && a.beta != 1)) return std::nullopt;
      transposed = a.b_transpose;
    }
    ValueId value = node.inputs[1];
    if (graph_.is_constant(node.inputs[0]) || shape(value).size() != 2 ||
        !match_.is_float32(value) || !match_.is_float32(node.inputs[0]))
      return std::nullopt;
    while (const PlanNode* const turn = match_.made_by(value, op("transpose"))) {
      const auto& order = std::get<TransposeAttributes>(turn->attributes).permutation;
      if (!order || (*order)[0] == 1) transposed = !transposed;
      value = turn->inputs[0];
    }
    const Shape& lies = shape(value);
    const QuantizedShape matrix{lies[transposed ? 1 : 0], lies[transposed ? 0 : 1], transposed};
    const auto quantized = quantized_matrix(value, matrix);
    return quantized ? joined(node, matrix, *quantized) : std::nullopt;
  }

  /// Reads the operators that make `value`, from the last one to dequantizeLinear.
  std::optional<QuantizedMatrix> quantized_matrix(ValueId value,
                                                  const QuantizedShape& matrix) const {
    QuantizedMatrix q;
    std::optional<BlockNumbers> factor;
    value = match_.source_of(value);
    if (const PlanNode* const add = match_.made_by(value, op("add"))) {
      for (const auto& [from, number] : both_orders)
        if (!q.minimum && is_constant(add->inputs[number])) {
          q.minimum = numbers(add->inputs[number], shape(value), matrix);
          if (shape(add->inputs[from]) != shape(value)) return std::nullopt;
          value = add->inputs[from];
        }
      if (!q.minimum) return std::nullopt;
    } else if (const PlanNode* const mul = match_.made_by(value, op("mul"))) {
      const auto& [from, number] = both_orders[is_constant(mul->inputs[0]) ? 1 : 0];
      factor = numbers(mul->inputs[number], shape(value), matrix);
      const PlanNode* const sub = match_.made_by(mul->inputs[from], op("sub"));
      if (!factor || sub == nullptr || shape(sub->outputs[0]) != shape(value)) return std::nullopt;
      q.zero = numbers(sub->inputs[1], shape(value), matrix);
      if (!q.zero || shape(sub->inputs[0]) != shape(value)) return std::nullopt;
      value = sub->inputs[0];
    }
    value = match_.source_of(value);
    const PlanNode* const real = match_.made_by(value, op("dequantizeLinear"));
    if (real == nullptr) return std::nullopt;
    q.elements = match_.source_of(real->inputs[0]);
    q.scale = numbers(real->inputs[1], shape(value), matrix);
    const auto zero = numbers(real->inputs[2], shape(value), matrix);
    if (!graph_.is_constant(q.elements) || !q.scale || !zero) return std::nullopt;
    if (factor) {
      if (!q.scale->all(1) || !zero->all(0)) return std::nullopt;
      q.scale = factor;
    } else {
      q.zero = zero;
    }
    return q;
  }

  std::optional<BlockNumbers> numbers(ValueId value, const Shape& of,
                                      const QuantizedShape& matrix) const {
    if (const PlanNode* const same = match_.made_by(value, op("expand"))) value = same->inputs[0];
    if (!is_constant(value)) return std::nullopt;
    return BlockNumbers::of(graph_.values[match_.source_of(value)], shape(value), of, matrix);
  }

  bool is_constant(ValueId value) const { return graph_.is_constant(match_.source_of(value)); }

  std::optional<PlanNode> joined(const PlanNode& last, const QuantizedShape& matrix,
                                 const QuantizedMatrix& q) {
    std::uint32_t blocks = 1;
    for (const auto* part : {&q.scale, &q.zero, &q.minimum})
      if (*part) blocks = std::max(blocks, (*part)->blocks());
    for (const auto* part : {&q.scale, &q.zero, &q.minimum})
      if (*part && blocks % (*part)->blocks() != 0) return std::nullopt;
    if (matrix.elements % blocks != 0 || matrix.elements / blocks < least_packed_block)
      return std::nullopt;
    PlanNode node;
    node.op = op_packed_product;
    node.inputs = {last.inputs[0], matrix_of(q.elements, matrix)};
    for (const auto* part : {&q.scale, &q.zero, &q.minimum}) {
      const auto table = table_of(*part, blocks, matrix);
      if (!table) return std::nullopt;
      node.inputs.push_back(*table);
    }
    node.own_inputs = node.inputs.size();
    if (matrix.by_columns) node.input_orders = {{}, {1, 0}};
    node.outputs = last.outputs;
    node.label = last.label;
    return packed_operands(problem_of(graph_, node)) ? std::optional(std::move(node))
                                                     : std::nullopt;
  }

  /// The elements as a matrix of two dimensions.
  ValueId matrix_of(ValueId elements, const QuantizedShape& matrix) {
    PlanValue value = graph_.values[elements];
    value.descriptor.shape = matrix.by_columns ? Shape{matrix.columns, matrix.elements}
                                               : Shape{matrix.elements, matrix.columns};
    return graph_.add_value(std::move(value));
  }

  /// A constant [blocks, columns]; none for zeros. nullopt if a number is not finite: the step
  /// would not compute with it as the operators do.
  std::optional<ValueId> table_of(const std::optional<BlockNumbers>& numbers, std::uint32_t blocks,
                                  const QuantizedShape& matrix) {
    if (!numbers || numbers->all(0)) return ops::no_value;
    std::vector<float> table;
    table.reserve(std::size_t{blocks} * matrix.columns);
    for (std::uint32_t b = 0; b < blocks; ++b)
      for (std::uint32_t c = 0; c < matrix.columns; ++c)
        table.push_back(static_cast<float>(numbers->at(b, blocks, c)));
    if (!std::ranges::all_of(table, [](float x) { return std::isfinite(x); })) return std::nullopt;
    return graph_.add_constant({blocks, matrix.columns}, table);
  }

  PlanGraph& graph_;
  Matcher match_;
};

}  // namespace

void recognise_packed_products(PlanGraph& graph) { PackedRecogniser(graph).run(); }

}  // namespace polychron::kernels
