// Activations: functions of each element with parameters, and softmax.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

/// A function of each element of a float operand.
template <class A = std::monostate>
consteval Row activation(std::string_view name, std::string_view line, Tolerance tolerance,
                         std::string_view anchor) {
  return {.name = name,
          .line = line,
          .call = signature("input: floats -> input"),
          .shape = same_shape,
          .shapes = same_words,
          .attributes = alternative<A>(),
          .tolerance = tolerance,
          .anchor = anchor};
}

inline constexpr std::array activation_rows{
    Row{.name = "clamp",
        .line = "x, at least minValue and at most maxValue",
        .call = signature("input: any -> input"),
        .shape = clamp_shape,
        .shapes = "the input's",
        .attributes = alternative<ClampAttributes>(),
        .anchor = "api-mlgraphbuilder-clamp"},
    activation<EluAttributes>("elu", "x where x >= 0, else alpha * (exp(x) - 1)", ulp(18),
                              "api-mlgraphbuilder-elu"),
    activation("gelu", "0.5 * x * (1 + erf(x / sqrt(2)))", ulp(18),
               "api-mlgraphbuilder-gelu-method"),
    activation<HardSigmoidAttributes>("hardSigmoid", "alpha * x + beta, kept in 0 to 1", ulp(2),
                                      "api-mlgraphbuilder-hard-sigmoid"),
    activation("hardSwish", "x * (x + 3, kept in 0 to 6) / 6", ulp(4),
               "api-mlgraphbuilder-hard-swish"),
    activation<LeakyReluAttributes>("leakyRelu", "x where x >= 0, else alpha * x", ulp(1, 2),
                                    "api-mlgraphbuilder-leakyrelu"),
    activation<LinearAttributes>("linear", "alpha * x + beta", ulp(2), "api-mlgraphbuilder-linear"),
    Row{.name = "prelu",
        .line = "x where x >= 0, else slope * x",
        .call = signature("input: signeds, slope: input -> input"),
        .shape = broadcast_shape,
        .shapes = broadcast_words,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-prelu"},
    Row{.name = "relu",
        .line = "x where x > 0, else 0",
        .call = signature("input: signeds -> input"),
        .shape = same_shape,
        .shapes = same_words,
        .anchor = "api-mlgraphbuilder-relu-method"},
    activation("sigmoid", "1 / (1 + exp(-x))", ulp(34, 10), "api-mlgraphbuilder-sigmoid-method"),
    Row{.name = "softmax",
        .line = "exp(x) / (the sum of exp(x) along axis)",
        .call = signature("input: floats[1..N] -> input"),
        .shape = softmax_shape,
        .shapes = "the input's",
        .attributes = alternative<SoftmaxAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-softmax-method"},
    activation("softplus", "log(1 + exp(x))", ulp(18), "api-mlgraphbuilder-softplus-method"),
    activation("softsign", "x / (1 + the absolute value of x)", ulp(3),
               "api-mlgraphbuilder-softsign-method"),
    activation("tanh", "the hyperbolic tangent", absolute(1.0 / 1024, 1.0 / 512),
               "api-mlgraphbuilder-tanh-method"),
};

}  // namespace polychron::ops
