// If, Loop, Scan, functions of the model, and sequences: followed and unrolled at import.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(control)

namespace {

/// Gives the last node of `model` a graph for an attribute.
Model& with_graph(Model& model, const std::string& name, Model body) {
  auto& node = *model.graph().mutable_node(model.graph().node_size() - 1);
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(proto::AttributeProto::GRAPH);
  *attribute.mutable_g() = body.graph();
  return model;
}

/// y = x + x or y = x * x, where x stands around.
Model branch(const std::string& op) {
  Model model;
  model.node(op, {"x", "x"}, {op + "_result"}).output(op + "_result");
  return model;
}

Model choice() {
  Model model;
  model.node("If", {"c"}, {"y"});
  with_graph(model, "then_branch", branch("Add"));
  with_graph(model, "else_branch", branch("Mul"));
  return model;
}

/// Adds x to what it carries, and puts it out as it was before.
Model counting(std::int64_t trips) {
  Model body;
  body.input("i", proto::TensorProto::INT64, {})
      .input("go", proto::TensorProto::BOOL, {})
      .input("sum", proto::TensorProto::FLOAT, {2});
  body.node("Identity", {"go"}, {"on"})
      .node("Add", {"sum", "x"}, {"more"})
      .node("Identity", {"sum"}, {"before"});
  body.output("on", proto::TensorProto::BOOL).output("more").output("before");
  Model model;
  model.node("Loop", {"n", "", "start"}, {"y", "all"})
      .initializer("n", longs({}, {static_cast<double>(trips)}))
      .initializer("start", floats({2}, {0, 0}));
  with_graph(model, "body", body);
  return model;
}

/// y and z are k away from x, or k times: each branch has values of the same names, and gives them
/// in another order. `nested`: the first asks again.
Model two_results(bool nested) {
  Model first, second;
  if (nested) {
    Model minus, over;
    minus.node("Sub", {"x", "k"}, {"inner"}).output("inner");
    over.node("Div", {"x", "k"}, {"inner"}).output("inner");
    first.node("If", {"d"}, {"a"});
    with_graph(first, "then_branch", minus);
    with_graph(first, "else_branch", over);
  } else {
    first.node("Sub", {"x", "k"}, {"a"});
  }
  first.node("Add", {"x", "k"}, {"b"}).output("a").output("b");
  // Its own k, beside the one around it.
  second.node("Mul", {"x", "own"}, {"a"})
      .node("Div", {"x", "own"}, {"b"})
      .initializer("own", floats({}, {4}))
      .output("b")
      .output("a");
  Model model;
  model.node("If", {"c"}, {"y", "z"}).initializer("k", floats({}, {2}));
  with_graph(model, "then_branch", first);
  with_graph(model, "else_branch", second);
  return model;
}

/// A function of `opset` that normalizes over axis 1, in a model of another one that does as well.
Model two_softmaxes(std::int64_t of_model, std::int64_t of_function) {
  Model model(of_model);
  auto& import = *model.proto().add_opset_import();
  import.set_domain("own");
  import.set_version(1);
  auto& function = *model.proto().add_functions();
  function.set_domain("own");
  function.set_name("Normal");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(of_function);
  auto& softmax = *function.add_node();
  softmax.set_op_type("Softmax");
  softmax.add_input("a");
  softmax.add_output("b");
  auto& axis = *softmax.add_attribute();
  axis.set_name("axis");
  axis.set_type(proto::AttributeProto::INT);
  axis.set_i(1);
  model.node("Normal", {"x"}, {"y"});
  model.graph().mutable_node(0)->set_domain("own");
  return model.node("Softmax", {"x"}, {"z"}, {{"axis", 1}});
}

/// A function of the domain "own" that scales its input by its attribute.
Model scaling(int calls) {
  Model model(15);
  auto& import = *model.proto().add_opset_import();
  import.set_domain("own");
  import.set_version(1);
  auto& function = *model.proto().add_functions();
  function.set_domain("own");
  function.set_name("Scale");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("by");
  function.add_opset_import()->set_version(15);
  auto& constant = *function.add_node();
  constant.set_op_type("Constant");
  constant.add_output("k");
  auto& value = *constant.add_attribute();
  value.set_name("value_float");
  value.set_ref_attr_name("by");
  value.set_type(proto::AttributeProto::FLOAT);
  auto& mul = *function.add_node();
  mul.set_op_type("Mul");
  mul.add_input("a");
  mul.add_input("k");
  mul.add_output("b");
  std::string from = "x";
  for (int i = 0; i < calls; ++i) {
    const auto to = i + 1 == calls ? "y" : "t" + std::to_string(i);
    model.node("Scale", {from}, {to}, {{"by", 2.5}});
    model.graph().mutable_node(i)->set_domain("own");
    from = to;
  }
  return model;
}

}  // namespace

