#include "onnx/node.hpp"

#include <algorithm>
#include <utility>

#include "onnx/tensor_data.hpp"

namespace polychron::onnx::detail {

std::vector<std::uint32_t> unsigned_list(const std::vector<std::int64_t>& values,
                                         const char* what) {
  std::vector<std::uint32_t> list;
  for (const auto value : values) {
    if (!std::in_range<std::uint32_t>(value))
      unsupported(std::string(what) + " of " + std::to_string(value));
    list.push_back(static_cast<std::uint32_t>(value));
  }
  return list;
}

Operand make_constant(GraphBuilder& builder, const Literal& literal) {
  const auto type = operand_type(literal.type);
  if (!type) unsupported("WebNN has no type " + std::string(to_string(literal.type)));
  if (count(literal) == 0) unsupported("WebNN has no empty tensors: " + to_string(literal.shape));
  return builder.constant({*type, literal.shape}, share_bytes(literal));
}

Node::Node(const proto::NodeProto& message, std::int64_t opset_version, GraphBuilder& graph_builder,
           Tensors& tensors)
    : opset(opset_version), builder(graph_builder), message_(message), tensors_(tensors) {
  label_ = message.name().empty() && message.output_size() > 0 ? message.output(0) : message.name();
}

// -- inputs ---------------------------------------------------------------------------------------

bool Node::has_input(std::size_t i) const noexcept {
  return i < input_count() && !message_.input(static_cast<int>(i)).empty();
}

Tensor& Node::input(std::size_t i) const {
  if (!has_input(i)) malformed("input " + std::to_string(i) + " is missing");
  return tensors_.at(message_.input(static_cast<int>(i)));
}

const Shape& Node::shape(std::size_t i) const {
  const auto& tensor = input(i);
  return tensor.operand ? tensor.operand->shape() : tensor.literal->shape;
}

Operand Node::operand(std::size_t i) {
  auto& tensor = input(i);
  if (!tensor.operand) tensor.operand = make_constant(builder, *tensor.literal);
  return *tensor.operand;
}

std::optional<Operand> Node::optional_operand(std::size_t i) {
  if (!has_input(i)) return std::nullopt;
  return operand(i);
}

DataType Node::data_type(std::size_t i) { return operand(i).data_type(); }

const Literal* Node::literal(std::size_t i) const {
  const auto& tensor = input(i);
  return tensor.literal ? &*tensor.literal : nullptr;
}

const Literal* Node::calculable_literal(std::size_t i) const {
  const auto* value = literal(i);
  return value && calculable(*value) ? value : nullptr;
}

void Node::want_value(std::size_t i) const {
  unknown_value("input " + std::to_string(i) + " (" + quote(message_.input(static_cast<int>(i))) +
                ")");
}

std::vector<std::int64_t> Node::integers(std::size_t i) const {
  const auto* value = literal(i);
  if (!value) want_value(i);
  if (count(*value) > max_calculated) malformed("input " + std::to_string(i) + " is too long");
  return detail::integers(*value);
}

std::optional<std::vector<std::int64_t>> Node::optional_integers(std::size_t i) const {
  if (!has_input(i)) return std::nullopt;
  return integers(i);
}

std::optional<double> Node::optional_scalar(std::size_t i) const {
  if (!has_input(i)) return std::nullopt;
  const auto* value = literal(i);
  if (!value) want_value(i);
  if (count(*value) != 1) malformed("input " + std::to_string(i) + " must be a scalar");
  return reals(*value).front();
}

// -- attributes -----------------------------------------------------------------------------------

const proto::AttributeProto* Node::find(const char* name) const noexcept {
  for (const auto& attribute : message_.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const proto::AttributeProto* Node::find(const char* name, int type) const {
  const auto* attribute = find(name);
  if (attribute && attribute->type() != type)
    malformed("attribute '" + std::string(name) + "' has the wrong type");
  return attribute;
}

std::int64_t Node::integer(const char* name, std::int64_t otherwise) const {
  const auto* attribute = find(name, proto::AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double Node::real(const char* name, double otherwise) const {
  const auto* attribute = find(name, proto::AttributeProto::FLOAT);
  return attribute ? static_cast<double>(attribute->f()) : otherwise;
}

std::string Node::text(const char* name, const std::string& otherwise) const {
  const auto* attribute = find(name, proto::AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise;
}

std::optional<std::vector<std::int64_t>> Node::integer_list(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::INTS);
  if (!attribute) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<Literal> Node::tensor(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::TENSOR);
  if (!attribute) return std::nullopt;
  auto copy = attribute->t();
  ExternalData none{{}};
  return take_tensor(copy, none);
}

std::optional<std::vector<std::int64_t>> Node::list(const char* name, std::size_t input,
                                                    std::int64_t since) const {
  return opset >= since ? optional_integers(input) : integer_list(name);
}

std::uint32_t Node::axis(std::int64_t axis, std::size_t rank) const {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    malformed("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return static_cast<std::uint32_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::uint32_t> Node::axes(const std::vector<std::int64_t>& axes,
                                      std::size_t rank) const {
  std::vector<std::uint32_t> list;
  for (const auto a : axes) {
    list.push_back(axis(a, rank));
    if (std::count(list.begin(), list.end(), list.back()) > 1)
      malformed("axis " + std::to_string(a) + " is given twice");
  }
  return list;
}

// -- outputs --------------------------------------------------------------------------------------

bool Node::wants_output(std::size_t i) const noexcept {
  return i < output_count() && !message_.output(static_cast<int>(i)).empty();
}

void Node::refuse_output(std::size_t i, const char* name) const {
  if (wants_output(i)) unsupported("output '" + std::string(name) + "' does not exist in WebNN");
}

void Node::put(Tensor tensor, std::size_t i) {
  if (wants_output(i)) tensors_[message_.output(static_cast<int>(i))] = std::move(tensor);
}

void Node::set(Operand operand, std::size_t i) { put({std::nullopt, std::move(operand), true}, i); }

void Node::set(Literal literal, std::size_t i) {
  put({std::move(literal), std::nullopt, false}, i);
}

void Node::forward(std::size_t i) {
  auto tensor = input(i);
  tensor.result = false;
  put(std::move(tensor), 0);
}

}  // namespace polychron::onnx::detail
