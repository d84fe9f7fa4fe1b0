// polychron run, inspect, bench and devices, as a user types them, mistakes included.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/tool/small_files.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_command, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(outputs_become_files) {
  for (const auto& more : {Strings{}, Strings{"--bind", "batch=2"}, Strings{"--bind", "x=2x4"},
                           Strings{"--threads", "2"}, Strings{"--lanes", "2"}}) {
    const auto outcome = run_tool(run(more));
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST(outcome.errors == "");
    BOOST_TEST(outcome.output == "y/sum  float32 [2, 4]  " + outputs + "/y_sum.npy\n");
    const auto sum = tool::read_npy(outputs + "/y_sum.npy");
    BOOST_TEST((sum.descriptor.shape == polychron::Shape{2, 4}));
    BOOST_TEST(sum.bytes.as<float>() == sums, boost::test_tools::per_element());
  }
  BOOST_TEST((directory.files() == Strings{"outputs", "small.onnx", "x.npy"}));
}

BOOST_AUTO_TEST_CASE(wrong_inputs_are_named) {
  const auto half = write_input("half.npy", {polychron::DataType::float16, {2, 4}});
  const auto wide = write_input("wide.npy", {polychron::DataType::float32, {2, 5}});
  const auto with = [&](const Strings& inputs) {
    Strings arguments{"run", model, "--output-dir", outputs};
    for (const auto& input : inputs) {
      arguments.push_back("--input");
      arguments.push_back(input);
    }
    return run_tool(arguments);
  };
  check_mistake(with({}),
                "input 'x' is missing: expected --input x=FILE.npy with float [batch, 4]");
  check_mistake(with({"x=" + half}), "the file has float16 [2, 4], expected float [batch, 4]");
  check_mistake(with({"x=" + wide}), "the file has float32 [2, 5], expected float [batch, 4]");
  check_mistake(with({"x=" + directory / "none.npy"}), "none.npy': there is no such file");
  check_mistake(with({"x=" + directory / "."}), "it is a directory");
  check_mistake(with({"x=" + model}), "is no .npy file");
  check_mistake(with({"y=" + directory / "x.npy"}), "no such input, it has 'x'");
  check_mistake(with({"x"}), "expected NAME=FILE.npy");
  check_mistake(with({"x=" + wide, "x=" + wide}), "given twice");
  check_mistake(run_tool(run({"--bind", "batch=3"})),
                "the file has float32 [2, 4], expected float32 [3, 4]");
  check_mistake(run_tool(run({"--bind", "x=2x5"})), "x");
  check_mistake(run_tool(run({"--bind", "rows=2"})), "rows");
  check_mistake(run_tool(run({"--bind", "x=2xx4"})), "expected NAME=1x3x48x320");
  check_mistake(run_tool(run({"--bind", "x=0x4"})), "WebNN has no empty tensors: [0, 4]");
  check_mistake(run_tool(run({"--bind", "x=99999999999x4"})), "expected NAME=1x3x48x320");
  BOOST_TEST(!std::filesystem::exists(outputs));
}

// y = x > b of double inputs: float64 and float32 files serve, and the output is bool.
BOOST_AUTO_TEST_CASE(doubles_go_in_and_bools_come_out) {
  test_tool::write_model(model, "Greater", [](onnx::ModelProto& changed) {
    auto& graph = *changed.mutable_graph();
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::DOUBLE);
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::BOOL);
    auto& constant = *graph.mutable_initializer(0);
    constant.set_data_type(onnx::TensorProto::DOUBLE);
    constant.clear_float_data();
    for (const double value : {10.0, 25.0, 30.0, 1e30}) constant.add_double_data(value);
  });
  const std::vector<double> numbers{10, 20, 30, 40, 50, 60, 70, 1e31};
  auto header = tool::npy_header({polychron::DataType::float32, {2, 4}});
  header.replace(header.find("<f4"), 3, "<f8");
  const auto doubles = directory / "doubles.npy";
  test_tool::write_text(doubles,
                        header + std::string(reinterpret_cast<const char*>(numbers.data()), 64));
  for (const auto& [file, last] : {std::pair{doubles, 1}, std::pair{array, 0}}) {
    const auto outcome = run_tool(run_with(model, file, outputs));
    BOOST_TEST(outcome.output == "y/sum  bool [2, 4]  " + outputs + "/y_sum.npy\n");
    const auto y = tool::read_npy(outputs + "/y_sum.npy");
    BOOST_TEST(y.carried == "bool");
    const std::vector<int> expected{0, 0, 0, 0, 1, 1, 1, last};
    BOOST_TEST(y.bytes.to_vector<std::uint8_t>() == expected, boost::test_tools::per_element());
  }
  test_tool::write_text(
      doubles,
      header +
          std::string(reinterpret_cast<const char*>(std::vector<double>(8, 1e300).data()), 64));
  check_mistake(run_tool(run_with(model, doubles, outputs)),
                "input 'x': a number is beyond the range of float");
  test_tool::write_model(model);
  check_mistake(run_tool(run_with(model, doubles, outputs)),
                "the file has float64 [2, 4], expected float [batch, 4]");
}

