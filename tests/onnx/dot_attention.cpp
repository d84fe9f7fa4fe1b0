// ONNX's own attention: Attention, FlexAttention, RotaryEmbedding; and what carries a state
// instead.
//
// A query of zeros sees all of its keys alike, so that the result is the mean of their values. The
// values are powers of two, whose mean tells which keys those were.
#include <cmath>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(dot_attention)

namespace {

constexpr double inf = INFINITY;

/// [1, 1, steps, 1]
Value steps_of(Reals data) {
  const auto steps = static_cast<std::uint32_t>(data.size());
  return floats({1, 1, steps, 1}, std::move(data));
}

/// The mean of the values of keys first to last.
double mean(int first, int last) {
  double sum = 0;
  for (int i = first; i <= last; ++i) sum += std::exp2(i);
  return sum / (last - first + 1);
}

Model attention(const std::vector<std::string>& inputs, const Attributes& attributes = {},
                const std::vector<std::string>& outputs = {"y"}, std::int64_t opset = 25) {
  return Model(opset).node("Attention", inputs, outputs, attributes);
}

const Values three{
    {"q", steps_of({0, 0, 0})}, {"k", steps_of({5, 6, 7})}, {"v", steps_of({1, 2, 4})}};

Values with(Values values, const std::string& name, const Value& value) {
  values.emplace_back(name, value);
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(means_of_the_keys_that_are_seen) {
  const auto all = steps_of({mean(0, 2), mean(0, 2), mean(0, 2)});
  check(attention({"q", "k", "v"}), three, {{"y", all}});
  check(attention({"q", "k", "v"}, {{"is_causal", 1}}), three,
        {{"y", steps_of({mean(0, 0), mean(0, 1), mean(0, 2)})}});
  check(attention({"q", "k", "v"}, {{"left_window_size", 1}}), three,
        {{"y", steps_of({mean(0, 2), mean(0, 2), mean(1, 2)})}});
  check(attention({"q", "k", "v"}, {{"right_window_size", 1}, {"left_window_size", 0}}), three,
        {{"y", steps_of({mean(0, 1), mean(1, 2), mean(2, 2)})}});
  // A window of any size is taken.
  check(attention({"q", "k", "v"}, {{"left_window_size", std::int64_t{1} << 40}}), three,
        {{"y", all}});
  cannot(attention({"q", "k", "v"}, {{"left_window_size", -2}}), three, ErrorKind::bad_data,
         "a window of -2");
}

BOOST_AUTO_TEST_CASE(masks) {
  const auto mask = with(three, "m", bools({3, 3}, {1, 0, 0, 0, 1, 1, 1, 1, 1}));
  check(attention({"q", "k", "v", "m"}), mask,
        {{"y", steps_of({mean(0, 0), mean(1, 2), mean(0, 2)})}});
  check(attention({"q", "k", "v", "m"}, {{"is_causal", 1}}), mask,
        {{"y", steps_of({mean(0, 0), mean(1, 1), mean(0, 2)})}});
  // Added to the scores: e^ln(3) counts three times.
  check(attention({"q", "k", "v", "m"}), with(three, "m", floats({1, 3}, {std::log(3), 0, -inf})),
        {{"y", steps_of({1.25, 1.25, 1.25})}});
  // Keys that a mask leaves out are not seen since opset 24; before it stands for all.
  const auto shorter = with(three, "m", bools({1, 1, 3, 1}, {1, 1, 1}));
  check(attention({"q", "k", "v", "m"}), shorter, {{"y", steps_of({1, 1, 1})}});
  check(attention({"q", "k", "v", "m"}, {}, {"y"}, 23), shorter,
        {{"y", steps_of({mean(0, 2), mean(0, 2), mean(0, 2)})}});
  cannot(attention({"q", "k", "v", "m"}), with(three, "m", bools({1, 4}, {1, 1, 1, 1})),
         ErrorKind::bad_data, "a mask of shape [1, 4] for 3 keys");
}

BOOST_AUTO_TEST_CASE(queries_that_see_nothing) {
  // The result is 0, and so are the probabilities.
  check(
      attention({"q", "k", "v", "m"}, {{"qk_matmul_output_mode", 3}}, {"y", "", "", "p"}),
      with(three, "m", bools({3, 3}, {0, 0, 0, 1, 0, 0, 1, 1, 0})),
      {{"y", steps_of({0, 1, 1.5})}, {"p", floats({1, 1, 3, 3}, {0, 0, 0, 1, 0, 0, 0.5, 0.5, 0})}});
  check(attention({"q", "k", "v", "m"}),
        with(three, "m", floats({3, 3}, {-inf, -inf, -inf, 0, 0, 0, -inf, 0, -inf})),
        {{"y", steps_of({0, mean(0, 2), 2})}});
  // More queries than keys: the window of the last has no key left.
  check(attention({"q", "k", "v"}, {{"left_window_size", 0}}),
        {{"q", steps_of({0, 0, 0})}, {"k", steps_of({5, 6})}, {"v", steps_of({1, 2})}},
        {{"y", steps_of({1.5, 2, 0})}});
}

// The same as the attention to the present, in which past and new keys are put together.
BOOST_AUTO_TEST_CASE(attention_over_a_past_is_one_step) {
  const Attributes heads{{"q_num_heads", 4}, {"kv_num_heads", 2}};
  for (const std::uint32_t queries : {1U, 3U})
    for (const Shape& mask : {Shape{queries, 5 + queries}, Shape{1, 4, queries, 5 + queries},
                              Shape{1, 1, 1, 5 + queries}}) {
      const Values given{{"q", noise({1, queries, 64})},    {"k", noise({1, queries, 32})},
                         {"v", noise({1, queries, 32}, 2)}, {"m", noise(mask)},
                         {"pk", noise({1, 2, 5, 16})},      {"pv", noise({1, 2, 5, 16}, 3)}};
      const auto built = [&](const std::vector<std::string>& inputs, const Values& values,
                             const std::vector<std::string>& outputs) {
        auto model = attention(inputs, heads, outputs);
        for (const auto& [name, value] : values) model.input(name, value);
        for (const auto& name : outputs) model.output(name);
        return build(load(model.bytes()));
      };
      const auto graph = built({"q", "k", "v", "m", "pk", "pv"}, given, {"y", "nk", "nv"});
      BOOST_TEST(std::ranges::any_of(graph.plan(), [](const std::string& step) {
        return step.find("cachedAttention") != std::string::npos;
      }));
      const auto results = run(graph, given);
      const Shape present{1, 2, 5 + queries, 16};
      const Values whole{given[0],
                         {"k", floats(present, results[1].second)},
                         {"v", floats(present, results[2].second)},
                         given[3]};
      compare(built({"q", "k", "v", "m"}, whole, {"y"}), whole,
              {{"y", floats({1, queries, 64}, results[0].second)}}, 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(past_keys_and_caches) {
  const Values past{{"q", steps_of({0, 0})},
                    {"k", steps_of({7, 8})},
                    {"v", steps_of({4, 8})},
                    {"pk", steps_of({5, 6})},
                    {"pv", steps_of({1, 2})}};
  check(attention({"q", "k", "v", "", "pk", "pv"}, {{"is_causal", 1}}, {"y", "nk", "nv"}), past,
        {{"y", steps_of({mean(0, 2), mean(0, 3)})},
         {"nk", steps_of({5, 6, 7, 8})},
         {"nv", steps_of({1, 2, 4, 8})}});
  check(attention({"q", "k", "v", "", "pk", "pv"}, {{"is_causal", 1}, {"left_window_size", 1}}),
        past, {{"y", steps_of({mean(1, 2), mean(2, 3)})}});
  check(attention({"q", "k", "v"}, {}, {"y", "nk", "nv"}), three,
        {{"y", steps_of({mean(0, 2), mean(0, 2), mean(0, 2)})},
         {"nk", three[1].second},
         {"nv", three[2].second}});
  // Masks of the past and the new keys. Of the second query nothing is left.
  const auto masked = [&](const Value& mask) { return with(past, "m", mask); };
  check(attention({"q", "k", "v", "m", "pk", "pv"}, {}, {"y", "nk", "nv"}),
        masked(bools({2, 4}, {0, 1, 1, 0, 0, 0, 0, 0})),
        {{"y", steps_of({mean(1, 2), 0})},
         {"nk", steps_of({5, 6, 7, 8})},
         {"nv", steps_of({1, 2, 4, 8})}});
  check(attention({"q", "k", "v", "m", "pk", "pv"}),
        masked(floats({1, 1, 2, 4}, {0, -inf, 0, -inf, -inf, -inf, -inf, 0})),
        {{"y", steps_of({2.5, 8})}});
  check(attention({"q", "k", "v", "m", "pk", "pv"}, {}, {"y"}, 23), masked(floats({1}, {3})),
        {{"y", steps_of({mean(0, 3), mean(0, 3)})}});
  // A cache whose first keys count, as many as input 6 says; the queries are the last of these.
  const Values cache{{"q", steps_of({0, 0})},
                     {"k", steps_of({5, 6, 7, 8})},
                     {"v", steps_of({1, 2, 4, 8})},
                     {"n", longs({1}, {3})}};
  check(attention({"q", "k", "v", "", "", "", "n"}), cache,
        {{"y", steps_of({mean(0, 2), mean(0, 2)})}});
  check(attention({"q", "k", "v", "", "", "", "n"}, {{"is_causal", 1}}), cache,
        {{"y", steps_of({mean(0, 1), mean(0, 2)})}});
  // Fewer keys than queries: the first ones come before all keys.
  auto one_key = cache;
  one_key.back().second = longs({1}, {1});
  check(attention({"q", "k", "v", "", "", "", "n"}, {{"is_causal", 1}}), one_key,
        {{"y", steps_of({0, 1})}});
  cannot(attention({"q", "k", "v", "", "pk"}), past, ErrorKind::bad_data, "one of two past inputs");
  cannot(attention({"q", "k", "v", "", "pk", "pv", "n"}), with(past, "n", longs({1}, {1})),
         ErrorKind::bad_data, "input 6 is for keys without a past");
}

BOOST_AUTO_TEST_CASE(heads_that_share_keys) {
  // Heads 0 and 1 share the first keys, heads 2 and 3 the second; all have one step.
  const auto value = floats({1, 2, 2, 1}, {1, 3, 10, 30});
  const auto key = floats({1, 2, 2, 1}, {0, 1, 0, 1});
  const auto high = 3 - 2 / (1 + std::exp(2.0)), low = 2.0;
  check(attention({"q", "k", "v"}, {{"scale", 1.0}}),
        {{"q", floats({1, 4, 1, 1}, {0, 2, 0, 2})}, {"k", key}, {"v", value}},
        {{"y", floats({1, 4, 1, 1}, {low, high, 10 * low, 10 * high})}});
  // The same as [batch, steps, heads x features].
  check(attention({"q", "k", "v"}, {{"scale", 1.0}, {"q_num_heads", 4}, {"kv_num_heads", 2}}),
        {{"q", floats({1, 1, 4}, {0, 2, 0, 2})},
         {"k", floats({1, 2, 2}, {0, 0, 1, 1})},
         {"v", floats({1, 2, 2}, {1, 10, 3, 30})}},
        {{"y", floats({1, 1, 4}, {low, high, 10 * low, 10 * high})}});
  cannot(attention({"q", "k", "v"}),
         {{"q", floats({1, 3, 1, 1}, {0, 2, 0})}, {"k", key}, {"v", value}}, ErrorKind::bad_data,
         "a query of shape [1, 3, 1, 1] for a key of shape [1, 2, 2, 1]");
  cannot(attention({"q", "k", "v"}),
         {{"q", floats({1, 1, 4}, {0, 2, 0, 2})}, {"k", key}, {"v", value}}, ErrorKind::bad_data,
         "0 heads of a tensor of shape [1, 1, 4]");
}

BOOST_AUTO_TEST_CASE(scores_at_each_stage) {
  const Values values{{"q", floats({1, 1, 1, 4}, {1, 2, 3, 4})},
                      {"k", floats({1, 1, 2, 4}, {1, 1, 1, 1, 2, 0, 0, 0})},
                      {"v", floats({1, 1, 2, 1}, {1, 2})},
                      {"m", floats({1, 2}, {0.5, -0.5})}};
  const auto shows = [&](std::int64_t mode, double a, double b) {
    check(attention({"q", "k", "v", "m"}, {{"softcap", 2.0}, {"qk_matmul_output_mode", mode}},
                    {"", "", "", "s"}),
          values, {{"s", floats({1, 1, 1, 2}, {a, b})}});
  };
  // The scale is 1 / sqrt(4).
  const double a = 2 * std::tanh(2.5), b = 2 * std::tanh(0.5);
  shows(0, 5, 1);
  shows(1, a, b);
  shows(2, a + 0.5, b - 0.5);
  const auto share = 1 / (1 + std::exp((b - 0.5) - (a + 0.5)));
  shows(3, share, 1 - share);
  check(attention({"q", "k", "v"}, {{"softmax_precision", 10}, {"scale", 1.0}}), values,
        {{"y", floats({1, 1, 1, 1}, {1 + 1 / (1 + std::exp(8.0))})}}, 1e-3);
  cannot(attention({"q", "k", "v"}, {{"softmax_precision", 7}}), values, ErrorKind::bad_data,
         "attribute 'softmax_precision' is 7");
}

BOOST_AUTO_TEST_CASE(graphs_that_change_scores) {
  const auto flex = [](const char* attribute, const Model& changes) {
    Model model(26);
    model.node("FlexAttention", {"q", "k", "v"}, {"y"}, {{"scale", 1.0}}).with_body(changes);
    auto& node = *model.graph().mutable_node(0);
    node.set_domain("ai.onnx.preview");
    node.mutable_attribute(node.attribute_size() - 1)->set_name(attribute);
    return model;
  };
  Model tripled;
  tripled.node("Mul", {"x", "three"}, {"z"}).initializer("three", floats({}, {3})).output("z");
  tripled.graph().add_input()->set_name("x");
  const Values values{
      {"q", steps_of({1})}, {"k", steps_of({0, std::log(2)})}, {"v", steps_of({1, 10})}};
  // e^(3 ln 2) is 8: shares of 1 / 9 and 8 / 9, without it 1 / 3 and 2 / 3.
  check(flex("score_mod", tripled), values, {{"y", steps_of({9})}});
  check(flex("prob_mod", tripled), values, {{"y", steps_of({21})}});
  Model summed;
  summed.node("ReduceSum", {"x"}, {"z"}).output("z");
  summed.graph().add_input()->set_name("x");
  cannot(flex("score_mod", summed), values, ErrorKind::bad_data,
         "attribute 'score_mod' makes [1, 1, 1, 1] of [1, 1, 1, 2]");
}

BOOST_AUTO_TEST_CASE(turned_features) {
  const auto rotary = [](const std::vector<std::string>& inputs,
                         const Attributes& attributes = {}) {
    return Model(23).node("RotaryEmbedding", inputs, {"y"}, attributes);
  };
  // A quarter turn at position 1, none at position 0.
  const auto cosines = floats({2, 1}, {1, 0}), sines = floats({2, 1}, {0, 1});
  const auto x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Values values{{"x", x}, {"c", cosines}, {"s", sines}, {"p", longs({1, 2}, {1, 0})}};
  check(rotary({"x", "c", "s", "p"}), values, {{"y", floats({1, 1, 2, 2}, {-2, 1, 3, 4})}});
  // A row for each step, and two heads in one dimension.
  const Values rows{{"x", floats({1, 2, 4}, {1, 2, 5, 6, 3, 4, 7, 8})},
                    {"c", floats({1, 2, 1}, {1, 0})},
                    {"s", floats({1, 2, 1}, {0, 1})}};
  check(rotary({"x", "c", "s"}, {{"num_heads", 2}}), rows,
        {{"y", floats({1, 2, 4}, {1, 2, 5, 6, -4, 3, -8, 7})}});
  // Neighbors instead of halves, and features that stay.
  const auto wide = floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const Values turn{{"x", wide},
                    {"c", floats({1, 1, 1}, {0})},
                    {"s", floats({1, 1, 1}, {1})},
                    {"c2", floats({1, 1, 2}, {0, 1})},
                    {"s2", floats({1, 1, 2}, {1, 0})}};
  check(rotary({"x", "c", "s"}, {{"rotary_embedding_dim", 2}}), turn,
        {{"y", floats({1, 1, 1, 4}, {-2, 1, 3, 4})}});
  check(rotary({"x", "c2", "s2"}, {{"interleaved", 1}}), turn,
        {{"y", floats({1, 1, 1, 4}, {-2, 1, 3, 4})}});
  check(rotary({"x", "c2", "s2"}), turn, {{"y", floats({1, 1, 1, 4}, {-3, 2, 1, 4})}});
  cannot(rotary({"x", "c", "s"}, {{"rotary_embedding_dim", 4}}), turn, ErrorKind::bad_data,
         "attribute 'rotary_embedding_dim' is 4");
}

BOOST_AUTO_TEST_CASE(states_instead_of_keys) {
  const auto linear = [](const std::vector<std::string>& inputs, const std::string& rule,
                         std::int64_t queries = 1) {
    return Model(27).node(
        "LinearAttention", inputs, {"y", "state"},
        {{"update_rule", rule}, {"scale", 1.0}, {"q_num_heads", queries}, {"kv_num_heads", 1}});
  };
  const Values values{{"q", floats({1, 3, 1}, {1, 1, 10})},
                      {"k", floats({1, 3, 1}, {1, 2, 3})},
                      {"v", floats({1, 3, 1}, {1, 10, 100})},
                      {"past", floats({1, 1, 1, 1}, {7})},
                      {"g", floats({1, 3, 1}, {std::log(2), 0, std::log(0.5)})},
                      {"b", floats({1, 3, 1}, {1, 0.5, 2})}};
  const auto gives = [&](const Model& model, Reals results, double state) {
    check(model, values,
          {{"y", floats({1, 3, 1}, std::move(results))}, {"state", floats({1, 1, 1, 1}, {state})}});
  };
  gives(linear({"q", "k", "v"}, "linear"), {1, 21, 3210}, 321);
  gives(linear({"q", "k", "v", "past"}, "linear"), {8, 28, 3280}, 328);
  gives(linear({"q", "k", "v", "past", "g"}, "gated"), {15, 35, 3175}, 317.5);
  // The state 1 says 2 of the key 2: half of the difference to 10 makes it 1 + 2 x 4.
  gives(linear({"q", "k", "v", "", "", "b"}, "delta"), {1, 9, 4470}, 447);
  gives(linear({"q", "k", "v", "", "g", "b"}, "gated_delta"), {1, 9, 5235}, 523.5);
  // Two heads of queries share the state.
  check(
      linear({"qq", "k", "v"}, "linear", 2),
      with(values, "qq", floats({1, 3, 2}, {1, 2, 1, 2, 1, 2})),
      {{"y", floats({1, 3, 2}, {1, 2, 21, 42, 321, 642})}, {"state", floats({1, 1, 1, 1}, {321})}});
  cannot(linear({"q", "k", "v"}, "gated"), values, ErrorKind::bad_data,
         "update rule 'gated': it needs input 4, the decay, and has no input 5");
  cannot(linear({"q", "k", "v"}, "other"), values, ErrorKind::bad_data, "'other'");
}

BOOST_AUTO_TEST_CASE(convolutions_with_a_state) {
  const auto conv = [](const std::vector<std::string>& inputs, const std::string& activation) {
    return Model(27).node("CausalConvWithState", inputs, {"y", "state"},
                          {{"activation", activation}});
  };
  const Values values{{"x", floats({1, 2, 3}, {1, 2, 3, 10, 20, 30})},
                      {"w", floats({2, 1, 2}, {100, 1, 1, 0})},
                      {"b", floats({2}, {0.5, 0})},
                      {"past", floats({1, 2, 1}, {7, 70})}};
  const auto state = floats({1, 2, 1}, {3, 30});
  check(conv({"x", "w"}, "none"), values,
        {{"y", floats({1, 2, 3}, {1, 102, 203, 0, 10, 20})}, {"state", state}});
  check(conv({"x", "w", "b", "past"}, "none"), values,
        {{"y", floats({1, 2, 3}, {701.5, 102.5, 203.5, 70, 10, 20})}, {"state", state}});
  const auto silu = [](double a) { return a / (1 + std::exp(-a)); };
  for (const std::string name : {"silu", "swish"})
    check(conv({"x", "w"}, name), values,
          {{"y", floats({1, 2, 3}, {silu(1), 102, 203, 0, silu(10), 20})}, {"state", state}});
  // An input shorter than the state keeps the end of the past.
  check(conv({"x1", "w3", "", "past2"}, "none"),
        {{"x1", floats({1, 1, 1}, {3})},
         {"w3", floats({1, 1, 3}, {100, 10, 1})},
         {"past2", floats({1, 1, 2}, {1, 2})}},
        {{"y", floats({1, 1, 1}, {123})}, {"state", floats({1, 1, 2}, {2, 3})}});
  // A filter of one step has no state: WebNN has no empty tensors.
  auto plain = Model(27).node("CausalConvWithState", {"x", "w1"}, {"y"});
  check(plain, with(values, "w1", floats({2, 1, 1}, {2, 3})),
        {{"y", floats({1, 2, 3}, {2, 4, 6, 30, 60, 90})}});
  cannot(conv({"x", "w"}, "relu"), values, ErrorKind::bad_data, "'relu'");
  cannot(conv({"x", "w", "", "past3"}, "none"),
         with(values, "past3", floats({1, 2, 2}, {1, 2, 3, 4})), ErrorKind::bad_data,
         "a state of shape [1, 2, 2] for a filter of shape [2, 1, 2]");
}

// Many steps are many operators: the import refuses them in time.
BOOST_AUTO_TEST_CASE(states_of_many_steps) {
  cannot(Model(27).node("LinearAttention", {"q", "k", "v"}, {"y", "state"},
                        {{"update_rule", "linear"}, {"q_num_heads", 1}, {"kv_num_heads", 1}}),
         {{"q", ramp({1, 20'000, 1})}, {"k", ramp({1, 20'000, 1})}, {"v", ramp({1, 20'000, 1})}},
         ErrorKind::not_supported, "unrolled, the model has more than 200000 nodes");
}

BOOST_AUTO_TEST_SUITE_END()
