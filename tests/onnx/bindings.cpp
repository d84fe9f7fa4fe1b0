// Free dimensions and their bindings; names and types of inputs.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(bindings)

namespace {

constexpr int type = proto::TensorProto::FLOAT;

/// y = x + z with x [batch, 3] and z [batch, 1].
Model two_inputs() {
  return Model()
      .node("Add", {"x", "z"}, {"y"})
      .input("x", type, {"batch", 3})
      .input("z", type, {"batch", 1})
      .output("y");
}

void refused(const Model& model, const std::map<std::string, Shape>& bindings,
             const std::string& words) {
  try {
    build(load(model.bytes()), bindings);
    BOOST_ERROR("it was taken, where an error with '" << words << "' was expected");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == "type_error");
    BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(by_symbol_and_by_input) {
  const auto model = load(two_inputs().bytes());
  for (const auto& bindings : std::vector<std::map<std::string, Shape>>{
           {{"batch", {2}}}, {{"x", {2, 3}}}, {{"x", {2, 3}}, {"z", {2, 1}}, {"batch", {2}}}}) {
    const auto graph = build(model, bindings);
    BOOST_REQUIRE_EQUAL(graph.inputs().size(), 2U);
    BOOST_TEST(graph.inputs()[0].first == "x");
    BOOST_TEST(to_string(graph.inputs()[0].second) == "float32 [2, 3]");
    BOOST_TEST(to_string(graph.inputs()[1].second) == "float32 [2, 1]");
    BOOST_TEST(graph.outputs()[0].first == "y");
  }
}

BOOST_AUTO_TEST_CASE(one_model_is_imported_many_times) {
  const auto model = load(Model()
                              .node("Mul", {"x", "w"}, {"y"})
                              .initializer("w", floats({2}, {2, 3}))
                              .input("x", type, {"n", 2})
                              .output("y")
                              .bytes());
  for (std::uint32_t n = 1; n < 4; ++n) {
    const auto x = ramp({n, 2});
    auto y = x;
    for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] *= i % 2 == 0 ? 2 : 3;
    compare(build(model, {{"n", {n}}}), {{"x", x}}, {{"y", y}}, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(the_constants_outlive_the_model) {
  polychron::GraphBuilder builder(context());
  polychron::NamedOperands outputs;
  {
    const auto model = load(Model()
                                .node("Add", {"x", "w"}, {"y"})
                                .initializer("w", ramp({1000}))
                                .input("x", type, {1000})
                                .output("y")
                                .bytes());
    outputs = polychron::onnx::import_model(model, builder);
  }
  const auto graph = builder.build(outputs).get();
  compare(graph, {{"x", ramp({1000})}}, {{"y", ramp({1000}, 0, 2)}}, 1e-6);
}

BOOST_AUTO_TEST_CASE(what_is_not_bound_or_bound_wrongly) {
  refused(two_inputs(), {}, "input 'x' is float [batch, 3]: dimension 0 is free");
  refused(two_inputs(), {{"x", {2, 4}}}, "input 'x' is float [batch, 3], not [2, 4]");
  refused(two_inputs(), {{"x", {2, 3, 1}}}, "input 'x' is float [batch, 3], not [2, 3, 1]");
  refused(two_inputs(), {{"x", {2, 3}}, {"batch", {4}}}, "dimension 'batch' would be both 4 and");
  refused(two_inputs(), {{"x", {2, 3}}, {"z", {4, 1}}}, "dimension 'batch' would be both 2 and");
  refused(two_inputs(), {{"batch", {2, 3}}}, "symbol 'batch' takes one number");
  refused(two_inputs(), {{"other", {2}}}, "no input and no free dimension 'other'");
  const auto nameless = Model().node("Relu", {"x"}, {"y"}).input("x", type, {"", 3}).output("y");
  refused(nameless, {}, "input 'x' is float [?, 3]: dimension 0 is free");
  auto shapeless = Model().node("Relu", {"x"}, {"y"}).output("y").input("x", type, {});
  shapeless.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  refused(shapeless, {}, "input 'x' has no shape in the model");
  BOOST_TEST(build(load(shapeless.bytes()), {{"x", {3}}}).inputs().size() == 1U);
}

BOOST_AUTO_TEST_CASE(negative_one_is_free) {
  auto model = Model().node("Relu", {"x"}, {"y"}).input("x", type, {-1, 3}).output("y");
  refused(model, {}, "input 'x' is float [?, 3]");
  BOOST_TEST(build(load(model.bytes()), {{"x", {2, 3}}}).inputs().size() == 1U);
}

// Exporters write these for a dimension that they know nothing of: they say nothing of each other.
BOOST_AUTO_TEST_CASE(dimensions_that_have_no_name) {
  for (const std::string none : {"?", "-1", "None", ""}) {
    BOOST_TEST_CONTEXT("'" << none << "'") {
      const auto model = Model()
                             .node("MatMul", {"x", "z"}, {"y"})
                             .input("x", type, {none, none})
                             .input("z", type, {none, none})
                             .output("y");
      refused(model, {}, "input 'x' is float [?, ?]: dimension 0 is free, bind the input");
      refused(model, {{none, {2}}}, "there is no input and no free dimension '" + none + "'");
      const auto graph = build(load(model.bytes()), {{"x", {2, 3}}, {"z", {3, 4}}});
      BOOST_TEST(to_string(graph.outputs()[0].second) == "float32 [2, 4]");
      const auto loaded = load(model.bytes());
      for (const auto& input : loaded.summary().inputs)
        for (const auto& dimension : *input.dimensions) BOOST_TEST(dimension.symbol == "");
    }
  }
  // Every other name is a symbol, however strange.
  const auto symbol =
      Model().node("Relu", {"x"}, {"y"}).input("x", type, {"none", "none"}).output("y");
  refused(symbol, {{"x", {2, 3}}}, "dimension 'none' would be both 2 and");
  refused(symbol, {}, "dimension 0 is free, bind the input or the symbol");
}

BOOST_AUTO_TEST_CASE(types_of_inputs) {
  const auto graph_of = [](int element) {
    return build(load(Model()
                          .node("Identity", {"x"}, {"y"})
                          .input("x", element, {2})
                          .output("y", element)
                          .bytes()));
  };
  using T = proto::TensorProto;
  for (const auto& [element, name] :
       std::vector<std::pair<int, std::string>>{{T::FLOAT, "float32"},
                                                {T::FLOAT16, "float16"},
                                                {T::INT64, "int64"},
                                                {T::INT32, "int32"},
                                                {T::UINT8, "uint8"},
                                                {T::BOOL, "uint8"},
                                                {T::INT16, "int32"},
                                                {T::UINT16, "int32"},
                                                {T::BFLOAT16, "float32"},
                                                {T::DOUBLE, "float32"}})
    BOOST_TEST(to_string(graph_of(element).inputs()[0].second) == name + " [2]");
  cannot(Model().node("Identity", {"x"}, {"y"}).input("x", T::COMPLEX64, {2}), {},
         ErrorKind::not_supported, "input 'x': WebNN has no type complex64");
}

// y = x + z, where the graph computes x, and what comes behind y.
BOOST_AUTO_TEST_CASE(operands_take_the_place_of_inputs) {
  const auto model = load(two_inputs().bytes());
  polychron::GraphBuilder builder(context());
  const auto given = builder.input("given", {polychron::DataType::float32, {2, 3}});
  polychron::onnx::ImportOptions options;
  options.operands.emplace("x", builder.mul(given, given));
  auto outputs = polychron::onnx::import_model(model, builder, options);
  outputs.front().second = builder.neg(outputs.front().second);
  const auto graph = builder.build(outputs).get();
  BOOST_REQUIRE_EQUAL(graph.inputs().size(), 2U);
  BOOST_TEST(graph.inputs()[0].first == "given");
  compare(graph, {{"given", ramp({2, 3})}, {"z", floats({2, 1}, {10, 20})}},
          {{"y", floats({2, 3}, {-10, -11, -14, -29, -36, -45})}}, 1e-6);
}

BOOST_AUTO_TEST_CASE(operands_have_the_models_types_and_shapes) {
  const auto model = load(two_inputs().bytes());
  const auto check = [&](const std::string& name, const polychron::OperandDescriptor& of,
                         const std::map<std::string, Shape>& bindings, const std::string& words) {
    polychron::GraphBuilder builder(context());
    polychron::onnx::ImportOptions options{.bindings = bindings};
    options.operands.emplace(name, builder.input("given", of));
    BOOST_CHECK_EXCEPTION(polychron::onnx::import_model(model, builder, options), polychron::Error,
                          [&](const polychron::Error& error) {
                            return error.kind() == ErrorKind::type_error &&
                                   std::string(error.what()).find(words) != std::string::npos;
                          });
  };
  const auto real = polychron::DataType::float32;
  check("w", {real, {2, 3}}, {}, "there is no such input");
  check("x", {polychron::DataType::int32, {2, 3}}, {}, "it is int32, expected float32");
  check("x", {real, {2, 4}}, {}, "not [2, 4]");
  check("x", {real, {2, 3}}, {{"batch", {5}}}, "would be both");
  check("x", {real, {2, 3}}, {{"x", {4, 3}}}, "is bound to [4, 3]");
}

BOOST_AUTO_TEST_SUITE_END()