// y = cast(x) of 16-bit integers: files of their own type and of int32 serve.
BOOST_AUTO_TEST_CASE(integers_of_16_bits_go_in) {
  const std::vector<std::int16_t> numbers{-32768, -2, -1, 0, 1, 2, 3, 32767};
  const std::vector<std::int32_t> wide(numbers.begin(), numbers.end());
  auto header = tool::npy_header({polychron::DataType::int32, {2, 4}});
  const auto ints = directory / "ints.npy", shorts = directory / "shorts.npy";
  test_tool::write_text(
      ints, header + std::string(reinterpret_cast<const char*>(wide.data()), 4 * wide.size()));
  for (const std::string descr : {"<i2", "<u2"}) {
    const bool is_signed = descr == "<i2";
    test_tool::write_model(model, "Cast", [&](onnx::ModelProto& changed) {
      auto& graph = *changed.mutable_graph();
      graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          is_signed ? onnx::TensorProto::INT16 : onnx::TensorProto::UINT16);
      auto& node = *graph.mutable_node(0);
      node.mutable_input()->RemoveLast();
      auto& to = *node.add_attribute();
      to.set_name("to");
      to.set_type(onnx::AttributeProto::INT);
      to.set_i(onnx::TensorProto::FLOAT);
    });
    auto narrow = header;
    narrow.replace(narrow.find("<i4"), 3, descr);
    test_tool::write_text(shorts,
                          narrow + std::string(reinterpret_cast<const char*>(numbers.data()), 16));
    for (const auto& file : {shorts, ints}) {
      const auto outcome = run_tool(run_with(model, file, outputs));
      BOOST_TEST(outcome.errors == "");
      std::vector<float> expected(numbers.begin(), numbers.end());
      for (auto& number : expected)
        if (!is_signed && file == shorts && number < 0) number += 65536;
      BOOST_TEST(tool::read_npy(outputs + "/y_sum.npy").bytes.to_vector<float>() == expected,
                 boost::test_tools::per_element());
    }
  }
  test_tool::write_model(model);
  check_mistake(run_tool(run_with(model, shorts, outputs)),
                "the file has uint16 [2, 4], expected float [batch, 4]");
}

// A length of 0, as a decoder's past has before the first step.
BOOST_AUTO_TEST_CASE(an_input_may_be_empty) {
  test_tool::write_model(model, "Concat", [](onnx::ModelProto& changed) {
    auto& graph = *changed.mutable_graph();
    auto& past = *graph.add_input() = graph.input(0);
    past.set_name("past");
    past.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("p");
    auto& node = *graph.mutable_node(0);
    node.set_input(0, "past");
    node.set_input(1, "x");
    auto& axis = *node.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(0);
  });
  const auto empty = write_input("empty.npy", {polychron::DataType::float32, {0, 4}});
  const auto outcome = run_tool(run({"--input", "past=" + empty, "--bind", "p=0"}));
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output == "y/sum  float32 [2, 4]  " + outputs + "/y_sum.npy\n");
  const auto bench =
      run_tool({"bench", model, "--bind", "p=0", "--bind", "batch=1", "--seconds", "0.01"});
  BOOST_TEST(bench.exit_code == 0, bench.errors);
}

BOOST_AUTO_TEST_CASE(bench_takes_constants) {
  const auto outcome = run_tool({"bench", model, "--constant", "x=" + array, "--seconds", "0.01"});
  BOOST_TEST(outcome.exit_code == 0, outcome.errors);
}

