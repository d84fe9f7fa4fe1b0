// The checks when a model is loaded, and its summary.
#include "tests/onnx/fixture.hpp"
#include "tests/paths.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(loading)

namespace {

constexpr int type = proto::TensorProto::FLOAT;

Model relu() { return Model().node("Relu", {"x"}, {"y"}).input("x", type, {2}).output("y"); }

void refused(const Model& model, ErrorKind kind, const std::string& words) {
  try {
    load(model.bytes());
    BOOST_ERROR("it was taken, where an error with '" << words << "' was expected");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == to_string(kind), error.what());
    BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(summary_of_a_model) {
  auto model = Model(17)
                   .node("Conv", {"x", "w"}, {"c"})
                   .node("Relu", {"c"}, {"r"})
                   .node("Relu", {"r"}, {"s"})
                   .node("Mystery", {"s"}, {"y"})
                   .node("Constant", {}, {"k"}, {{"value_float", 1.0}})
                   .initializer("w", ramp({1, 1, 2, 2}))
                   .input("x", type, {"batch", 1, 4, ""})
                   .input("w", type, {1, 1, 2, 2})
                   .output("y");
  const auto loaded = load(model.bytes());
  const auto& summary = loaded.summary();
  BOOST_TEST(summary.graph_name == "g");
  BOOST_TEST(summary.producer == "test");
  BOOST_TEST(summary.ir_version == 8);
  BOOST_TEST(summary.opset == 17);
  BOOST_REQUIRE_EQUAL(summary.inputs.size(), 1U);  // an initializer's input is none
  BOOST_TEST(summary.inputs[0].name == "x");
  BOOST_TEST(to_string(summary.inputs[0]) == "float [batch, 1, 4, ?]");
  BOOST_REQUIRE_EQUAL(summary.outputs.size(), 1U);
  BOOST_TEST(to_string(summary.outputs[0]) == "float");
  BOOST_TEST(summary.initializers == 2U);
  BOOST_TEST(summary.initializer_bytes == 20U);
  BOOST_REQUIRE_EQUAL(summary.operators.size(), 4U);
  BOOST_TEST(summary.operators[0].name == "Relu");
  BOOST_TEST(summary.operators[0].count == 2U);
  for (const auto& op : summary.operators) BOOST_TEST(op.supported == (op.name != "Mystery"));
}

BOOST_AUTO_TEST_CASE(opsets) {
  for (std::int64_t opset = 1; opset <= 28; ++opset) {
    auto model = Model(opset).node("Relu", {"x"}, {"y"}).input("x", type, {2}).output("y");
    BOOST_TEST(load(model.bytes()).summary().opset == opset);
  }
  refused(Model(0).node("Relu", {"x"}, {"y"}).input("x", type, {2}).output("y"),
          ErrorKind::not_supported, "opset 0: 1 to 28 are supported");
  refused(Model(29).node("Relu", {"x"}, {"y"}).input("x", type, {2}).output("y"),
          ErrorKind::not_supported, "opset 29: 1 to 28 are supported");
  auto none = relu();
  none.proto().clear_opset_import();
  refused(none, ErrorKind::not_supported, "opset 0");
}

BOOST_AUTO_TEST_CASE(names) {
  refused(Model().node("Relu", {"q"}, {"y"}).input("x", type, {2}).output("y"), ErrorKind::bad_data,
          "operator 'Relu' (node 'the_Relu') reads 'q'");
  refused(relu().output("z"), ErrorKind::bad_data, "nothing gives output 'z' a value");
  refused(relu().output("y"), ErrorKind::bad_data, "output 'y' occurs twice");
  refused(relu().node("Abs", {"x"}, {"y"}), ErrorKind::bad_data, "'y' is given a value twice");
  refused(relu().initializer("w", ramp({2})).node("Abs", {"w"}, {"x"}), ErrorKind::bad_data,
          "'x' is given a value twice");
  refused(relu().input("x", type, {2}), ErrorKind::bad_data, "'x' is given a value twice");
  refused(relu().initializer("w", ramp({1})).initializer("w", ramp({1})), ErrorKind::bad_data,
          "initializer 'w' occurs twice");
  refused(relu().input("", type, {2}), ErrorKind::bad_data, "a tensor without a name");
  refused(Model().node("Relu", {"x"}, {"y"}).input("x", type, {2}), ErrorKind::bad_data,
          "the graph has no outputs");
  refused(Model()
              .node("Add", {"x", "b"}, {"a"})
              .node("Relu", {"a"}, {"b"})
              .input("x", type, {2})
              .output("b"),
          ErrorKind::bad_data,
          "a cycle: operator 'Add' (node 'the_Add'), which reads from 'Relu' (node 'the_Relu'), "
          "which reads from the first");
  refused(Model().node("Relu", {"y"}, {"y"}).output("y"), ErrorKind::bad_data,
          "a cycle: operator 'Relu' (node 'the_Relu'), which reads from the first");
  refused(Model().node("Relu", {"q\n\xff"}, {"y"}).output("y"), ErrorKind::bad_data,
          "'q\\x0a\\xff'");
}

BOOST_AUTO_TEST_CASE(dimensions) {
  refused(Model().node("Relu", {"x"}, {"y"}).input("x", type, {-2}).output("y"),
          ErrorKind::bad_data, "input 'x': a dimension of -2");
  refused(Model().node("Relu", {"x"}, {"y"}).input("x", type, {std::int64_t{1} << 40}).output("y"),
          ErrorKind::bad_data, "input 'x': a dimension of");
}

BOOST_AUTO_TEST_CASE(initializers_that_contradict_themselves) {
  const auto with = [](auto&& change) {
    auto model = relu().initializer("w", ramp({2, 3}));
    change(*model.graph().mutable_initializer(0));
    return model;
  };
  const auto bad = ErrorKind::bad_data;
  refused(with([](auto& t) { t.mutable_raw_data()->pop_back(); }), bad,
          "initializer 'w': 23 bytes where shape [2, 3] takes 24");
  refused(with([](auto& t) { t.set_dims(0, -1); }), bad, "initializer 'w': a dimension of -1");
  refused(with([](auto& t) { t.set_dims(0, std::int64_t{1} << 33); }), bad, "a dimension of");
  refused(with([](auto& t) { t.set_dims(0, 4000000000), t.set_dims(1, 4000000000); }),
          ErrorKind::not_supported, "is above 2147483647 bytes");
  refused(with([](auto& t) {
            for (int i = 0; i < 20; ++i) t.add_dims(1);
          }),
          ErrorKind::not_supported, "rank 22 is above 8");
  refused(with([](auto& t) { t.clear_raw_data(), t.add_float_data(1); }), bad,
          "1 elements where shape [2, 3] takes 6");
  refused(with([](auto& t) {
            t.clear_raw_data(), t.set_data_type(proto::TensorProto::INT8);
            for (int i = 0; i < 6; ++i) t.add_int32_data(300);
          }),
          bad, "element 300 is out of the range of int8");
}

BOOST_AUTO_TEST_CASE(typed_fields) {
  using T = proto::TensorProto;
  const auto check_field = [](int element, auto&& add, const Value& expected) {
    auto model = Model().node("Identity", {"w"}, {"y"}).output("y", element);
    auto& tensor = *model.graph().add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(element);
    tensor.add_dims(2);
    add(tensor);
    compare(build(load(model.bytes())), {}, {{"y", expected}}, 0);
  };
  check_field(
      T::FLOAT, [](auto& t) { t.add_float_data(1.5F), t.add_float_data(-2); },
      floats({2}, {1.5, -2}));
  check_field(
      T::INT32, [](auto& t) { t.add_int32_data(7), t.add_int32_data(-8); }, ints({2}, {7, -8}));
  check_field(
      T::INT64, [](auto& t) { t.add_int64_data(7), t.add_int64_data(-8); }, list({7, -8}));
  check_field(T::INT8, [](auto& t) { t.add_int32_data(7), t.add_int32_data(-8); },
              {T::INT8, {2}, {7, -8}});
  check_field(
      T::BOOL, [](auto& t) { t.add_int32_data(1), t.add_int32_data(0); }, bools({2}, {1, 0}));
  check_field(T::UINT32, [](auto& t) { t.add_uint64_data(7), t.add_uint64_data(4000000000); },
              {T::UINT32, {2}, {7, 4000000000}});
}

BOOST_AUTO_TEST_CASE(types_that_webnn_has_not_are_refused_when_used) {
  auto model = relu().initializer("w", {proto::TensorProto::DOUBLE, {1}, {1}});
  BOOST_TEST(build(load(model.bytes())).inputs().size() == 1U);
  auto strings = Model().node("Add", {"x", "w"}, {"y"}).initializer("w", ramp({1}));
  strings.graph().mutable_initializer(0)->set_data_type(proto::TensorProto::STRING);
  cannot(strings, {{"x", ramp({1})}}, ErrorKind::not_supported, "WebNN has no type string");
}

BOOST_AUTO_TEST_CASE(constants_in_every_form) {
  const auto constant = [](const std::string& name, const Attribute& value) {
    return Model().node("Constant", {}, {"y"}, {{name, value}});
  };
  check(constant("value", ramp({2, 2})), {}, {{"y", ramp({2, 2})}});
  check(constant("value_float", 2.5), {}, {{"y", floats({}, {2.5})}});
  check(constant("value_floats", Reals{1, 2}), {}, {{"y", floats({2}, {1, 2})}});
  check(constant("value_int", 7), {}, {{"y", longs({}, {7})}});
  check(constant("value_ints", Ints{7, 8}), {}, {{"y", list({7, 8})}});
  refused(constant("value_string", "a").output("y"), ErrorKind::not_supported,
          "operator 'Constant' (output 'y'): attribute 'value_string'");
  refused(constant("valu", 1).output("y"), ErrorKind::bad_data, "'valu' is not understood");
}

BOOST_AUTO_TEST_CASE(operators_that_are_not_known) {
  cannot(Model(11).node("Mystery", {"x"}, {"y"}), {{"x", ramp({1})}}, ErrorKind::not_supported,
         "operator 'Mystery' (node 'the_Mystery', opset 11): the operator is not known");
  auto foreign = Model().node("Relu", {"x"}, {"y"});
  foreign.graph().mutable_node(0)->set_domain("com.microsoft");
  cannot(foreign, {{"x", ramp({1})}}, ErrorKind::not_supported,
         "the importer does not know it; of domain 'com.microsoft' it knows Attention, ");
  // One that no output needs is not in the way.
  auto unused = Model().node("Mystery", {"x"}, {"z"}).node("Relu", {"x"}, {"y"});
  check(unused, {{"x", ramp({2})}}, {{"y", ramp({2})}});
}

BOOST_AUTO_TEST_CASE(files_that_are_no_models) {
  const auto missing = [](const std::filesystem::path& path, const std::string& words) {
    try {
      polychron::onnx::load(path);
      BOOST_ERROR("it was taken");
    } catch (const polychron::Error& error) {
      BOOST_TEST(to_string(error.kind()) == "bad_data");
      BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
    }
  };
  missing("no/such/file.onnx", "'no/such/file.onnx': No such file or directory");
  missing("/", "not a regular file");
  missing("", "'': No such file or directory");
  missing(std::string(300, 'x'), "File name too long");
  missing(polychron::testing::source_directory() + "/CMakeLists.txt", "not an ONNX model");
  refused(Model(), ErrorKind::bad_data, "the graph has no outputs");
  BOOST_CHECK_THROW(load(""), polychron::Error);
}

BOOST_AUTO_TEST_SUITE_END()
