// One node during the import, as its handler sees it: inputs, attributes, outputs, and the builder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/dimensions.hpp"
#include "onnx/importer.hpp"
#include "onnx/literal.hpp"
#include "onnx/problem.hpp"
#include "onnx/proto.hpp"
#include "polychron/graph_builder.hpp"

namespace polychron::onnx::detail {

/// A typed view of a NodeProto. Its errors do not name the node; the importer adds that. Lives for
/// one call of a handler.
class Node {
 public:
  Node(const proto::NodeProto& message, const Frame& frame, Importer& importer);

  const std::int64_t opset;
  GraphBuilder& builder;
  Importer& importer;

  /// The node's name; for a nameless node that of its first output. Its operators have it too.
  const std::string& label() const noexcept { return label_; }

  // -- inputs: an absent one is malformed, unless asked for as optional --------------------------
  std::size_t input_count() const noexcept {
    return static_cast<std::size_t>(message_.input_size());
  }
  bool has_input(std::size_t i) const;
  const Tensor& input_tensor(std::size_t i) const { return input(i); }
  /// All inputs, renamed; absent ones are empty.
  std::vector<Tensor> tensors() const;
  Dimensions shape(std::size_t i) const;
  std::size_t rank(std::size_t i) const { return shape(i).size(); }
  /// The operand of input `i`. A constant becomes an operand on first use.
  Operand operand(std::size_t i);
  /// The operand of an input's value. In a body, which may run many times, a conversion to another
  /// type counts towards the limits.
  Operand constant_of(const Literal& literal);
  std::optional<Operand> optional_operand(std::size_t i);
  DataType data_type(std::size_t i);
  /// The type in the model; the operand may carry it in another type.
  ElementType type(std::size_t i) const;
  /// The value if it is known, however large.
  const Literal* literal(std::size_t i) const;
  /// The value if it is known and small enough to calculate with.
  const Literal* calculable_literal(std::size_t i) const;
  /// Throws: input `i` must be known now.
  [[noreturn]] void want_value(std::size_t i) const;
  /// "('shape', calculated from input 'x')": the name of input `i`, and its origin.
  std::string name_and_origin(std::size_t i) const;
  /// A value that must be known now, such as a shape.
  std::vector<std::int64_t> integers(std::size_t i) const;
  std::optional<std::vector<std::int64_t>> optional_integers(std::size_t i) const;
  std::optional<double> optional_scalar(std::size_t i) const;

  /// The number of elements of known inputs that the handler has read so far.
  std::uint64_t elements_read() const noexcept { return elements_read_; }

  // -- attributes: one of the wrong type is malformed --------------------------------------------
  bool has_attribute(const char* name) const { return find(name) != nullptr; }
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  double real(const char* name, double otherwise) const;
  std::string text(const char* name, const std::string& otherwise) const;
  std::optional<std::vector<std::int64_t>> integer_list(const char* name) const;
  std::optional<std::vector<double>> real_list(const char* name) const;
  std::vector<std::string> text_list(const char* name) const;
  const proto::GraphProto& graph(const char* name) const;
  /// The value of a Constant.
  Literal constant() const;
  /// A tensor attribute, copied.
  std::optional<Literal> tensor(const char* name) const;
  /// A list that became an input (`input`) at opset `since`, an attribute before.
  std::optional<std::vector<std::int64_t>> list(const char* name, std::size_t input,
                                                std::int64_t since) const;
  /// `axis` counted from the front. Throws if it is not in [-rank, rank).
  std::uint32_t axis(std::int64_t axis, std::size_t rank) const;
  std::vector<std::uint32_t> axes(const std::vector<std::int64_t>& axes, std::size_t rank) const;

  // -- outputs -----------------------------------------------------------------------------------
  std::size_t output_count() const noexcept {
    return static_cast<std::size_t>(message_.output_size());
  }
  /// True if the model names output `i`.
  bool wants_output(std::size_t i) const noexcept;
  /// Throws if output `i` is wanted, because WebNN does not have it.
  void refuse_output(std::size_t i, const char* name) const;
  /// Sets output `i`. It has input 0's type if the operand's type can carry that.
  void set(Operand operand, std::size_t i = 0);
  void set(Operand operand, std::size_t i, ElementType type);
  /// Sets output `i`. Small literals count towards the limits; large ones only in bodies, unless
  /// they are an input in another shape. In the main graph a large one is an initializer, or made
  /// once.
  void set(Literal literal, std::size_t i = 0);
  void set(Tensor tensor, std::size_t i);
  /// Sets all outputs, from the results of a body.
  void set_all(std::vector<Tensor> tensors);
  /// Sets output `i`, which is a past input with new steps behind it, or these alone:
  /// ImportOptions::only_new_steps.
  void set_present(Operand whole, Operand fresh, std::size_t i);
  /// The output is input `i` itself.
  void forward(std::size_t i, std::size_t output = 0);

  /// Adds the nodes of a branch or body in an attribute.
  std::vector<Tensor> add_graph(const proto::GraphProto& graph, std::vector<Tensor> inputs = {}) {
    return importer.add_graph(graph, frame_, std::move(inputs));
  }

 private:
  const proto::AttributeProto* find(const char* name) const;
  const proto::AttributeProto* find(const char* name, int type) const;
  Tensor& input(std::size_t i) const;

  const proto::NodeProto& message_;
  const Frame frame_;
  std::string label_;
  mutable std::uint64_t elements_read_ = 0;
};

/// `values` as unsigned numbers. Throws if one is negative or too large; `what` names them.
std::vector<std::uint32_t> unsigned_list(const std::vector<std::int64_t>& values, const char* what);

/// The operand of a literal, in the type that carries the literal's. Throws if WebNN has none, or a
/// dimension is 0.
Operand make_constant(Importer& importer, const Literal& literal);

}  // namespace polychron::onnx::detail
