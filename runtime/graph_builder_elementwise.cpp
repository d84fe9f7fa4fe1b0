// GraphBuilder's element-wise operators and activations: each names its row of the operator table,
// which does the rest.
#include "polychron/graph_builder.hpp"
#include "runtime/add_operator.hpp"

namespace polychron {

using detail::add_one;
using detail::attributes_of;
using ops::op;

// -- element-wise, two operands ----------------------------------------------------------------

Operand GraphBuilder::add(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("add"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::sub(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("sub"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::mul(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("mul"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::div(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("div"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::max(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("max"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::min(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("min"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::pow(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("pow"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::equal(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("equal"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::not_equal(const Operand& a, const Operand& b,
                                const OperatorOptions& options) {
  return add_one(state_, op("notEqual"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::greater(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("greater"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::greater_or_equal(const Operand& a, const Operand& b,
                                       const OperatorOptions& options) {
  return add_one(state_, op("greaterOrEqual"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::lesser(const Operand& a, const Operand& b, const OperatorOptions& options) {
  return add_one(state_, op("lesser"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::lesser_or_equal(const Operand& a, const Operand& b,
                                      const OperatorOptions& options) {
  return add_one(state_, op("lesserOrEqual"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::logical_and(const Operand& a, const Operand& b,
                                  const OperatorOptions& options) {
  return add_one(state_, op("logicalAnd"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::logical_or(const Operand& a, const Operand& b,
                                 const OperatorOptions& options) {
  return add_one(state_, op("logicalOr"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::logical_xor(const Operand& a, const Operand& b,
                                  const OperatorOptions& options) {
  return add_one(state_, op("logicalXor"), {&a, &b}, {}, options.label);
}
Operand GraphBuilder::prelu(const Operand& input, const Operand& slope,
                            const OperatorOptions& options) {
  return add_one(state_, op("prelu"), {&input, &slope}, {}, options.label);
}

// -- element-wise, one operand -----------------------------------------------------------------

Operand GraphBuilder::abs(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("abs"), {&input}, {}, options.label);
}
Operand GraphBuilder::ceil(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("ceil"), {&input}, {}, options.label);
}
Operand GraphBuilder::cos(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("cos"), {&input}, {}, options.label);
}
Operand GraphBuilder::erf(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("erf"), {&input}, {}, options.label);
}
Operand GraphBuilder::exp(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("exp"), {&input}, {}, options.label);
}
Operand GraphBuilder::floor(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("floor"), {&input}, {}, options.label);
}
Operand GraphBuilder::identity(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("identity"), {&input}, {}, options.label);
}
Operand GraphBuilder::log(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("log"), {&input}, {}, options.label);
}
Operand GraphBuilder::logical_not(const Operand& a, const OperatorOptions& options) {
  return add_one(state_, op("logicalNot"), {&a}, {}, options.label);
}
Operand GraphBuilder::neg(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("neg"), {&input}, {}, options.label);
}
Operand GraphBuilder::reciprocal(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("reciprocal"), {&input}, {}, options.label);
}
Operand GraphBuilder::round_even(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("roundEven"), {&input}, {}, options.label);
}
Operand GraphBuilder::sign(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("sign"), {&input}, {}, options.label);
}
Operand GraphBuilder::sin(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("sin"), {&input}, {}, options.label);
}
Operand GraphBuilder::sqrt(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("sqrt"), {&input}, {}, options.label);
}
Operand GraphBuilder::tan(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("tan"), {&input}, {}, options.label);
}
Operand GraphBuilder::cast(const Operand& input, DataType type, const OperatorOptions& options) {
  return add_one(state_, op("cast"), {&input}, CastAttributes{type}, options.label);
}

// -- activations -------------------------------------------------------------------------------

Operand GraphBuilder::clamp(const Operand& input, const ClampOptions& options) {
  return add_one(state_, op("clamp"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::elu(const Operand& input, const EluOptions& options) {
  return add_one(state_, op("elu"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::gelu(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("gelu"), {&input}, {}, options.label);
}
Operand GraphBuilder::hard_sigmoid(const Operand& input, const HardSigmoidOptions& options) {
  return add_one(state_, op("hardSigmoid"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::hard_swish(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("hardSwish"), {&input}, {}, options.label);
}
Operand GraphBuilder::leaky_relu(const Operand& input, const LeakyReluOptions& options) {
  return add_one(state_, op("leakyRelu"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::linear(const Operand& input, const LinearOptions& options) {
  return add_one(state_, op("linear"), {&input}, attributes_of(options), options.label);
}
Operand GraphBuilder::relu(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("relu"), {&input}, {}, options.label);
}
Operand GraphBuilder::sigmoid(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("sigmoid"), {&input}, {}, options.label);
}
Operand GraphBuilder::softmax(const Operand& input, std::uint32_t axis,
                              const OperatorOptions& options) {
  return add_one(state_, op("softmax"), {&input}, SoftmaxAttributes{axis}, options.label);
}
Operand GraphBuilder::softplus(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("softplus"), {&input}, {}, options.label);
}
Operand GraphBuilder::softsign(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("softsign"), {&input}, {}, options.label);
}
Operand GraphBuilder::tanh(const Operand& input, const OperatorOptions& options) {
  return add_one(state_, op("tanh"), {&input}, {}, options.label);
}

}  // namespace polychron
