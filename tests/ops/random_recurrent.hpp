// Random calls of recurrent networks.
#pragma once

#include "tests/ops/random.hpp"

namespace polychron::test::recurrent {

/// The sizes of a network.
struct Sizes {
  Size steps, directions, batch, input, hidden;
  explicit Sizes(Random& random)
      : steps(random.number(1, 5)),
        directions(random.number(1, 2)),
        batch(random.number(1, 3)),
        input(random.number(1, 6)),
        hidden(random.number(1, random.number(0, 3) == 0 ? 40 : 6)) {}
};

template <class A>
void choose_activations(A& attributes, std::size_t count, Random& random) {
  attributes.layout = decltype(attributes.layout)(random.number(0, 1));
  if constexpr (requires { attributes.reset_after; }) attributes.reset_after = random.coin();
  if (random.coin()) return;
  attributes.activations.emplace();
  for (std::size_t i = 0; i < count; ++i)
    attributes.activations->push_back(RecurrentNetworkActivation(random.number(0, 2)));
}

template <class A>
A sequence(const Sizes& s, std::size_t activations, Random& random) {
  A attributes;
  attributes.steps = s.steps;
  attributes.hidden_size = s.hidden;
  attributes.return_sequence = random.coin();
  attributes.direction = s.directions == 2 ? RecurrentNetworkDirection::both
                                           : RecurrentNetworkDirection(random.number(0, 1));
  choose_activations(attributes, activations, random);
  return attributes;
}

inline Case gru(const ops::Row&, Random& random) {
  const Sizes s(random);
  const auto attributes = sequence<GruAttributes>(s, 2, random);
  const Shape biases{s.directions, 3 * s.hidden}, state{s.directions, s.batch, s.hidden};
  std::vector<Shape> results{state};
  if (attributes.return_sequence) results.push_back({s.steps, s.directions, s.batch, s.hidden});
  return {{{s.steps, s.batch, s.input},
           {s.directions, 3 * s.hidden, s.input},
           {s.directions, 3 * s.hidden, s.hidden},
           biases,
           biases,
           state},
          attributes,
          results};
}

inline Case lstm(const ops::Row&, Random& random) {
  const Sizes s(random);
  const auto attributes = sequence<LstmAttributes>(s, 3, random);
  const Shape biases{s.directions, 4 * s.hidden}, state{s.directions, s.batch, s.hidden};
  std::vector<Shape> results{state, state};
  if (attributes.return_sequence) results.push_back({s.steps, s.directions, s.batch, s.hidden});
  return {{{s.steps, s.batch, s.input},
           {s.directions, 4 * s.hidden, s.input},
           {s.directions, 4 * s.hidden, s.hidden},
           biases,
           biases,
           {s.directions, 3 * s.hidden},
           state,
           state},
          attributes,
          results};
}

inline Case gru_cell(const ops::Row&, Random& random) {
  const Sizes s(random);
  GruCellAttributes attributes;
  attributes.hidden_size = s.hidden;
  choose_activations(attributes, 2, random);
  const Shape state{s.batch, s.hidden};
  return {{{s.batch, s.input},
           {3 * s.hidden, s.input},
           {3 * s.hidden, s.hidden},
           state,
           {3 * s.hidden},
           {3 * s.hidden}},
          attributes,
          {state}};
}

inline Case lstm_cell(const ops::Row&, Random& random) {
  const Sizes s(random);
  LstmCellAttributes attributes;
  attributes.hidden_size = s.hidden;
  choose_activations(attributes, 3, random);
  const Shape state{s.batch, s.hidden};
  return {{{s.batch, s.input},
           {4 * s.hidden, s.input},
           {4 * s.hidden, s.hidden},
           state,
           state,
           {4 * s.hidden},
           {4 * s.hidden},
           {3 * s.hidden}},
          attributes,
          {state, state}};
}

}  // namespace polychron::test::recurrent
