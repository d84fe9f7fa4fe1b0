// polychron onnx-tests, as a user types it: tests of our own, and the ONNX project's where Debian's
// libonnx-testdata is installed.
#include <onnx/onnx_pb.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/tool/npy.hpp"
#include "tests/tool/command.hpp"
#include "tests/tool/models.hpp"

namespace {

using nlohmann::json;
using test_tool::check_mistake;
using test_tool::has;
using test_tool::run_tool;
using Dimensions = std::vector<std::int64_t>;

constexpr auto real = onnx::TensorProto::FLOAT;
constexpr auto whole = onnx::TensorProto::INT64;

void declare(onnx::ValueInfoProto& value, const std::string& name, int type,
             const Dimensions& shape) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  for (const auto dimension : shape) tensor.mutable_shape()->add_dim()->set_dim_value(dimension);
}

void write_tensor(const std::string& path, int type, const Dimensions& shape,
                  const std::vector<double>& values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (const auto dimension : shape) tensor.add_dims(dimension);
  for (const auto value : values)
    if (type == real)
      tensor.add_float_data(static_cast<float>(value));
    else if (type == whole)
      tensor.add_int64_data(static_cast<std::int64_t>(value));
    else if (type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16)
      tensor.add_int32_data(static_cast<std::int32_t>(value));
    else
      tensor.add_double_data(value);
  std::ofstream file(path, std::ios::binary);
  tensor.SerializeToOstream(&file);
}

struct Suite {
  /// A directory NAME with a model of one node, y = OPERATOR(inputs).
  std::string make(const std::string& name, const std::string& operator_name,
                   const std::vector<std::pair<int, Dimensions>>& inputs,
                   const Dimensions& output) {
    std::filesystem::create_directories(directory / (name + "/test_data_set_0"));
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(13);
    auto& graph = *model.mutable_graph();
    auto& node = *graph.add_node();
    node.set_op_type(operator_name);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      declare(*graph.add_input(), "x" + std::to_string(i), inputs[i].first, inputs[i].second);
      node.add_input("x" + std::to_string(i));
    }
    node.add_output("y");
    declare(*graph.add_output(), "y", real, output);
    std::ofstream file(directory / (name + "/model.onnx"), std::ios::binary);
    model.SerializeToOstream(&file);
    return directory / (name + "/test_data_set_0/");
  }

  /// relu([-1, 2]), of which [first, 2] is expected.
  void make_relu(const std::string& name, double first) {
    const auto data = make(name, "Relu", {{real, {2}}}, {2});
    write_tensor(data + "input_0.pb", real, {2}, {-1, 2});
    write_tensor(data + "output_0.pb", real, {2}, {first, 2});
  }

  /// Reshape, whose second input must be known at import.
  void make_reshape(const std::string& name) {
    const auto data = make(name, "Reshape", {{real, {2}}, {whole, {2}}}, {2, 1});
    write_tensor(data + "input_0.pb", real, {2}, {3, 4});
    write_tensor(data + "input_1.pb", whole, {2}, {2, 1});
    write_tensor(data + "output_0.pb", real, {2, 1}, {3, 4});
  }

  test_tool::Outcome run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"onnx-tests", directory / ""});
    return run_tool(more);
  }
  test_tool::TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(onnx_tests_command, Suite)

