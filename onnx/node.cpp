#include "onnx/node.hpp"

#include <algorithm>
#include <utility>

#include "onnx/constant_node.hpp"
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

Operand make_constant(Importer& importer, const Literal& literal) {
  const auto type = operand_type(literal.type);
  if (!type) unsupported("WebNN has no type " + std::string(to_string(literal.type)));
  if (count(literal) == 0) unsupported("WebNN has no empty tensors: " + to_string(literal.shape));
  const bool carried = element_type(*type) != literal.type &&
                       literal.type != ElementType::boolean && !is_packed(literal.type);
  return importer.builder.constant(
      {*type, literal.shape},
      share_bytes(carried ? cast_literal(literal, element_type(*type)) : literal));
}

Node::Node(const proto::NodeProto& message, const Frame& frame, Importer& shared)
    : opset(frame.opset),
      builder(shared.builder),
      importer(shared),
      message_(message),
      frame_(frame) {
  label_ = message.name().empty() && message.output_size() > 0 ? message.output(0) : message.name();
}

// -- inputs ---------------------------------------------------------------------------------------

/// An input that a function's caller left out has a name but no value.
bool Node::has_input(std::size_t i) const {
  if (i >= input_count() || message_.input(static_cast<int>(i)).empty()) return false;
  const auto* tensor = frame_.scope->find(message_.input(static_cast<int>(i)));
  return !tensor || tensor->literal || tensor->operand || tensor->sequence;
}

Tensor& Node::input(std::size_t i) const {
  if (!has_input(i)) malformed("input " + std::to_string(i) + " is missing");
  return frame_.scope->at(message_.input(static_cast<int>(i)));
}

std::vector<Tensor> Node::tensors() const {
  std::vector<Tensor> tensors(input_count());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (has_input(i)) tensors[i] = input(i).renamed();
  return tensors;
}

Dimensions Node::shape(std::size_t i) const {
  const auto& tensor = input(i);
  if (tensor.sequence) malformed("input " + std::to_string(i) + " is a sequence, not a tensor");
  return Dimensions(tensor.operand ? tensor.operand->shape() : tensor.literal->shape);
}

Operand Node::operand(std::size_t i) {
  auto& tensor = input(i);
  if (tensor.sequence) malformed("input " + std::to_string(i) + " is a sequence, not a tensor");
  if (!tensor.operand) {
    tensor.operand = constant_of(*tensor.literal);
    tensor.type = tensor.literal->type;
  }
  return *tensor.operand;
}

Operand Node::constant_of(const Literal& literal) {
  const auto type = operand_type(literal.type);
  if (frame_.depth > 0 && type && element_type(*type) != literal.type)
    importer.spend_bytes(count(literal) * element_size(element_type(*type)));
  return make_constant(importer, literal);
}

std::optional<Operand> Node::optional_operand(std::size_t i) {
  if (!has_input(i)) return std::nullopt;
  return operand(i);
}

DataType Node::data_type(std::size_t i) { return operand(i).data_type(); }

ElementType Node::type(std::size_t i) const {
  const auto& tensor = input(i);
  if (tensor.literal) return tensor.literal->type;
  if (tensor.type != ElementType::undefined || !tensor.operand) return tensor.type;
  return element_type(tensor.operand->data_type());
}

const Literal* Node::literal(std::size_t i) const {
  const auto& tensor = input(i);
  return tensor.literal ? &*tensor.literal : nullptr;
}

const Literal* Node::calculable_literal(std::size_t i) const {
  const auto* value = literal(i);
  if (!value || !calculable(*value)) return nullptr;
  elements_read_ += to_walk_through(*value);
  return value;
}

void Node::want_value(std::size_t i) const {
  unknown_value("input " + std::to_string(i) + " " + name_and_origin(i));
}

std::string Node::name_and_origin(std::size_t i) const {
  const auto& name = message_.input(static_cast<int>(i));
  const auto origin = importer.origin_of(name);
  return "(" + quote(name) + (origin.empty() ? "" : ", " + origin) + ")";
}

