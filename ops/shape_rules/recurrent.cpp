// gru, gruCell, lstm and lstmCell. Their operands have four shapes, which differ in the number of
// vectors of the hidden size. Those of a sequence have the directions as first dimension.
#include <string>

#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

namespace {

/// The extents of a network, and the positions of its operands.
struct Network {
  const Call& call;
  std::uint32_t gates, hidden_size;
  /// First dimensions of all operands except the input: the directions, or none.
  Shape leading = {};
  std::uint32_t batch = 0, input_size = 0;

  Shape shape(std::initializer_list<std::uint32_t> dimensions) const {
    Shape all = leading;
    for (const auto dimension : dimensions) all.push_back(dimension);
    return all;
  }
  Shape state() const { return shape({batch, hidden_size}); }

  /// Checked first, because other sizes are computed from this one.
  void expect_hidden_size() const {
    if (hidden_size == 0) call.fail("hiddenSize is 0, expected a number above 0");
    if (!valid_dimension(std::uint64_t{hidden_size} * 2 * gates))
      call.fail("hiddenSize is " + std::to_string(hidden_size) + ", expected at most " +
                std::to_string(0x7fff'ffff / (2 * gates)) + ", so that the biases of " +
                std::to_string(gates) + " gates can be joined");
  }
  void expect_weights() const {
    call.expect_shape(1, shape({gates * hidden_size, input_size}));
    call.expect_shape(2, shape({gates * hidden_size, hidden_size}));
  }
  void expect_state(std::size_t index) const {
    if (call.has(index)) call.expect_shape(index, state());
  }
  /// Expects `count` vectors of the hidden size.
  void expect_vectors(std::size_t index, std::uint32_t count) const {
    if (call.has(index)) call.expect_shape(index, shape({count * hidden_size}));
  }
  template <class A>
  void expect_activations(const A& attributes, std::size_t count) const {
    if (attributes.activations && attributes.activations->size() != count)
      call.fail("activations has " + std::to_string(attributes.activations->size()) +
                " entries, expected " + std::to_string(count));
  }
};

Network cell(const Call& call, std::uint32_t gates, std::uint32_t hidden_size) {
  Network network{call, gates, hidden_size};
  network.expect_hidden_size();
  network.batch = call.shape(0)[0];
  network.input_size = call.shape(0)[1];
  network.expect_weights();
  return network;
}

template <class A>
Network sequence(const Call& call, std::uint32_t gates, const A& attributes) {
  Network network{call, gates, attributes.hidden_size};
  const Shape& input = call.shape(0);
  if (attributes.steps == 0) call.fail("steps is 0, expected a number above 0");
  if (is_symbol(attributes.steps) || differ(input[0], attributes.steps))
    call.fail("steps is " + std::to_string(attributes.steps) + ", expected " +
              std::to_string(input[0]) + ", the first dimension of operand 'input'");
  network.expect_hidden_size();
  network.leading = {attributes.direction == RecurrentNetworkDirection::both ? 2U : 1U};
  network.batch = input[1];
  network.input_size = input[2];
  network.expect_weights();
  return network;
}

/// The `count` last states, and the sequence if requested. The sequence must be a valid tensor in
/// any case (webnn #955), as backends may hold all of it.
template <class A>
std::vector<Shape> results(const Network& network, const A& attributes, std::size_t count) {
  std::vector<Shape> shapes(count, network.state());
  Shape sequence{attributes.steps};
  for (const auto dimension : network.state()) sequence.push_back(dimension);
  const auto& call = network.call;
  if (const auto problem = descriptor_problem({call.operand(0).data_type, least(sequence)}))
    call.fail("the hidden states of all steps: " + *problem);
  if (attributes.return_sequence) shapes.push_back(std::move(sequence));
  return shapes;
}

}  // namespace

std::vector<Shape> gru_shape(const Call& call) {
  const auto& attributes = call.attributes<GruAttributes>();
  const Network network = sequence(call, 3, attributes);
  network.expect_vectors(3, 3);
  network.expect_vectors(4, 3);
  network.expect_state(5);
  network.expect_activations(attributes, 2);
  return results(network, attributes, 1);
}

std::vector<Shape> gru_cell_shape(const Call& call) {
  const auto& attributes = call.attributes<GruCellAttributes>();
  const Network network = cell(call, 3, attributes.hidden_size);
  network.expect_state(3);
  network.expect_vectors(4, 3);
  network.expect_vectors(5, 3);
  network.expect_activations(attributes, 2);
  return {network.state()};
}

std::vector<Shape> lstm_shape(const Call& call) {
  const auto& attributes = call.attributes<LstmAttributes>();
  const Network network = sequence(call, 4, attributes);
  network.expect_vectors(3, 4);
  network.expect_vectors(4, 4);
  network.expect_vectors(5, 3);
  network.expect_state(6);
  network.expect_state(7);
  network.expect_activations(attributes, 3);
  return results(network, attributes, 2);
}

std::vector<Shape> lstm_cell_shape(const Call& call) {
  const auto& attributes = call.attributes<LstmCellAttributes>();
  const Network network = cell(call, 4, attributes.hidden_size);
  network.expect_state(3);
  network.expect_state(4);
  network.expect_vectors(5, 4);
  network.expect_vectors(6, 4);
  network.expect_vectors(7, 3);
  network.expect_activations(attributes, 3);
  return {network.state(), network.state()};
}

}  // namespace polychron::ops