BOOST_AUTO_TEST_CASE(wrong_models_are_named) {
  const auto with = [&](const std::string& path) {
    return run_tool({"run", path, "--input", "x=" + directory / "x.npy", "--output-dir", outputs});
  };
  check_mistake(with(directory / "none.onnx"), "none.onnx");
  check_mistake(with(directory / "."), directory / ".");
  check_mistake(with(directory / "x.npy"), "x.npy");
  const auto odd = directory / "odd.onnx";
  test_tool::write_model(odd, "Frobnicate");
  check_mistake(with(odd), "Frobnicate");
  const auto whole = test_tool::read_text(model);
  for (std::size_t size : {std::size_t{0}, whole.size() / 3, whole.size() - 1}) {
    test_tool::write_text(odd, whole.substr(0, size));
    check_mistake(with(odd), "odd.onnx");
  }
  BOOST_TEST(!std::filesystem::exists(outputs));
}

BOOST_AUTO_TEST_CASE(output_directories_that_cannot_be_used_are_named) {
  const auto with = [&](const std::string& path) {
    return run_tool({"run", model, "--input", "x=" + directory / "x.npy", "--output-dir", path});
  };
  check_mistake(with(model), "is not a directory");
  check_mistake(with(directory / "a/b/c"), "output directory '");
  check_mistake(with("/proc/self"), "/proc/self");
  // A directory is in the place of the file: nothing is written beside it.
  std::filesystem::create_directories(outputs + "/y_sum.npy");
  check_mistake(with(outputs), "y_sum.npy': it is a directory");
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(outputs), {}) == 1);
}

BOOST_AUTO_TEST_CASE(inspect_tells_what_a_model_is) {
  const auto outcome = run_tool({"inspect", model, "--bind", "batch=2"});
  BOOST_TEST(outcome.exit_code == 0);
  for (const std::string part : {"opset 13", "x  float [batch, 4]", "1  Add", "plan: "})
    BOOST_TEST((outcome.output.find(part) != std::string::npos), part << ": " << outcome.output);

  const auto json = run_tool({"inspect", model, "--json"});
  BOOST_TEST(json.exit_code == 0);
  const auto description = nlohmann::json::parse(json.output);
  BOOST_TEST(description["operators"][0]["name"] == "Add");
  BOOST_TEST(description["operators"][0]["supported"] == true);
  BOOST_TEST(!description.contains("plan"));
  const auto input = nlohmann::json::parse(
      R"({"name": "x", "type": "float", "operand_type": "float32", "dimensions": ["batch", 4]})");
  BOOST_TEST(description["inputs"][0] == input);

  test_tool::write_model(model, "Frobnicate");
  const auto odd = run_tool({"inspect", model});
  BOOST_TEST(odd.exit_code == 0);
  BOOST_TEST((odd.output.find("Frobnicate  unsupported") != std::string::npos), odd.output);
  check_mistake(run_tool({"inspect", directory / "none.onnx"}), "none.onnx");
}

BOOST_AUTO_TEST_CASE(bench_warns_of_reference_implementations) {
  test_tool::write_model(model, "Sign", [](onnx::ModelProto& changed) {
    auto& graph = *changed.mutable_graph();
    graph.mutable_node(0)->mutable_input()->RemoveLast();
    for (auto* const value : {graph.mutable_input(0), graph.mutable_output(0)})
      value->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT32);
  });
  const auto outcome = run_tool({"bench", model, "--bind", "batch=1000", "--seconds", "0.01"});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST_MESSAGE(outcome.errors);
  BOOST_TEST(outcome.errors.starts_with("polychron: warning: "));
  BOOST_TEST(outcome.errors.find("reference implementations") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bench_gives_figures) {
  const auto outcome = run_tool({"bench", model, "--bind", "x=3x4", "--seconds", "0.1", "--threads",
                                 "2", "--lanes", "3", "--clients", "2", "--json"});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  const auto figures = nlohmann::json::parse(outcome.output);
  BOOST_TEST(figures["threads"] == 2);
  BOOST_TEST(figures["lanes"] == 3);
  BOOST_TEST(figures["clients"] == 2);
  BOOST_TEST(figures["median_ms"].get<double>() > 0);
  BOOST_TEST(figures["p99_ms"].get<double>() >= figures["median_ms"].get<double>());
  BOOST_TEST(figures["throughput_per_second"].get<double>() > 0);
  BOOST_TEST(figures["first_result_ms"].get<double>() >
             figures["load_ms"].get<double>() + figures["build_ms"].get<double>());
  BOOST_TEST(!figures.contains("steps"));
  check_mistake(run_tool({"bench", model, "--threads", "0"}), "--threads");
  check_mistake(run_tool({"bench", model, "--lanes", "0"}), "--lanes");
  check_mistake(run_tool({"bench", model, "--clients", "0"}), "--clients");
  check_mistake(run_tool({"bench", model, "--seconds", "0.1"}), "for example: --bind batch=1");
}

