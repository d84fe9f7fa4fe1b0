// RNN, GRU and LSTM against the same in plain numbers, of one unit and one input.
#include <algorithm>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(recurrent)

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const auto three = floats({3, 1, 1}, {0.5, -1, 2});

}  // namespace

BOOST_AUTO_TEST_CASE(plain_in_all_directions) {
  const auto w = floats({2, 1, 1}, {0.5, -0.25}), r = floats({2, 1, 1}, {0.75, 0.5});
  const auto b = floats({2, 2}, {0.1, 0.2, 0.3, -0.1});
  double forward[3], backward[3], h = 0;
  for (int t = 0; t < 3; ++t)
    forward[t] = h = std::tanh(0.5 * three.data[std::size_t(t)] + 0.75 * h + 0.3);
  h = 0;
  for (int t = 3; t-- > 0;)
    backward[t] = h = std::tanh(-0.25 * three.data[std::size_t(t)] + 0.5 * h + 0.2);
  check(Model(14).node("RNN", {"x", "w", "r", "b"}, {"y", "last"},
                       {{"direction", "bidirectional"}, {"hidden_size", 1}}),
        {{"x", three}, {"w", w}, {"r", r}, {"b", b}},
        {{"y", floats({3, 2, 1, 1},
                      {forward[0], backward[0], forward[1], backward[1], forward[2], backward[2]})},
         {"last", floats({2, 1, 1}, {forward[2], backward[0]})}});
}

BOOST_AUTO_TEST_CASE(lengths_of_sequences) {
  const auto w = floats({1, 1, 1}, {1}), r = floats({1, 1, 1}, {1});
  const auto x = floats({2, 2, 1}, {1, 2, 3, 4});  // the second of the batch has one step
  auto model = Model(14).node("RNN", {"x", "w", "r", "", "n"}, {"y", "last"}, {{"hidden_size", 1}});
  auto& names = *model.graph().mutable_node(0)->add_attribute();
  names.set_name("activations");
  names.set_type(proto::AttributeProto::STRINGS);
  names.add_strings("Affine");  // the identity: sums
  check(model, {{"x", x}, {"w", w}, {"r", r}, {"n", ints({2}, {2, 1})}},
        {{"y", floats({2, 1, 2, 1}, {1, 2, 4, 0})}, {"last", floats({1, 2, 1}, {4, 2})}});
}