BOOST_AUTO_TEST_CASE(branches) {
  const auto x = floats({2}, {3, 5});
  for (const double c : {0.0, 1.0})
    check(choice(), {{"x", x}, {"c", bools({}, {c})}},
          {{"y", c != 0 ? floats({2}, {6, 10}) : floats({2}, {9, 25})}});
}

BOOST_AUTO_TEST_CASE(branches_of_several_results) {
  const auto x = floats({2}, {4, 8});
  const auto yes = bools({}, {1}), no = bools({}, {0});
  check(two_results(false), {{"x", x}, {"c", yes}},
        {{"y", floats({2}, {2, 6})}, {"z", floats({2}, {6, 10})}});
  const Values otherwise{{"y", floats({2}, {1, 2})}, {"z", floats({2}, {16, 32})}};
  check(two_results(false), {{"x", x}, {"c", no}}, otherwise);
  check(two_results(true), {{"x", x}, {"c", yes}, {"d", yes}},
        {{"y", floats({2}, {2, 6})}, {"z", floats({2}, {6, 10})}});
  check(two_results(true), {{"x", x}, {"c", yes}, {"d", no}},
        {{"y", floats({2}, {2, 4})}, {"z", floats({2}, {6, 10})}});
  check(two_results(true), {{"x", x}, {"c", no}, {"d", yes}}, otherwise);
  // A condition that the model knows takes one branch, and leaves no other.
  for (const bool known : {false, true}) {
    auto model = two_results(false);
    model.initializer("c", known ? yes : no);
    check(model, {{"x", x}},
          known ? Values{{"y", floats({2}, {2, 6})}, {"z", floats({2}, {6, 10})}} : otherwise);
  }
}

