// Activations: functions of each element with parameters, and softmax.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

/// A function of each element of a float operand.
template <class A = std::monostate>
consteval Row activation(std::string_view name, Tolerance tolerance, std::string_view anchor) {
  return {.name = name,
          .call = signature("input: floats -> input"),
          .shape = same_shape,
          .attributes = alternative<A>(),
          .tolerance = tolerance,
          .anchor = anchor};
}

inline constexpr std::array activation_rows{
    Row{.name = "clamp",
        .call = signature("input: any -> input"),
        .shape = clamp_shape,
        .attributes = alternative<ClampAttributes>(),
        .anchor = "api-mlgraphbuilder-clamp"},
    activation<EluAttributes>("elu", ulp(18), "api-mlgraphbuilder-elu"),
    activation("gelu", ulp(18), "api-mlgraphbuilder-gelu-method"),
    activation<HardSigmoidAttributes>("hardSigmoid", ulp(2), "api-mlgraphbuilder-hard-sigmoid"),
    activation("hardSwish", ulp(4), "api-mlgraphbuilder-hard-swish"),
    activation<LeakyReluAttributes>("leakyRelu", ulp(1, 2), "api-mlgraphbuilder-leakyrelu"),
    activation<LinearAttributes>("linear", ulp(2), "api-mlgraphbuilder-linear"),
    Row{.name = "prelu",
        .call = signature("input: signeds, slope: input -> input"),
        .shape = broadcast_shape,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-prelu"},
    Row{.name = "relu",
        .call = signature("input: signeds -> input"),
        .shape = same_shape,
        .anchor = "api-mlgraphbuilder-relu-method"},
    activation("sigmoid", ulp(34, 10), "api-mlgraphbuilder-sigmoid-method"),
    Row{.name = "softmax",
        .call = signature("input: floats[1..N] -> input"),
        .shape = softmax_shape,
        .attributes = alternative<SoftmaxAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-softmax-method"},
    activation("softplus", ulp(18), "api-mlgraphbuilder-softplus-method"),
    activation("softsign", ulp(3), "api-mlgraphbuilder-softsign-method"),
    activation("tanh", absolute(1.0 / 1024, 1.0 / 512), "api-mlgraphbuilder-tanh-method"),
};

}  // namespace polychron::ops
