// Inputs of ranks that an operator does not expect, omitted inputs, and numbers at the edges: the
// error says that the model is malformed. `fuzz_sweep` tries such changes on all node tests of
// ONNX.
#include <limits>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(ranks)

BOOST_AUTO_TEST_CASE(recurrent_networks_with_parts_of_other_ranks) {
  const Values parts{{"x", ramp({2, 1, 1})}, {"w", ramp({1, 4, 1})}, {"r", ramp({1, 4, 1})},
                     {"b", ramp({1, 8})},    {"n", ints({1}, {1})},  {"h", ramp({1, 1, 1})},
                     {"c", ramp({1, 1, 1})}, {"p", ramp({1, 3})}};
  for (const std::string which : {"b", "h", "c", "p"}) {
    auto damaged = parts;
    for (auto& [name, value] : damaged)
      if (name == which) value = ramp({1});
    BOOST_TEST_CONTEXT("input " << which << " of rank 1")
    cannot(Model(14).node("LSTM", {"x", "w", "r", "b", "n", "h", "c", "p"}, {"", "y"},
                          {{"hidden_size", 1}}),
           damaged, ErrorKind::bad_data, which == "h" || which == "c" ? "of shape [1]" : "rank");
  }
}

BOOST_AUTO_TEST_CASE(convolutions_of_integers_without_space) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}})
    cannot(Model(10).node("ConvInteger", {"x", "w"}, {"y"}),
           {{"x", {proto::TensorProto::UINT8, {1, 1, 1, 1}, {1}}},
            {"w", {proto::TensorProto::UINT8, shape, {1}}}},
           ErrorKind::bad_data, shape.size() < 2 ? "rank" : "kernel_shape");
}

BOOST_AUTO_TEST_CASE(normalization_without_channels) {
  cannot(Model(15).node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "mean", "variance"},
                        {{"training_mode", 1}}),
         {{"x", ramp({2})}, {"s", ramp({2})}, {"b", ramp({2})}, {"m", ramp({2})}, {"v", ramp({2})}},
         ErrorKind::bad_data, "there are no channels");
}

BOOST_AUTO_TEST_CASE(quantized_products_without_a_scale) {
  const auto matrix = Value{proto::TensorProto::UINT8, {1, 1}, {1}};
  const auto zero = Value{proto::TensorProto::UINT8, {}, {1}};
  for (const int absent : {1, 4}) {
    std::vector<std::string> names{"a", "as", "az", "b", "bs", "bz", "ys", "yz"};
    names[std::size_t(absent)] = "";
    cannot(Model(10).node("QLinearMatMul", names, {"y"}),
           {{"a", matrix},
            {"as", floats({}, {1})},
            {"az", zero},
            {"b", matrix},
            {"bs", floats({}, {1})},
            {"bz", zero},
            {"ys", floats({}, {1})},
            {"yz", zero}},
           ErrorKind::bad_data, "input " + std::to_string(absent));
  }
}

BOOST_AUTO_TEST_CASE(padding_at_the_edges) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (const auto& pads : {Ints{least, 0}, Ints{0, least}})
    cannot(Model(2).node("Pad", {"x"}, {"y"}, {{"pads", pads}}), {{"x", ramp({4})}},
           ErrorKind::not_supported, "an empty result");
}

BOOST_AUTO_TEST_CASE(outputs_that_an_operator_does_not_have) {
  const Values parts{{"x", ramp({2, 1, 1})}, {"w", ramp({1, 1, 1})}, {"r", ramp({1, 1, 1})}};
  cannot(Model(14).node("RNN", {"x", "w", "r"}, {"", "y", "cell"}, {{"hidden_size", 1}}), parts,
         ErrorKind::not_supported, "no such output as 'cell'");
}

BOOST_AUTO_TEST_CASE(sizes_of_parts_that_are_no_number) {
  for (const auto& sizes : {longs({0, 2}, {}), longs({1, 2}, {1, 1})})
    cannot(Model(11)
               .initializer("n", sizes)
               .node("SplitToSequence", {"x", "n"}, {"parts"})
               .node("ConcatFromSequence", {"parts"}, {"y"}, {{"axis", 0}}),
           {{"x", ramp({2})}}, ErrorKind::bad_data, "must be a scalar");
}

BOOST_AUTO_TEST_CASE(nothing_of_different_types_put_together) {
  cannot(Model(11)
             .initializer("a", longs({0}, {}))
             .initializer("b", floats({0}, {}))
             .node("SequenceConstruct", {"a", "b"}, {"parts"})
             .node("ConcatFromSequence", {"parts"}, {"y"}, {{"axis", 0}}),
         {}, ErrorKind::bad_data, "no parts to join");
}

BOOST_AUTO_TEST_SUITE_END()
