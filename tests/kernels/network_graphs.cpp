// Graphs of quantized products and recurrent networks: plans with passes and fast kernels compute
// the same as the reference without any.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/packed_int4.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

/// Adds a node of several results to `maker`'s graph.
std::vector<ValueId> node(GraphMaker& maker, ops::OpId id, const std::vector<ValueId>& inputs,
                          const std::vector<Shape>& shapes, const Attributes& attributes) {
  std::vector<ValueId> results;
  auto& graph = maker.graph();
  for (const Shape& shape : shapes) {
    graph.values.push_back({ops::Value::Kind::result, {DataType::float32, shape}, nullptr});
    results.push_back(static_cast<ValueId>(graph.values.size() - 1));
  }
  graph.nodes.push_back({id, inputs, results, attributes, "network"});
  return results;
}

/// A constant of integers of 4 bits, in blocks of `length` along its rows, as floats again.
ValueId quantized_matrix(GraphMaker& maker, std::uint32_t rows, std::uint32_t columns,
                         std::uint32_t length, bool known_scale) {
  const std::uint32_t count = rows * columns;
  std::vector<std::uint8_t> bytes((count + 1) / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 % 251);
  const Shape blocks{rows, columns / length};
  const ValueId scale = known_scale ? maker.random(blocks, 0.01F, 0.1F) : maker.input(blocks);
  const auto constant = [&](const Shape& shape, std::vector<std::uint8_t> values) {
    const ValueId id = maker.constant<std::uint8_t>({std::uint32_t(values.size())}, values);
    maker.graph().values[id].descriptor = {DataType::int4, shape};
    return id;
  };
  const ValueId zeros =
      constant(blocks, std::vector<std::uint8_t>((rows * (columns / length) + 1) / 2, 0x21));
  return maker.node(op("dequantizeLinear"), {constant({rows, columns}, bytes), scale, zeros},
                    {rows, columns});
}

std::shared_ptr<const ops::Graph> graph_of(std::uint32_t seed) {
  GraphMaker maker;
  const std::uint32_t steps = 1 + seed % 4, batch = 1 + seed % 3, width = 8, hidden = 6 + seed % 5;
  const std::uint32_t directions = 1 + seed % 2;
  const ValueId x = maker.input({steps * batch, width});
  // A quantized product, its result quantized and back, and reshaped for the network.
  const ValueId weights = quantized_matrix(maker, width, width, 4, seed % 3 != 0);
  const ValueId product = maker.node(op("matmul"), {x, weights}, {steps * batch, width});
  const ValueId active = maker.node(op("relu"), {product}, {steps * batch, width});
  const ValueId step = maker.constant<float>({1, 1}, {0.0625F});
  const ValueId zero = maker.constant<std::uint8_t>({1, 1}, {7});
  const ValueId small = maker.node(op("quantizeLinear"), {active, step, zero},
                                   {steps * batch, width}, {}, DataType::uint8);
  const ValueId again =
      maker.node(op("dequantizeLinear"), {small, step, zero}, {steps * batch, width});
  const ValueId sequence = maker.node(op("reshape"), {again}, {steps, batch, width},
                                      ReshapeAttributes{{steps, batch, width}});
  LstmAttributes lstm;
  lstm.steps = steps;
  lstm.hidden_size = hidden;
  lstm.return_sequence = true;
  lstm.direction =
      directions == 2 ? RecurrentNetworkDirection::both : RecurrentNetworkDirection::backward;
  const Shape state{directions, batch, hidden};
  const auto lstm_results =
      node(maker, op("lstm"),
           {sequence, maker.random({directions, 4 * hidden, width}),
            maker.random({directions, 4 * hidden, hidden}), maker.random({directions, 4 * hidden}),
            ops::no_value, seed % 5 == 0 ? maker.random({directions, 3 * hidden}) : ops::no_value,
            seed % 4 == 0 ? maker.input(state) : ops::no_value, ops::no_value},
           {state, state, {steps, directions, batch, hidden}}, lstm);
  const ValueId next =
      maker.node(op("reshape"), {lstm_results[2]}, {steps, directions * batch, hidden},
                 ReshapeAttributes{{steps, directions * batch, hidden}});
  const ValueId scaled = maker.node(op("mul"), {next, maker.constant<float>({}, {0.5F})},
                                    {steps, directions * batch, hidden});
  GruAttributes gru;
  gru.steps = steps;
  gru.hidden_size = hidden;
  gru.reset_after = seed % 2 == 0;
  gru.return_sequence = true;
  const Shape last{1, directions * batch, hidden};
  const auto gru_results =
      node(maker, op("gru"),
           {scaled, maker.random({1, 3 * hidden, hidden}), maker.random({1, 3 * hidden, hidden}),
            ops::no_value, maker.random({1, 3 * hidden})},
           {last, {steps, 1, directions * batch, hidden}}, gru);
  maker.output(lstm_results[seed % 2]);
  maker.output(gru_results[0]);
  maker.output(maker.node(op("sigmoid"), {gru_results[1]}, {steps, 1, directions * batch, hidden}));
  return maker.share();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(network_graphs)

BOOST_AUTO_TEST_CASE(plans_compute_what_the_reference_computes) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const auto graph = graph_of(seed);
    Runner fast(kernels::make_cpu_backend({}), graph);
    Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}), graph);
    for (Runner* runner : {&fast, &plain}) {
      runner->randomize(seed);
      for (int i = 0; i < 2; ++i) runner->run();
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const auto actual = fast.get<float>(i), expected = plain.get<float>(i);
      double worst = 0;
      for (std::size_t k = 0; k < actual.size(); ++k)
        worst = std::fmax(worst, std::fabs(static_cast<double>(actual[k]) - expected[k]));
      // One step of the quantization, and what becomes of it.
      BOOST_TEST(worst < 0.05, "seed " << seed << ": output " << i << " is off by " << worst);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