BOOST_AUTO_TEST_CASE(branches_of_two_shapes_need_the_condition) {
  Model model;
  Model sum;
  sum.node("ReduceSum", {"x"}, {"s"}, {{"keepdims", 0}}).output("s");
  model.node("If", {"c"}, {"y"});
  with_graph(model, "then_branch", branch("Add"));
  with_graph(model, "else_branch", sum);
  cannot(model, {{"x", ramp({2})}, {"c", bools({}, {1})}}, ErrorKind::not_supported,
         "must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(a_branch_that_does_not_fit_needs_the_condition) {
  // As in a decoder with and without a cache: the other branch is for inputs of other shapes.
  Model model;
  model.node("If", {"c"}, {"y"});
  with_graph(model, "then_branch", branch("Add"));
  with_graph(model, "else_branch", branch("MatMul"));
  const auto x = ramp({1, 2});
  cannot(model, {{"x", x}, {"c", bools({}, {1})}}, ErrorKind::not_supported,
         "operator 'MatMul' (node 'the_MatMul', opset 13): WebNN refuses it; else the condition "
         "('c') must be known when it is imported");
  auto known = model;
  check(known.initializer("c", bools({}, {1})), {{"x", x}}, {{"y", floats({1, 2}, {0, 2})}});
}

BOOST_AUTO_TEST_CASE(what_a_condition_is_calculated_from_is_told) {
  // As in a speech detector: its branches are for one rate each.
  Model model;
  model.node("Equal", {"rate", "high"}, {"c"}).initializer("high", longs({}, {16000}));
  model.node("If", {"c"}, {"y"});
  with_graph(model, "then_branch", branch("Add"));
  with_graph(model, "else_branch", branch("MatMul"));
  cannot(
      model, {{"x", ramp({1, 2})}, {"rate", longs({}, {16000})}}, ErrorKind::not_supported,
      "else the condition ('c', calculated from input 'rate') must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(nodes_may_stand_in_any_order) {
  // y = -(x + x), main graph and branches; as float16 converters leave casts at the end.
  Model backwards;
  backwards.node("Neg", {"t"}, {"r"}).node("Add", {"s", "zero"}, {"t"});
  backwards.node("Add", {"x", "x"}, {"s"}).node("Constant", {}, {"zero"}, {{"value_float", 0.0}});
  auto main = backwards;
  main.node("Identity", {"r"}, {"y"});
  check(main, {{"x", floats({2}, {1, -2})}}, {{"y", floats({2}, {-2, 4})}});
  Model model;
  model.node("Identity", {"z"}, {"y"}).node("If", {"c"}, {"z"});
  with_graph(model, "then_branch", backwards.output("r"));
  with_graph(model, "else_branch", branch("Add"));
  for (const double c : {0.0, 1.0})
    check(model, {{"x", floats({2}, {1, -2})}, {"c", bools({}, {c})}},
          {{"y", c != 0 ? floats({2}, {-2, 4}) : floats({2}, {2, -4})}});
}

BOOST_AUTO_TEST_CASE(nodes_in_a_circle_are_named) {
  Model circle;
  circle.node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
  Model model;
  model.node("If", {"c"}, {"y"});
  with_graph(model, "then_branch", circle);
  with_graph(model, "else_branch", branch("Add"));
  cannot(model, {{"x", ramp({2})}, {"c", bools({}, {1})}}, ErrorKind::bad_data,
         "a cycle: operator 'Add' (node 'the_Add'), which reads from 'Relu' (node 'the_Relu'), "
         "which reads from the first");
}

BOOST_AUTO_TEST_CASE(branches_and_bodies_are_counted) {
  auto model = choice();
  model.input("x", ramp({2})).input("c", bools({}, {1})).output("y");
  std::map<std::string, std::size_t> counts;
  const auto loaded = load(model.bytes());
  for (const auto& entry : loaded.summary().operators) counts[entry.name] = entry.count;
  const std::map<std::string, std::size_t> expected{{"Add", 1}, {"If", 1}, {"Mul", 1}};
  BOOST_TEST((counts == expected));
  const auto functions = load(scaling(2).input("x", ramp({2})).output("y").bytes());
  for (const auto& entry : functions.summary().operators)
    if (entry.name == "Scale") BOOST_TEST(entry.count == 2U);
}

BOOST_AUTO_TEST_CASE(a_branch_without_its_graph_is_refused) {
  // Found by fuzzing: an attribute that says it is a graph, and is none.
  auto model = choice();
  for (auto& attribute : *model.graph().mutable_node(0)->mutable_attribute()) attribute.clear_g();
  for (const double c : {0.0, 1.0}) {
    auto known = model;
    cannot(known.initializer("c", bools({}, {c})), {{"x", ramp({2})}}, ErrorKind::bad_data,
           "holds no graph");
  }
}

BOOST_AUTO_TEST_CASE(loops) {
  check(counting(3), {{"x", floats({2}, {1, 10})}},
        {{"y", floats({2}, {3, 30})}, {"all", floats({3, 2}, {0, 0, 1, 10, 2, 20})}});
}

BOOST_AUTO_TEST_CASE(loops_are_bounded) {
  cannot(counting(1'000'000'000'000), {{"x", ramp({2})}}, ErrorKind::not_supported,
         "more than 200000 nodes");
  cannot(counting(0), {{"x", ramp({2})}}, ErrorKind::not_supported, "never runs", "all");
  auto open = counting(2);
  open.graph().clear_initializer();
  cannot(open, {{"x", ramp({2})}, {"n", longs({}, {2})}, {"start", ramp({2})}},
         ErrorKind::not_supported, "input 0 ('n') must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(scans) {
  Model body;
  body.input("state", proto::TensorProto::FLOAT, {}).input("next", proto::TensorProto::FLOAT, {});
  body.node("Add", {"state", "next"}, {"sum"}).node("Mul", {"sum", "sum"}, {"square"});
  body.output("sum").output("square");
  for (const bool backwards : {false, true}) {
    Model model;
    model.node("Scan", {"s", "x"}, {"y", "squares"},
               {{"num_scan_inputs", 1}, {"scan_input_directions", Ints{backwards}}});
    with_graph(model, "body", body);
    check(model, {{"s", floats({}, {1})}, {"x", floats({3}, {1, 2, 3})}},
          {{"y", floats({}, {7})},
           {"squares", backwards ? floats({3}, {16, 36, 49}) : floats({3}, {4, 16, 49})}});
  }
}

BOOST_AUTO_TEST_CASE(an_output_that_nothing_gave_a_value_is_refused) {
  const auto has_none = [](Model model, const Values& inputs) {
    cannot(std::move(model), inputs, ErrorKind::bad_data, "output 'y' has no value");
  };
  Model body;
  body.node("Add", {"s", "v"}, {"next"}).output("next");
  for (const auto* name : {"s", "v"}) body.graph().add_input()->set_name(name);

  Model scan;
  scan.node("Scan", {"", "x"}, {"y"}, {{"num_scan_inputs", 1}});
  has_none(with_graph(scan, "body", body), {{"x", floats({0, 2}, {})}});

  Model loop;
  loop.node("Loop", {"never", "", ""}, {"y"}).initializer("never", longs({}, {0}));
  has_none(with_graph(loop, "body", body), {});

  Model sequence;
  sequence.node("SequenceConstruct", {"x", ""}, {"list"})
      .node("SequenceAt", {"list", "one"}, {"y"})
      .initializer("one", longs({}, {1}));
  has_none(sequence, {{"x", ramp({2})}});
}

BOOST_AUTO_TEST_CASE(functions_of_the_model) {
  check(scaling(1), {{"x", floats({2}, {2, 4})}}, {{"y", floats({2}, {5, 10})}});
  check(scaling(2), {{"x", floats({2}, {2, 4})}}, {{"y", floats({2}, {12.5, 25})}});
}

// Until opset 12 a Softmax is over all dimensions from its axis on; since then over that one.
BOOST_AUTO_TEST_CASE(functions_of_another_opset) {
  const auto x = floats({1, 2, 2}, {0, 0, 0, 0});
  const auto all = floats({1, 2, 2}, {0.25, 0.25, 0.25, 0.25}),
             one = floats({1, 2, 2}, {0.5, 0.5, 0.5, 0.5});
  check(two_softmaxes(15, 11), {{"x", x}}, {{"y", all}, {"z", one}});
  check(two_softmaxes(11, 13), {{"x", x}}, {{"y", one}, {"z", all}});
  check(two_softmaxes(13, 15), {{"x", x}}, {{"y", one}, {"z", one}});
}

BOOST_AUTO_TEST_CASE(functions_that_call_themselves_are_refused) {
  auto model = scaling(1);
  auto& inner = *model.proto().mutable_functions(0)->mutable_node(1);
  inner.set_op_type("Scale");
  inner.set_domain("own");
  inner.mutable_input()->RemoveLast();
  cannot(model, {{"x", ramp({2})}}, ErrorKind::not_supported, "so deep");
}

BOOST_AUTO_TEST_CASE(sequences) {
  const auto a = floats({1, 2}, {1, 2}), b = floats({1, 2}, {3, 4});
  const auto model = [] {
    return Model()
        .node("SequenceConstruct", {"a", "b"}, {"ab"})
        .node("SequenceInsert", {"ab", "b", "minus"}, {"abb"})
        .node("SequenceErase", {"abb", "zero"}, {"bb"})
        .node("SequenceLength", {"abb"}, {"length"})
        .node("SequenceAt", {"bb", "minus"}, {"last"})
        .node("ConcatFromSequence", {"abb"}, {"all"}, {{"axis", 0}})
        .initializer("zero", longs({}, {0}))
        .initializer("minus", longs({}, {-1}));
  };
  check(model(), {{"a", a}, {"b", b}},
        {{"length", longs({}, {3})}, {"last", b}, {"all", floats({3, 2}, {1, 2, 3, 4, 3, 4})}});
  cannot(model(), {{"a", a}, {"b", b}}, ErrorKind::not_supported, "is a sequence", "bb");
}

BOOST_AUTO_TEST_SUITE_END()