BOOST_AUTO_TEST_CASE(inspect_gives_the_time_of_each_step) {
  const auto timed = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", model, "--bind", "x=3x4", "--time", "--seconds", "0.05"});
    return run_tool(more);
  };
  const auto outcome = timed({"--threads", "2"});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST((outcome.output.find(" ms  in all steps") != std::string::npos), outcome.output);
  const auto plan = nlohmann::json::parse(timed({"--json"}).output)["plan"];
  BOOST_TEST(plan["seconds"].size() == plan["steps"].size());
  for (const auto& seconds : plan["seconds"]) BOOST_TEST(seconds.get<double>() > 0);
  check_mistake(timed({"--threads", "0"}), "--threads");
  check_mistake(run_tool({"inspect", model, "--time", "--seconds", "nan"}), "--seconds");
}

BOOST_AUTO_TEST_CASE(bench_gives_the_time_of_each_step) {
  const auto outcome =
      run_tool({"bench", model, "--bind", "x=3x4", "--seconds", "0.1", "--profile", "--json"});
  BOOST_TEST(outcome.exit_code == 0);
  const auto steps = nlohmann::json::parse(outcome.output)["steps"];
  const auto inspected =
      nlohmann::json::parse(run_tool({"inspect", model, "--bind", "x=3x4", "--json"}).output);
  BOOST_TEST(steps.size() == inspected["plan"]["steps"].size());
  for (const auto& step : steps) {
    BOOST_TEST(step["operation"].get<std::string>().starts_with("add float32 [3, 4]"), step);
    BOOST_TEST(step["implementation"] != "");
    BOOST_TEST(step["median_us"].get<double>() > 0);
  }
  const auto text = run_tool({"bench", model, "--bind", "x=3x4", "--seconds", "0.1", "--profile"});
  BOOST_TEST((text.output.find(" us  ") != std::string::npos), text.output);
}

BOOST_AUTO_TEST_CASE(devices_are_listed) {
  const auto devices = nlohmann::json::parse(run_tool({"devices", "--json"}).output);
  BOOST_TEST(devices[0]["name"] == "cpu");
  BOOST_TEST(devices[0]["available"] == true);
}

BOOST_AUTO_TEST_CASE(the_command_line_itself) {
  const std::string subcommands =
      "expected a subcommand: run, bench, inspect, generate, devices, conformance, onnx-tests, "
      "stress or trace";
  check_mistake(run_tool({}), subcommands);
  check_mistake(run_tool({""}), "'': " + subcommands);
  check_mistake(run_tool({"paint"}), "'paint': " + subcommands);
  check_mistake(run_tool({"--fast"}), "'--fast': " + subcommands);
  const auto version = run_tool({"--version"});
  BOOST_TEST(version.exit_code == 0);
  BOOST_TEST(version.output.starts_with("polychron 0."), version.output);
  for (const std::string part : {"(oneDNN ", "CAF 0."})
    BOOST_TEST((version.output.find(part) != std::string::npos), part << ": " << version.output);
  check_mistake(run_tool({"run"}), "MODEL");
  check_mistake(run_tool(run({"--fast"})), "--fast");
  for (const Strings& arguments : {Strings{"--help"}, Strings{"run", "--help"}}) {
    const auto help = run_tool(arguments);
    BOOST_TEST(help.exit_code == 0);
    BOOST_TEST(help.errors == "");
    BOOST_TEST((help.output.find("Examples:") != std::string::npos), help.output);
  }
  const auto progress = run_tool(run({"--progress"}));
  BOOST_TEST(progress.exit_code == 0);
  BOOST_TEST((progress.errors.find("compiling the graph") != std::string::npos), progress.errors);
}

BOOST_AUTO_TEST_SUITE_END()