BOOST_AUTO_TEST_CASE(each_test_has_one_of_four_ends) {
  make_relu("node/right", 0);
  make_relu("node/close", 1e-8);
  make_reshape("node/reshape");
  make("unknown", "Frobnicate", {{real, {2}}}, {2});
  write_tensor(directory / "unknown/test_data_set_0/input_0.pb", real, {2}, {1, 2});
  write_tensor(directory / "unknown/test_data_set_0/output_0.pb", real, {2}, {1, 2});
  make("strings", "Relu", {{onnx::TensorProto::STRING, {2}}}, {2});
  const auto outcome = run();
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(
      outcome.output ==
      "operator     passed   failed  refused  skipped\n"
      "Frobnicate        0        0        1        0\n"
      "Relu              2        0        0        1\n"
      "Reshape           1        0        0        0\n"
      "refused     1  operator 'Frobnicate' (node 'y', opset 13): the operator is not known\n"
      "skipped     1  input 'x0' is a tensor of strings\n"
      "1 of those that passed have inputs that were given as constants\n"
      "3 passed, 0 failed, 1 refused, 1 skipped\n");
  has(run({"--filter", "lose"}), "\n1 passed, 0 failed, 0 refused, 0 skipped\n");
  const auto progress = run({"--progress"});
  BOOST_TEST((progress.errors.find("running ONNX's tests 5/5") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(wrong_numbers_fail_with_their_worst_element) {
  make_relu("wrong", 0.5);
  const auto outcome = run();
  BOOST_TEST(outcome.exit_code == 1);
  has(outcome,
      "failed: wrong: output 'y': element 0 is 0, expected 0.5, 999.523 times what is all");
  has(outcome, "\n0 passed, 1 failed, 0 refused, 0 skipped\n");
  const auto as_json = run({"--json"});
  BOOST_TEST(as_json.exit_code == 1);
  const auto report = json::parse(as_json.output);
  BOOST_TEST(report["failed"] == 1);
  BOOST_TEST(report["operators"]["Relu"]["failed"] == 1);
  BOOST_TEST(report["tests"][0]["test"] == "wrong");
  BOOST_TEST(report["tests"][0]["result"] == "failed");
}

// Of short types, and beside a large number, the expected numbers are themselves rounded.
BOOST_AUTO_TEST_CASE(numbers_may_be_off_by_their_roundings) {
  const auto ends = [&](int type, std::vector<double> given, std::vector<double> expected,
                        const std::string& end) {
    const Dimensions shape{static_cast<std::int64_t>(given.size())};
    const auto data = make("case", "Relu", {{type, shape}}, shape);
    write_tensor(data + "input_0.pb", type, shape, given);
    write_tensor(data + "output_0.pb", type, shape, expected);
    has(run(), "\n" + end + " 0 refused, 0 skipped\n");
  };
  const std::string passed = "1 passed, 0 failed,", failed = "0 passed, 1 failed,";
  // The bits of 1, and of 1 and two or three units.
  ends(onnx::TensorProto::FLOAT16, {0x3c00}, {0x3c02}, passed);
  ends(onnx::TensorProto::FLOAT16, {0x3c00}, {0x3c03}, failed);
  ends(onnx::TensorProto::BFLOAT16, {0x3f80}, {0x3f82}, passed);
  ends(onnx::TensorProto::BFLOAT16, {0x3f80}, {0x3f83}, failed);
  ends(real, {1}, {1.002}, failed);
  // A unit of a million is about 0.12.
  ends(real, {1e6, 0}, {1e6, 0.11}, passed);
  ends(real, {1e6, 0}, {1e6, 0.13}, failed);
  ends(real, {1, 0}, {1, 1.1e-7}, passed);
  ends(real, {1, 0}, {1, 1.3e-7}, failed);
}

BOOST_AUTO_TEST_CASE(damaged_tests_fail_alone) {
  make_relu("a_right_one", 0);
  const auto fails = [&](const std::string& words) {
    const auto outcome = run();
    BOOST_TEST(outcome.exit_code == 1);
    has(outcome, words);
    has(outcome, "\n1 passed, 1 failed, 0 refused, 0 skipped\n");
  };
  make_relu("odd", 0);
  const auto data = directory / "odd/test_data_set_0/";
  write_tensor(data + "output_0.pb", real, {1, 2}, {0, 2});
  fails("output 'y': expected float32 [1, 2], got float32 [2]");
  write_tensor(data + "output_0.pb", onnx::TensorProto::DOUBLE, {3}, {0, 2, 3});
  fails("output 'y': expected float32 [3], got float32 [2]");
  std::filesystem::remove(data + "output_0.pb");
  fails("test_data_set_0 has 0 files for 1 outputs");
  make_relu("odd", 0);
  test_tool::write_text(data + "input_0.pb", "no tensor");
  fails("input_0.pb': not an ONNX tensor");
  test_tool::write_text(data + "input_0.pb", "");
  fails("input_0.pb': it is empty");
  write_tensor(data + "input_0.pb", real, {4000000000, 4000000000}, {});
  has(run(), "4000000000");
  test_tool::write_text(directory / "odd/model.onnx", "no model");
  fails("not an ONNX model");
}

BOOST_AUTO_TEST_CASE(directories_that_are_none) {
  check_mistake(run_tool({"onnx-tests", directory / "none"}), "expected a directory");
  check_mistake(run(), "no model.onnx in or below it");
  make_relu("a", 0);
  check_mistake(run({"--filter", "b"}), "--filter b: no test has this name");
}

// `run` and `inspect` take values that must be known at import as constants.
BOOST_AUTO_TEST_CASE(constants_are_given_to_run_and_inspect) {
  make_reshape("reshape");
  const auto model = directory / "reshape/model.onnx", outputs = directory / "outputs";
  const auto write = [&](const std::string& name, const polychron::OperandDescriptor& descriptor,
                         const auto& values) {
    test_tool::write_text(
        directory / name,
        tool::npy_header(descriptor) + std::string(reinterpret_cast<const char*>(values.data()),
                                                   values.size() * sizeof(values[0])));
    return directory / name;
  };
  using polychron::DataType;
  const auto x = write("x.npy", {DataType::float32, {2}}, std::vector<float>{3, 4});
  const auto shape = write("s.npy", {DataType::int64, {2}}, std::vector<std::int64_t>{2, 1});
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", model, "--input", "x0=" + x, "--output-dir", outputs};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  };
  const auto outcome = with({"--constant", "x1=" + shape});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output == "y  float32 [2, 1]  " + outputs + "/y.npy\n");
  check_mistake(with({"--input", "x1=" + shape}),
                "input 1 ('x1') must be known when it is imported: give the input that it comes "
                "from with --constant");
  check_mistake(with({"--input", "x1=" + shape, "--constant", "x1=" + shape}), "also given");
  check_mistake(with({"--constant", "x1=" + x}), "constant 'x1': it is float, expected int64");
  check_mistake(with({"--constant", "x1=" + shape, "--constant", "z=" + shape}),
                "constant 'z': there is no such input");
  check_mistake(with({"--constant", "x1=" + shape, "--constant", "x1=" + shape}), "given twice");
  check_mistake(with({"--constant", "x1"}), "--constant x1: expected NAME=FILE.npy");
  const auto plan = run_tool({"inspect", model, "--constant", "x1=" + shape});
  BOOST_TEST(plan.exit_code == 0);
  has(plan, "plan: ");
}

BOOST_AUTO_TEST_CASE(the_onnx_projects_own) {
  const std::string data = "/usr/share/libonnx-testdata/data";
  if (!std::filesystem::exists(data)) {
    BOOST_TEST_MESSAGE("skipped: libonnx-testdata is not installed");
    return;
  }
  constexpr int least_passed = 1001;  // as many as once
  // 1.17 (Debian 13) expects these results, and should not: means over elements beyond the padding
  // (mended in 1.18); int8 that wraps around.
  const std::set<std::string> wrong{
      "node/test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
      "node/test_qlinearmatmul_2D_int8_float32",
      "node/test_qlinearmatmul_3D_int8_float32",
  };
  const auto report = json::parse(run_tool({"onnx-tests", data, "--json"}).output);
  for (const auto& test : report["tests"])
    BOOST_TEST((test["result"] != "failed" || wrong.contains(test["test"].get<std::string>())),
               test["test"] << ": " << test.value("reason", ""));
  BOOST_TEST(report["passed"].get<int>() >= least_passed);
  BOOST_TEST_MESSAGE(report["passed"] << " passed, " << report["failed"] << " failed, "
                                      << report["refused"] << " refused, " << report["skipped"]
                                      << " skipped");
}

BOOST_AUTO_TEST_SUITE_END()