BOOST_AUTO_TEST_CASE(gated) {
  const auto w = floats({1, 3, 1}, {0.5, -0.5, 1}), r = floats({1, 3, 1}, {0.25, 0.75, -1});
  const auto b = floats({1, 6}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
  for (const bool after : {false, true})
    for (const double clip : {1e9, 0.5}) {
      const auto clipped = [&](double x) { return std::clamp(x, -clip, clip); };
      Reals y;
      double h = 0;
      for (const auto x : three.data) {
        const auto z = sigmoid(clipped(0.5 * x + 0.25 * h + 0.5));
        const auto reset = sigmoid(clipped(-0.5 * x + 0.75 * h + 0.7));
        const auto hidden = after ? reset * (-h + 0.6) : -reset * h + 0.6;
        h = (1 - z) * std::tanh(clipped(x + 0.3 + hidden)) + z * h;
        y.push_back(h);
      }
      Attributes attributes{{"hidden_size", 1}, {"linear_before_reset", std::int64_t{after}}};
      if (clip == 0.5) attributes.emplace_back("clip", clip);
      check(Model(14).node("GRU", {"x", "w", "r", "b"}, {"y"}, attributes),
            {{"x", three}, {"w", w}, {"r", r}, {"b", b}}, {{"y", floats({3, 1, 1, 1}, y)}});
    }
}

BOOST_AUTO_TEST_CASE(with_a_memory) {
  const auto w = floats({1, 4, 1}, {0.5, -0.5, 1, 2}), r = floats({1, 4, 1}, {0.25, 0.75, -1, 0.5});
  const auto p = floats({1, 3}, {0.1, 0.2, 0.3});
  double h = 0.5, c = -0.5;
  Reals y;
  for (const auto x : three.data) {
    const auto i = sigmoid(0.5 * x + 0.25 * h + 0.1 * c);
    const auto f = sigmoid(x - h + 0.3 * c);
    c = f * c + i * std::tanh(2 * x + 0.5 * h);  // o's gate sees the new cell, the old h
    const auto o = sigmoid(-0.5 * x + 0.75 * h + 0.2 * c);
    h = o * std::tanh(c);
    y.push_back(h);
  }
  check(Model(14).node("LSTM", {"x", "w", "r", "", "", "h", "c", "p"}, {"y", "last", "cell"},
                       {{"hidden_size", 1}}),
        {{"x", three},
         {"w", w},
         {"r", r},
         {"h", floats({1, 1, 1}, {0.5})},
         {"c", floats({1, 1, 1}, {-0.5})},
         {"p", p}},
        {{"y", floats({3, 1, 1, 1}, y)},
         {"last", floats({1, 1, 1}, {h})},
         {"cell", floats({1, 1, 1}, {c})}});
}

// A network that WebNN's operators cannot express, such as one with a clip, is unrolled. With a
// clip that clips nothing both ways must agree.
BOOST_AUTO_TEST_CASE(at_once_and_step_by_step) {
  constexpr std::uint32_t steps = 5, batch = 2, width = 3, hidden = 4;
  for (const std::string op : {"GRU", "LSTM"})
    for (const std::string direction : {"forward", "reverse", "bidirectional"})
      for (const std::int64_t after : {0, 1}) {
        if (op == "LSTM" && after == 1) continue;
        const std::uint32_t ways = direction == "bidirectional" ? 2 : 1;
        const std::uint32_t gates = (op == "GRU" ? 3 : 4) * hidden;
        Values inputs{{"x", noise({steps, batch, width}, 1)},
                      {"w", noise({ways, gates, width}, 2)},
                      {"r", noise({ways, gates, hidden}, 3)},
                      {"b", noise({ways, 2 * gates}, 4)},
                      {"h", noise({ways, batch, hidden}, 5)}};
        std::vector<std::string> names{"x", "w", "r", "b", "", "h"};
        std::vector<std::string> outputs{"y", "last"};
        Attributes attributes{{"hidden_size", std::int64_t{hidden}}, {"direction", direction}};
        if (op == "GRU") {
          attributes.emplace_back("linear_before_reset", after);
        } else {
          inputs.emplace_back("c", noise({ways, batch, hidden}, 6));
          names.push_back("c");
          outputs.push_back("cell");
        }
        auto clipped = attributes;
        clipped.emplace_back("clip", 1e6);
        auto unrolled = Model(14).node(op, names, outputs, clipped);
        for (const auto& [name, value] : inputs) unrolled.input(name, value);
        for (const auto& name : outputs) unrolled.output(name);
        const auto graph = build(load(unrolled.bytes()));
        Values expected;
        for (auto& [name, data] : run(graph, inputs)) {
          auto shape = Shape{ways, batch, hidden};
          if (name == "y") shape.insert(shape.begin(), steps);
          expected.emplace_back(name, floats(shape, std::move(data)));
        }
        BOOST_TEST_CONTEXT(op << " " << direction << " " << after)
        check(Model(14).node(op, names, outputs, attributes), inputs, expected);
      }
}

namespace {

/// Of [rows, batch, width]: the first `rows` of sequence `n`.
Value sequence_of(const Value& all, std::uint32_t n, std::uint32_t rows) {
  const auto batch = all.shape[1], width = all.shape[2];
  auto one = ramp({rows, 1, width});
  for (std::uint32_t i = 0; i < rows * width; ++i)
    one.data[i] = all.data[(i / width * batch + n) * width + i % width];
  return one;
}

/// The reverse: `one` as the first rows of sequence `n`. The last two dimensions are batch, width.
void put_sequence(Value& all, std::uint32_t n, const Reals& one) {
  const auto width = all.shape.back(), batch = all.shape[all.shape.size() - 2];
  for (std::size_t i = 0; i < one.size(); ++i)
    all.data[(i / width * batch + n) * width + i % width] = one[i];
}

/// A network, and the inputs that it takes apart from its weights.
struct Network {
  static constexpr std::uint32_t steps = 5, width = 3, batch = 4;
  std::string op, direction;
  bool started, clipped;
  std::uint32_t hidden = 4;
  std::vector<std::string> activations{};

  bool has_cell() const { return op == "LSTM"; }
  std::uint32_t ways() const { return direction == "bidirectional" ? 2 : 1; }
  Values weights() const {
    const auto gates = (op == "GRU" ? 3 : has_cell() ? 4 : 1) * hidden;
    return {{"w", noise({ways(), gates, width}, 2)},
            {"r", noise({ways(), gates, hidden}, 3)},
            {"b", noise({ways(), 2 * gates}, 4)}};
  }
  Values states() const {
    if (!started) return {};
    Values list{{"h", noise({ways(), batch, hidden}, 5)}};
    if (has_cell()) list.emplace_back("c", noise({ways(), batch, hidden}, 6));
    return list;
  }
  std::vector<std::string> outputs() const {
    return has_cell() ? std::vector<std::string>{"y", "h1", "c1"}
                      : std::vector<std::string>{"y", "h1"};
  }
  Model& add(Model& model, const std::vector<std::string>& inputs,
             const std::vector<std::string>& results, const Attributes& attributes) const {
    model.node(op, inputs, results, attributes);
    if (activations.empty()) return model;
    auto& names = *model.graph().mutable_node(model.graph().node_size() - 1)->add_attribute();
    names.set_name("activations");
    names.set_type(proto::AttributeProto::STRINGS);
    names.mutable_strings()->Assign(activations.begin(), activations.end());
    return model;
  }
  /// With layout 1, between transpositions: its inputs and outputs are the same for both.
  Model model(const std::string& lengths, std::int64_t layout = 0) const {
    Model model(14);
    Attributes attributes{
        {"hidden_size", std::int64_t{hidden}}, {"direction", direction}, {"layout", layout}};
    if (clipped) attributes.emplace_back("clip", 0.5);
    const auto turned = [&](const std::string& name, const std::string& to, const Ints& order) {
      model.node("Transpose", {name}, {to}, {{"perm", order}});
    };
    std::vector<std::string> inputs{"x", "w", "r", "b", lengths};
    auto results = outputs();
    for (const auto& [name, value] : states()) inputs.push_back(name);
    if (layout == 0) return add(model, inputs, results, attributes);
    for (auto& name : inputs)
      if (name == "x" || name == "h" || name == "c") {
        turned(name, name + "_turned", {1, 0, 2});
        name += "_turned";
      }
    for (auto& name : results) name += "_turned";
    add(model, inputs, results, attributes);
    for (const auto& name : outputs())
      turned(name + "_turned", name, name == "y" ? Ints{1, 2, 0, 3} : Ints{1, 0, 2});
    return model;
  }
};

/// Each sequence alone, without lengths, and all with lengths. What lies beyond a length is NaN,
/// which must not reach the others.
void check_lengths(const Network& network, const std::vector<std::uint32_t>& lengths) {
  const auto ways = network.ways(), batch = network.batch, hidden = network.hidden;
  auto x = noise({network.steps, batch, network.width}, 1);
  Values expected;
  for (const auto& name : network.outputs()) {
    Shape shape{ways, batch, hidden};
    if (name == "y") shape.insert(shape.begin(), network.steps);
    expected.emplace_back(name, ramp(shape, 0, 0));
  }
  for (std::uint32_t n = 0; n < batch; ++n) {
    if (lengths[n] == 0) continue;
    auto inputs = network.weights();
    inputs.emplace_back("x", sequence_of(x, n, lengths[n]));
    for (const auto& [name, value] : network.states())
      inputs.emplace_back(name, sequence_of(value, n, ways));
    auto alone = network.model("");
    for (const auto& [name, value] : inputs) alone.input(name, value);
    for (const auto& name : network.outputs()) alone.output(name);
    const auto results = run(build(load(alone.bytes())), inputs);
    for (std::size_t o = 0; o < results.size(); ++o)
      put_sequence(expected[o].second, n, results[o].second);
  }
  for (std::uint32_t t = 0; t < network.steps; ++t)
    for (std::uint32_t i = 0; i < batch * network.width; ++i)
      if (t >= lengths[i / network.width]) x.data[t * batch * network.width + i] = std::nan("");
  auto inputs = network.weights();
  inputs.emplace_back("x", x);
  inputs.emplace_back("n", ints({batch}, Reals(lengths.begin(), lengths.end())));
  for (const auto& state : network.states()) inputs.push_back(state);
  for (const std::int64_t layout : {0, 1})
    BOOST_TEST_CONTEXT(network.op << ' ' << network.direction << " layout " << layout)
  check(network.model("n", layout), inputs, expected);
}

}  // namespace

BOOST_AUTO_TEST_CASE(lengths_are_as_if_each_sequence_were_alone) {
  for (const std::string op : {"GRU", "LSTM", "RNN"})
    for (const std::string direction : {"forward", "reverse", "bidirectional"})
      for (const bool started : {false, true})
        for (const bool clipped : {false, true})
          check_lengths({op, direction, started, clipped}, {2, 0, 5, 1});
  check_lengths({"LSTM", "bidirectional", true, false}, {5, 5, 5, 5});
  check_lengths({"LSTM", "bidirectional", true, false, 64}, {3, 5, 0, 4});  // in other kernels
  check_lengths({"GRU", "bidirectional", true, false, 64}, {3, 5, 0, 4});
  check_lengths({"LSTM", "reverse", true, false, 4, {"Relu", "Tanh", "Tanh"}}, {3, 5, 0, 4});
  check_lengths({"GRU", "forward", false, false, 4, {"Relu", "Relu"}}, {3, 5, 0, 4});
  check_lengths({"GRU", "reverse", true, false}, {0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(lengths_take_no_more_operators_for_more_steps) {
  const auto operators = [](const std::string& op, std::uint32_t steps, const Reals& lengths) {
    const Network network{op, "bidirectional", true, false};
    auto model = network.model("n");
    for (const auto& [name, value] : network.weights()) model.initializer(name, value);
    model.input("x", ramp({steps, network.batch, network.width}));
    for (const auto& [name, value] : network.states()) model.input(name, value);
    if (lengths.empty())
      model.input("n", ints({network.batch}, Reals(network.batch)));
    else
      model.initializer("n", ints({network.batch}, lengths));
    for (const auto& name : network.outputs()) model.output(name);
    polychron::GraphBuilder builder(context());
    polychron::onnx::import_model(load(model.bytes()), builder);
    return builder.operator_count();
  };
  for (const std::string op : {"GRU", "LSTM"}) {
    const auto few = operators(op, 3, {});
    BOOST_TEST(operators(op, 300, {}) == few);
    BOOST_TEST(operators(op, 300, {300, 3, 300, 300}) == few);
    BOOST_TEST(operators(op, 300, {300, 300, 300, 300}) < few / 2);  // they say nothing
  }
}

BOOST_AUTO_TEST_CASE(weights_that_do_not_fit) {
  cannot(Model(14).node("LSTM", {"x", "w", "r"}, {"y"}, {{"hidden_size", 1}}),
         {{"x", three}, {"w", ramp({1, 3, 1})}, {"r", ramp({1, 3, 1})}}, ErrorKind::bad_data,
         "weights of shape [1, 3, 1]");
}

BOOST_AUTO_TEST_SUITE_END()