std::vector<std::int64_t> Node::integers(std::size_t i) const {
  const auto* value = literal(i);
  if (!value) want_value(i);
  if (count(*value) > max_calculated) malformed("input " + std::to_string(i) + " is too long");
  elements_read_ += to_walk_through(*value);
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

const proto::AttributeProto* Node::find(const char* name) const {
  for (const auto& attribute : message_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    // In a function: the attribute of the caller, or null.
    return frame_.caller ? frame_.caller->find(attribute.ref_attr_name().c_str()) : nullptr;
  }
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

std::optional<std::vector<double>> Node::real_list(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::FLOATS);
  if (!attribute) return std::nullopt;
  return std::vector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::vector<std::string> Node::text_list(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::STRINGS);
  if (!attribute) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

const proto::GraphProto& Node::graph(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::GRAPH);
  if (!attribute) malformed("attribute '" + std::string(name) + "' is missing");
  if (!attribute->has_g()) malformed("attribute '" + std::string(name) + "' holds no graph");
  return attribute->g();
}

Literal Node::constant() const {
  if (message_.attribute_size() != 1) malformed("exactly one attribute is expected");
  const auto* attribute = find(message_.attribute(0).name().c_str());
  if (!attribute) malformed("the function's caller does not give the value");
  auto copy = *attribute;
  copy.set_name(message_.attribute(0).name());
  ExternalData none{{}};
  return take_constant(copy, none).literal();
}

std::optional<Literal> Node::tensor(const char* name) const {
  const auto* attribute = find(name, proto::AttributeProto::TENSOR);
  if (!attribute) return std::nullopt;
  auto copy = attribute->t();
  ExternalData none{{}};
  return take_tensor(copy, none).literal();
}

std::optional<std::vector<std::int64_t>> Node::list(const char* name, std::size_t input,
                                                    std::int64_t since) const {
  if (opset < since) return integer_list(name);
  // Refuse it: without it the node would mean something else.
  if (has_attribute(name))
    malformed("attribute '" + std::string(name) + "' is an input since opset " +
              std::to_string(since));
  return optional_integers(input);
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

void Node::set(Tensor tensor, std::size_t i) {
  if (wants_output(i)) frame_.scope->put(message_.output(static_cast<int>(i)), std::move(tensor));
}

void Node::set(Operand operand, std::size_t i) {
  auto type = element_type(operand.data_type());
  const auto first = has_input(0) ? this->type(0) : type;
  const bool carried = first == ElementType::int16 || first == ElementType::uint16 ||
                       first == ElementType::float64 || first == ElementType::bfloat16 ||
                       is_packed(first);
  if (carried && operand_type(first) == operand.data_type()) type = first;
  set(std::move(operand), i, type);
}

void Node::set(Operand operand, std::size_t i, ElementType type) {
  set(Tensor{std::nullopt, std::move(operand), true, type, nullptr}, i);
}

void Node::set(Literal literal, std::size_t i) {
  const auto gave_it = [&](std::size_t input) {
    const auto* given = has_input(input) ? this->literal(input) : nullptr;
    return given && given->owner == literal.owner;
  };
  bool large = frame_.depth > 0 && count(literal) > max_calculated;
  for (std::size_t input = 0; large && input < input_count(); ++input) large = !gave_it(input);
  if (large || count(literal) <= max_calculated) importer.spend_bytes(literal.bytes.size());
  set(Tensor::of(std::move(literal)), i);
}

void Node::set_all(std::vector<Tensor> tensors) {
  for (std::size_t i = 0; i < output_count(); ++i) {
    if (!wants_output(i)) continue;
    if (i >= tensors.size()) malformed("output " + std::to_string(i) + " is made by nothing");
    set(std::move(tensors[i]), i);
  }
}

void Node::set_present(Operand whole, Operand fresh, std::size_t i) {
  const bool alone = wants_output(i) && frame_.depth == 0 &&
                     importer.has_only_new_steps(message_.output(static_cast<int>(i)));
  set(std::move(alone ? fresh : whole), i);
}

void Node::forward(std::size_t i, std::size_t output) { set(input(i).renamed(), output); }

}  // namespace polychron::onnx::detail
