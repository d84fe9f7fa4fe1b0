#include "onnx/constant_node.hpp"

#include "onnx/problem.hpp"
#include "onnx/tensor_data.hpp"

namespace polychron::onnx::detail {

namespace {

Shape list_shape(int size) { return {static_cast<std::uint32_t>(size)}; }

}  // namespace

Constant take_constant(proto::AttributeProto& attribute, ExternalData& external) {
  const auto& name = attribute.name();
  if (name == "value" && attribute.has_t()) return take_tensor(*attribute.mutable_t(), external);
  if (name == "value_float" && attribute.has_f())
    return make_literal(ElementType::float32, {}, std::vector<double>{attribute.f()});
  if (name == "value_int" && attribute.has_i())
    return make_literal(ElementType::int64, {}, std::vector<std::int64_t>{attribute.i()});
  if (name == "value_floats")
    return make_literal(ElementType::float32, list_shape(attribute.floats_size()),
                        std::vector<double>(attribute.floats().begin(), attribute.floats().end()));
  if (name == "value_ints")
    return make_literal(
        ElementType::int64, list_shape(attribute.ints_size()),
        std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
  if (name == "value_string" || name == "value_strings" || name == "sparse_value")
    unsupported("attribute " + quote(name) + ": strings and sparse tensors are not supported");
  malformed("attribute " + quote(name) + " is not understood");
}

}  // namespace polychron::onnx::detail
