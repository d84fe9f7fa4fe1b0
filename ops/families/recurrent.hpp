// Recurrent networks: a step (the cells), and sequences of them in either direction or both.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

// The public suite's tolerances fit only sums of a few terms.
inline constexpr std::array recurrent_rows{
    Row{.name = "gru",
        .line = "a gated recurrent unit over all steps: the last hidden state; with "
                "returnSequence then those of all steps",
        .call = signature("input: floats[3], weight: input, recurrentWeight: input, "
                          "bias?: input[2], recurrentBias?: input[2], initialHiddenState?: input "
                          "-> output0: input, output1?: input[4]"),
        .shape = gru_shape,
        .shapes =
            "[directions, batch, hiddenSize], and of the sequence [steps, directions, batch, "
            "hiddenSize]; input [steps, batch, features], weight [directions, 3 * hiddenSize, "
            "features], recurrentWeight [directions, 3 * hiddenSize, hiddenSize], bias and "
            "recurrentBias [directions, 3 * hiddenSize]; the initial state as the last",
        .attributes = alternative<GruAttributes>(),
        .tolerance = ulp_per_term(6),
        .anchor = "api-mlgraphbuilder-gru"},
    Row{.name = "gruCell",
        .line = "one step of a gated recurrent unit: the next hidden state",
        .call = signature("input: floats[2], weight: input, recurrentWeight: input, hiddenState: "
                          "input, bias?: input[1], recurrentBias?: input[1] -> input"),
        .shape = gru_cell_shape,
        .shapes = "[batch, hiddenSize]; input [batch, features], weight [3 * hiddenSize, "
                  "features], recurrentWeight [3 * hiddenSize, hiddenSize], bias and recurrentBias "
                  "[3 * hiddenSize]; the state as the next",
        .attributes = alternative<GruCellAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-grucell"},
    Row{.name = "lstm",
        .line = "a long short-term memory over all steps: the last hidden state and the last "
                "cell state; with returnSequence then the hidden states of all steps",
        .call = signature("input: floats[3], weight: input, recurrentWeight: input, "
                          "bias?: input[2], recurrentBias?: input[2], peepholeWeight?: input[2], "
                          "initialHiddenState?: input, initialCellState?: input "
                          "-> output0: input, output1: input, output2?: input[4]"),
        .shape = lstm_shape,
        .shapes = "[directions, batch, hiddenSize], and of the sequence [steps, directions, batch, "
                  "hiddenSize]; input [steps, batch, features], weight [directions, 4 * "
                  "hiddenSize, features], recurrentWeight [directions, 4 * hiddenSize, "
                  "hiddenSize], bias and recurrentBias [directions, 4 * hiddenSize], "
                  "peepholeWeight [directions, 3 * hiddenSize]; the initial states as the last",
        .attributes = alternative<LstmAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-lstm"},
    Row{.name = "lstmCell",
        .line = "one step of a long short-term memory: the next hidden state and the next cell "
                "state",
        .call = signature("input: floats[2], weight: input, recurrentWeight: input, hiddenState: "
                          "input, cellState: input, bias?: input[1], recurrentBias?: input[1], "
                          "peepholeWeight?: input[1] -> output0: input, output1: input"),
        .shape = lstm_cell_shape,
        .shapes = "[batch, hiddenSize]; input [batch, features], weight [4 * hiddenSize, "
                  "features], recurrentWeight [4 * hiddenSize, hiddenSize], bias and recurrentBias "
                  "[4 * hiddenSize], peepholeWeight [3 * hiddenSize]; the states as the next",
        .attributes = alternative<LstmCellAttributes>(),
        .tolerance = ulp_per_term(1),
        .anchor = "api-mlgraphbuilder-lstmcell"},
};

}  // namespace polychron::ops
