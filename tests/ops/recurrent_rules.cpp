// gru, gruCell, lstm and lstmCell: the clauses of the public test suite, operand by operand.
#include <limits>

#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(recurrent_rules)

namespace {

constexpr std::uint32_t steps = 2, batch = 3, input_size = 4, hidden = 5;
using enum RecurrentNetworkActivation;
using Activations = std::vector<RecurrentNetworkActivation>;

/// An operator with a call of it that is right.
template <class A>
struct Network {
  std::string_view name;
  Descriptors operands;
  A attributes;
  std::vector<Shape> results;

  void accepts(const Descriptors& given, const A& with, const std::vector<Shape>& expected) const {
    BOOST_TEST_CONTEXT(name << "(" << show(given) << ")") {
      try {
        const auto actual = infer(name, given, with);
        BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
        for (std::size_t i = 0; i < actual.size(); ++i) {
          BOOST_TEST(actual[i].shape == expected[i], boost::test_tools::per_element());
          BOOST_TEST((actual[i].data_type == given[0].data_type));
        }
      } catch (const Error& error) {
        BOOST_ERROR(error.what());
      }
    }
  }

  /// Alone with what is required, and with everything; of either type.
  void accepts_all() const {
    for (const auto type : {DataType::float32, DataType::float16}) {
      auto whole = operands;
      for (auto& operand : whole) operand.data_type = type;
      accepts(whole, attributes, results);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (!row_of(name).operands()[i].optional) continue;
        auto fewer = whole;
        fewer[i] = absent;
        accepts(fewer, attributes, results);
        whole = fewer;  // in the end none of them is left
      }
    }
  }

  /// Every operand of another type, rank or size is refused by its name.
  void refuses_wrong_operands() const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto named = operand_text(row_of(name).operands()[i]);
      const auto refuses = [&](const OperandDescriptor& wrong, std::string_view part) {
        auto given = operands;
        given[i] = wrong;
        refuse(name, given, attributes, part);
      };
      for (const auto type : {DataType::float16, DataType::uint32, DataType::int32, DataType::int8,
                              DataType::uint8, DataType::uint64, DataType::int4})
        if (i > 0 || type != DataType::float16) refuses({type, operands[i].shape}, named);
      Shape longer = operands[i].shape, shorter = longer;
      longer.push_back(1);
      shorter.pop_back();
      refuses(f32(longer), named);
      refuses(f32(shorter), named);
      for (std::size_t axis = 0; axis < operands[i].shape.size(); ++axis) {
        Shape other = operands[i].shape;
        ++other[axis];
        refuses(f32(other), i == 0 ? "" : named);  // the others no longer fit the input
        other[axis] = 1000;
        refuses(f32(other), i == 0 ? "" : named);
      }
    }
  }

  void refuses(const A& with, std::string_view part) const { refuse(name, operands, with, part); }

  void refuses_wrong_attributes(std::size_t activations) const {
    for (const std::uint32_t size : {0U, 0xffff'ffffU, 0x8000'0000U, hidden + 1}) {
      A with = attributes;
      with.hidden_size = size;
      refuses(with, size == hidden + 1 ? "operand 'weight'" : "hiddenSize");
    }
    for (std::size_t count = 0; count < 6; ++count) {
      A with = attributes;
      with.activations = Activations(count, relu);
      if (count == activations)
        accepts(operands, with, results);
      else
        refuses(with, "activations has");
    }
    A with = attributes;
    with.activations = Activations(activations, RecurrentNetworkActivation(3));
    refuses(with, "activations is not a value of");
    with = attributes;
    with.layout = decltype(with.layout)(2);
    refuses(with, "layout is not a value of");
  }

  void refuses_wrong_sequences() const {
    for (const std::uint32_t count : {0U, steps + 1, 0xffff'ffffU}) {
      A with = attributes;
      with.steps = count;
      refuses(with, "steps is");
    }
    A with = attributes;
    with.direction = RecurrentNetworkDirection::both;  // weights of one direction
    refuses(with, "operand 'weight'");
    with.direction = RecurrentNetworkDirection(3);
    refuses(with, "direction is not a value of");
  }
};

template <class A>
A sized() {
  A attributes;
  attributes.hidden_size = hidden;
  if constexpr (requires { attributes.steps; }) attributes.steps = steps;
  return attributes;
}

/// With `directions` 1 or 2.
Network<GruAttributes> gru(std::uint32_t d) {
  const Shape state{d, batch, hidden};
  return {"gru",
          {f32({steps, batch, input_size}), f32({d, 3 * hidden, input_size}),
           f32({d, 3 * hidden, hidden}), f32({d, 3 * hidden}), f32({d, 3 * hidden}), f32(state)},
          sized<GruAttributes>(),
          {state}};
}
Network<LstmAttributes> lstm(std::uint32_t d) {
  const Shape state{d, batch, hidden};
  return {"lstm",
          {f32({steps, batch, input_size}), f32({d, 4 * hidden, input_size}),
           f32({d, 4 * hidden, hidden}), f32({d, 4 * hidden}), f32({d, 4 * hidden}),
           f32({d, 3 * hidden}), f32(state), f32(state)},
          sized<LstmAttributes>(),
          {state, state}};
}

