// Inputs whose values are known at import, and ONNX's tensor files.
#include <filesystem>
#include <fstream>

#include "polychron/onnx_tensor.hpp"
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::Buffer;
using polychron::DataType;
using polychron::ErrorKind;
using polychron::onnx::TensorValue;

BOOST_AUTO_TEST_SUITE(constants)

namespace {

template <class T>
TensorValue value(const std::string& type, const Shape& shape, const std::vector<T>& values) {
  return {type, shape,
          std::make_shared<const Buffer>(Buffer::copy_of(std::as_bytes(std::span(values))))};
}

/// y = x, reshaped to `to`; x is [rows, 2].
polychron::onnx::Model reshape() {
  return load(Model()
                  .node("Reshape", {"x", "to"}, {"y"})
                  .input("x", proto::TensorProto::FLOAT, {"rows", 2})
                  .input("to", proto::TensorProto::INT64, {2})
                  .output("y")
                  .bytes());
}

std::vector<std::string> inputs_of(const polychron::onnx::ImportOptions& options) {
  polychron::Runtime runtime;
  auto context = runtime.create_context().get();
  polychron::GraphBuilder builder(context);
  const auto outputs = import_model(reshape(), builder, options);
  std::vector<std::string> names;
  const auto graph = builder.build(outputs).get();
  for (const auto& [name, descriptor] : graph.inputs()) names.push_back(name);
  names.push_back(polychron::to_string(graph.outputs()[0].second.shape));
  return names;
}

template <class F>
void fails(ErrorKind kind, const std::string& words, F&& f) {
  try {
    f();
    BOOST_ERROR("it was taken, where an error with '" << words << "' was expected");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == to_string(kind));
    BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_constant_is_no_input_of_the_graph) {
  const auto to = value<std::int64_t>("int64", {2}, {1, 6});
  const std::vector<std::string> expected{"x", "[1, 6]"};
  BOOST_TEST(inputs_of({{{"rows", {3}}}, {{"to", to}}}) == expected,
             boost::test_tools::per_element());
  const auto x = value<float>("float", {3, 2}, {1, 2, 3, 4, 5, 6});  // its shape binds "rows"
  BOOST_TEST(inputs_of({{}, {{"to", to}, {"x", x}}}) == std::vector<std::string>{"[1, 6]"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(constants_that_are_wrong) {
  const auto with = [](const std::string& name, const TensorValue& given) {
    return [=] { inputs_of({{{"rows", {3}}}, {{name, given}}}); };
  };
  fails(ErrorKind::not_supported, "('to') must be known", [] { inputs_of({{{"rows", {3}}}, {}}); });
  fails(ErrorKind::type_error, "constant 'z': there is no such input",
        with("z", value<float>("float", {1}, {1})));
  fails(ErrorKind::type_error, "it is int32, expected int64",
        with("to", value<std::int32_t>("int32", {2}, {1, 6})));
  fails(ErrorKind::type_error, "8 bytes for int64 [2]",
        with("to", value<std::int64_t>("int64", {2}, {6})));
  fails(ErrorKind::type_error, "input 'to' is int64 [2], not [3]",
        with("to", value<std::int64_t>("int64", {3}, {1, 2, 3})));
  fails(ErrorKind::type_error, "0 bytes for", with("to", TensorValue{"int64", {2}, nullptr}));
}

BOOST_AUTO_TEST_CASE(numbers_are_converted_or_refused) {
  const auto as_floats = operand_bytes(value<double>("double", {2}, {0.5, -2}), DataType::float32);
  BOOST_TEST(as_floats.as<float>() == (std::vector<float>{0.5, -2}),
             boost::test_tools::per_element());
  const auto wide = operand_bytes(value<std::uint16_t>("uint16", {2}, {65535, 1}), DataType::int32);
  BOOST_TEST(wide.as<std::int32_t>() == (std::vector<std::int32_t>{65535, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(operand_bytes(value<std::uint8_t>("bool", {2}, {1, 0}), DataType::uint8).size() == 2U);
  fails(ErrorKind::not_supported, "beyond the range of float",
        [] { operand_bytes(value<double>("double", {1}, {1e300}), DataType::float32); });
  fails(ErrorKind::not_supported, "beyond the range of int8",
        [] { operand_bytes(value<std::int16_t>("int16", {1}, {300}), DataType::int8); });
  fails(ErrorKind::not_supported, "numbers of type float as int32",
        [] { operand_bytes(value<float>("float", {1}, {1}), DataType::int32); });
  fails(ErrorKind::not_supported, "no elements of type string", [] {
    polychron::onnx::operand_bytes({"string", {1}, nullptr}, DataType::uint8);
  });
}

BOOST_AUTO_TEST_CASE(tensor_files_are_read_or_refused) {
  const auto path = std::filesystem::temp_directory_path() / "polychron_tensor_file.pb";
  proto::TensorProto tensor;
  tensor.set_data_type(proto::TensorProto::INT16);
  tensor.add_dims(2);
  tensor.add_int32_data(-3);
  tensor.add_int32_data(4);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  write(tensor.SerializeAsString());
  const auto read = polychron::onnx::read_tensor(path);
  BOOST_TEST(read.type == "int16");
  BOOST_TEST(read.shape == Shape{2}, boost::test_tools::per_element());
  const auto numbers = operand_bytes(read, DataType::int32);
  BOOST_TEST(numbers.as<std::int32_t>() == (std::vector<std::int32_t>{-3, 4}),
             boost::test_tools::per_element());
  const auto refused = [&](const std::string& bytes, const std::string& words) {
    write(bytes);
    fails(ErrorKind::bad_data, words, [&] { polychron::onnx::read_tensor(path); });
  };
  refused("", "it is empty");
  refused("no tensor", "not an ONNX tensor");
  tensor.add_dims(4000000);
  refused(tensor.SerializeAsString(), "elements where shape [2, 4000000]");
  std::filesystem::remove(path);
  fails(ErrorKind::bad_data, "No such file", [&] { polychron::onnx::read_tensor(path); });
  fails(ErrorKind::bad_data, "No such file", [&] { polychron::onnx::read_tensor(""); });
}

BOOST_AUTO_TEST_SUITE_END()