const Network<GruCellAttributes> gru_cell{
    "gruCell",
    {f32({batch, input_size}), f32({3 * hidden, input_size}), f32({3 * hidden, hidden}),
     f32({batch, hidden}), f32({3 * hidden}), f32({3 * hidden})},
    sized<GruCellAttributes>(),
    {{batch, hidden}}};
const Network<LstmCellAttributes> lstm_cell{
    "lstmCell",
    {f32({batch, input_size}), f32({4 * hidden, input_size}), f32({4 * hidden, hidden}),
     f32({batch, hidden}), f32({batch, hidden}), f32({4 * hidden}), f32({4 * hidden}),
     f32({3 * hidden})},
    sized<LstmCellAttributes>(),
    {{batch, hidden}, {batch, hidden}}};

/// The network with every choice that there is.
template <class A>
void accept_choices(const Network<A>& one, const Network<A>& two) {
  for (const bool whole : {false, true})
    for (const auto direction :
         {RecurrentNetworkDirection::forward, RecurrentNetworkDirection::backward,
          RecurrentNetworkDirection::both})
      for (const int layout : {0, 1}) {
        const bool both = direction == RecurrentNetworkDirection::both;
        auto network = both ? two : one;
        network.attributes.direction = direction;
        network.attributes.layout = decltype(network.attributes.layout)(layout);
        network.attributes.return_sequence = whole;
        if (whole) network.results.push_back({steps, both ? 2U : 1U, batch, hidden});
        network.accepts_all();
      }
}

}  // namespace

BOOST_AUTO_TEST_CASE(gru_accepts) { accept_choices(gru(1), gru(2)); }
BOOST_AUTO_TEST_CASE(lstm_accepts) { accept_choices(lstm(1), lstm(2)); }
BOOST_AUTO_TEST_CASE(cells_accept) {
  gru_cell.accepts_all();
  lstm_cell.accepts_all();
}

BOOST_AUTO_TEST_CASE(wrong_operands) {
  gru(1).refuses_wrong_operands();
  lstm(1).refuses_wrong_operands();
  gru_cell.refuses_wrong_operands();
  lstm_cell.refuses_wrong_operands();
}

BOOST_AUTO_TEST_CASE(wrong_attributes) {
  gru(1).refuses_wrong_attributes(2);
  lstm(1).refuses_wrong_attributes(3);
  gru_cell.refuses_wrong_attributes(2);
  lstm_cell.refuses_wrong_attributes(3);
  gru(1).refuses_wrong_sequences();
  lstm(1).refuses_wrong_sequences();
}

// The joined biases of all gates must be a possible dimension. The states of all steps must be a
// possible tensor, whether or not a call asks for them.
BOOST_AUTO_TEST_CASE(sizes_that_overflow) {
  constexpr std::uint32_t most_gru = 0x7fff'ffff / 6, most_lstm = 0x7fff'ffff / 8;
  GruCellAttributes gru_attributes;
  gru_attributes.hidden_size = most_gru + 1;
  gru_cell.refuses(gru_attributes, "hiddenSize");
  gru_attributes.hidden_size = most_gru;
  gru_cell.refuses(gru_attributes, "operand 'weight'");
  LstmCellAttributes lstm_attributes;
  lstm_attributes.hidden_size = most_lstm + 1;
  lstm_cell.refuses(lstm_attributes, "hiddenSize");
  lstm_attributes.hidden_size = most_lstm;
  lstm_cell.refuses(lstm_attributes, "operand 'weight'");
  // 8 units of float32 a step: this many steps take 2^31 bytes, one less fits.
  constexpr std::uint32_t many = 0x2000'0000 / 8;
  for (const bool whole : {false, true})
    for (const std::uint32_t count : {many - 1, many}) {
      GruAttributes gru;
      LstmAttributes lstm;
      gru.steps = lstm.steps = count;
      gru.hidden_size = lstm.hidden_size = 8;
      gru.return_sequence = lstm.return_sequence = whole;
      const Descriptors for_gru{f32({count, 1, 1}), f32({1, 24, 1}), f32({1, 24, 8})};
      const Descriptors for_lstm{f32({count, 1, 1}), f32({1, 32, 1}), f32({1, 32, 8})};
      if (count == many) {
        refuse("gru", for_gru, gru, "the hidden states of all steps");
        refuse("lstm", for_lstm, lstm, "the hidden states of all steps");
      } else {
        BOOST_TEST(infer("gru", for_gru, gru).size() == (whole ? 2U : 1U));
        BOOST_TEST(infer("lstm", for_lstm, lstm).size() == (whole ? 3U : 2U));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
