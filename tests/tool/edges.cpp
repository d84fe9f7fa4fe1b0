// A stranger's input: odd paths, names and numbers, pipes and devices; each is one line.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "apps/tool/input_file.hpp"
#include "apps/tool/program.hpp"
#include "tests/tool/small_files.hpp"
#include "tests/tool/terminal.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::Outcome;
using test_tool::run_ocr;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

const std::string hostile =
    "a\x1b[31m\r\n\xff\xc2\x9b"
    "b";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(edges, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(a_directory_may_end_with_a_slash) {
  const auto outcome = run_tool(run_with(model, array, outputs + "/"));
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.output == "y/sum  float32 [2, 4]  " + outputs + "/y_sum.npy\n");
  BOOST_TEST(outcome.errors == "");
}

BOOST_AUTO_TEST_CASE(nothing_is_no_path) {
  for (const Strings& arguments : {run_with("", array, outputs),
                                   run_with(model, array, ""),
                                   run_with(model, "", outputs),
                                   {"inspect", ""},
                                   {"bench", ""},
                                   {"conformance", ""},
                                   {"onnx-tests", ""},
                                   {"stress", "--replay", ""},
                                   {"stress", "--trace", ""}})
    check_mistake(run_tool(arguments), "expected");
  for (const Strings& arguments :
       {Strings{""}, Strings{"x.png", "--models", ""}, Strings{"x.png", "--boxes", ""}})
    check_mistake(run_ocr(arguments), "expected");
}

BOOST_AUTO_TEST_CASE(names_that_are_too_long_or_no_text_are_one_line) {
  for (const auto& name : {std::string(300, 'n'), std::string(5000, 'n'), hostile}) {
    const auto path = directory / name;
    const auto is_reason = [](const Outcome& outcome) {
      check_mistake(outcome, "");
      BOOST_TEST(outcome.errors.size() < 1000);
      BOOST_TEST(!test_tool::is_obeyed_by_terminals(outcome.errors), outcome.errors);
    };
    const auto has_reason = [&](const Strings& arguments) { is_reason(run_tool(arguments)); };
    has_reason(run_with(path, array, outputs));
    has_reason(run_with(model, path, outputs));
    has_reason(run_with(model, array, path + "/" + path));
    has_reason({"bench", model, "--bind", name + "=1"});
    is_reason(run_ocr({path}));
    has_reason({"conformance", path});
    has_reason({"onnx-tests", path});
    has_reason({"stress", "--replay", name});
    has_reason({name});
    has_reason({"run", model, "--" + name});
  }
}

// A model with all the names that it may have.
BOOST_AUTO_TEST_CASE(names_in_models_are_not_obeyed) {
  test_tool::write_model(model, "Add", [](onnx::ModelProto& odd) {
    auto& graph = *odd.mutable_graph();
    odd.set_producer_name(hostile);
    graph.set_name(hostile);
    graph.mutable_input(0)->set_name(hostile);
    graph.mutable_node(0)->set_input(0, hostile);
    graph.mutable_node(0)->set_name(hostile);
    graph.mutable_node(0)->set_output(0, hostile + "y");
    graph.mutable_output(0)->set_name(hostile + "y");
    for (auto* value : {graph.mutable_input(0), graph.mutable_output(0)})
      value->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
          hostile);
    auto& node = *graph.add_node();
    node.set_op_type("Relu" + hostile);
    node.set_domain(hostile);
  });
  const auto shown = run_tool({"inspect", model});
  BOOST_TEST(shown.exit_code == 0);
  BOOST_TEST(!test_tool::is_obeyed_by_terminals(shown.output), shown.output);
  BOOST_TEST((shown.output.find("a\\x1b[31m\\x0d\\x0a\\xff\\xc2\\x9bb") != std::string::npos));
  const auto json = run_tool({"inspect", model, "--json"});
  BOOST_TEST(json.exit_code == 0);
  BOOST_TEST(!test_tool::is_obeyed_by_terminals(json.output), json.output);
  BOOST_TEST(nlohmann::json::parse(json.output)["graph"].get<std::string>().starts_with("a\x1b["));
  for (const Strings& arguments : {Strings{"bench", model}, run_with(model, array, outputs)}) {
    const auto refused = run_tool(arguments);
    check_mistake(refused, "\\x1b[31m");
    BOOST_TEST(!test_tool::is_obeyed_by_terminals(refused.errors), refused.errors);
  }
}

BOOST_AUTO_TEST_CASE(outputs_of_any_name_become_files) {
  for (const auto& name : {hostile, std::string(300, 'n'), std::string("..")}) {
    test_tool::write_model(model, "Add", [&](onnx::ModelProto& odd) {
      odd.mutable_graph()->mutable_output(0)->set_name(name);
      odd.mutable_graph()->mutable_node(0)->set_output(0, name);
    });
    std::filesystem::remove_all(outputs);
    const auto outcome = run_tool(run_with(model, array, outputs));
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST(outcome.errors == "");
    BOOST_TEST(!test_tool::is_obeyed_by_terminals(outcome.output), outcome.output);
    BOOST_REQUIRE(std::filesystem::exists(outputs));
    for (const auto& file : std::filesystem::directory_iterator(outputs)) {
      BOOST_TEST(!test_tool::is_obeyed_by_terminals(file.path().filename().string()));
      BOOST_TEST(tool::read_npy(file.path()).bytes.to_vector<float>() == sums,
                 boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(devices_and_pipes_are_not_read_for_ever) {
  const auto pipe = directory / "pipe.json";
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& path : {std::string("/dev/zero"), pipe}) {
    check_mistake(run_tool(run_with(path, array, outputs)), "regular file");
    check_mistake(run_tool(run_with(model, path, outputs)), "regular file");
    check_mistake(run_tool({"inspect", model, "--constant", "x=" + path}), "regular file");
    check_mistake(run_ocr({path}), "regular file");
  }
  const auto suite = run_tool({"conformance", directory / ""});
  BOOST_TEST(suite.exit_code == 1);
  BOOST_TEST((suite.output.find("it is not a regular file") != std::string::npos), suite.output);
  // Without end, and not read to it.
  check_mistake(run_tool(run_with(model, "-", outputs), {}, "/dev/zero"), "is no .npy file");
}

BOOST_AUTO_TEST_CASE(standard_input_is_bounded) {
  const pid_t child = fork();
  if (child == 0) {
    const auto refusal = [](std::size_t limit) -> std::string {
      try {
        static_cast<void>(tool::read_standard_input(limit));
      } catch (const tool::UserError& error) {
        return error.what();
      }
      return "";
    };
    if (std::freopen("/dev/zero", "r", stdin) == nullptr) _exit(1);
    if (refusal(3 << 20) != "standard input: it has more than 3145728 bytes") _exit(2);
    _exit(refusal(3 << 20).starts_with("'-' is given twice") ? 0 : 3);
  }
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(numbers_are_numbers_in_range) {
  for (const std::string seconds : {"nan", "inf", "-inf", "-1", "0", "1e400", "1e9", "", "1s"}) {
    check_mistake(run_tool({"bench", model, "--bind", "batch=1", "--seconds", seconds}),
                  "--seconds: expected a number, 0.01 to 3600, not '" + seconds + "'");
    check_mistake(run_tool({"stress", "--seconds", seconds}), "--seconds: expected a number");
  }
  for (const std::string seed : {"-1", "18446744073709551616", "1e3", "nan", "", "one"}) {
    check_mistake(run_tool({"bench", model, "--bind", "batch=1", "--seed", seed}),
                  "--seed: expected a whole number, 0 to 18446744073709551615, not '" + seed + "'");
    check_mistake(run_tool({"stress", "--seed", seed}), "--seed: expected a whole number");
    check_mistake(run_tool({"stress", "--schedules", seed}), "--schedules: expected a whole");
  }
  const auto largest = run_tool({"bench", model, "--bind", "batch=1", "--seconds", "0.01", "--seed",
                                 "18446744073709551615", "--json"});
  BOOST_TEST(largest.exit_code == 0);
  BOOST_TEST(nlohmann::json::parse(largest.output)["seed"] == 18446744073709551615u);
}

BOOST_AUTO_TEST_CASE(the_bindings_that_are_missing_are_named) {
  const auto with = [&](const Strings& more) {
    Strings arguments{"bench", model, "--seconds", "0.01"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  };
  check_mistake(with({}), "for example: --bind batch=1\n");
  check_mistake(with({"--bind", "rows=1"}), "for example: --bind batch=1\n");
  BOOST_TEST(with({"--bind", "batch=1"}).exit_code == 0);
  const auto rename = [&](const std::string& symbol) {
    test_tool::write_model(model, "Add", [&](onnx::ModelProto& odd) {
      auto& graph = *odd.mutable_graph();
      *graph.add_input() = graph.input(0);
      graph.mutable_input(1)->set_name("z");
      auto& first = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
      first.mutable_dim(0)->set_dim_param(symbol);
    });
  };
  rename("row count");
  check_mistake(with({}), "for example: --bind 'row count=1' --bind batch=1\n");
  check_mistake(with({"--bind", "batch=3"}), "for example: --bind 'row count=1'\n");
  check_mistake(with({"--bind", "x=3x4"}), "for example: --bind batch=1\n");
  rename("");  // a dimension without a symbol can be bound with its input alone
  check_mistake(with({}), "for example: --bind x=1x4 --bind batch=1\n");
  rename("a=b");
  check_mistake(with({}), "for example: --bind x=1x4 --bind batch=1\n");
}

BOOST_AUTO_TEST_CASE(standard_input_and_output) {
  const auto check = [&](const test_tool::Outcome& outcome) {
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST(outcome.errors == "");
    const auto sum = tool::parse_npy(std::as_bytes(std::span(outcome.output)), "the output");
    BOOST_TEST(sum.bytes.as<float>() == sums, boost::test_tools::per_element());
  };
  check(run_tool(run_with("-", array, "-"), {}, model));
  check(run_tool(run_with(model, "-", "-"), {}, array));
  const auto threads = run_tool({"inspect", "-", "--bind", "batch=2"}, {}, model);
  BOOST_TEST((threads.output.find("plan: ") != std::string::npos), threads.output);
  check_mistake(run_tool(run_with("-", "-", "-"), {}, array), "cannot both be from standard input");
  check_mistake(run_tool({"inspect", "-"}, {}, array), "standard input: not an ONNX model");
  check_mistake(run_tool({"inspect", "-"}), "standard input: it is empty");
  check_mistake(run_tool(run_with(model, "-", "-"), {}, model),
                "'standard input': is no .npy file");
  test_tool::write_model(model, "Add", [](onnx::ModelProto& two) {
    *two.mutable_graph()->add_output() = two.graph().output(0);
    two.mutable_graph()->mutable_output(1)->set_name("z");
    *two.mutable_graph()->add_node() = two.graph().node(0);
    two.mutable_graph()->mutable_node(1)->set_output(0, "z");
  });
  check_mistake(run_tool(run_with(model, array, "-")), "takes one output, and the model has 2");
}

// A command that does little is done soon: most of the time of `polychron devices` went into
// libraries that nothing needed. LD_TRACE_LOADED_OBJECTS makes the loader list them and stop.
BOOST_AUTO_TEST_CASE(few_libraries_are_loaded) {
  const auto libraries = run_tool({"devices"}, {"LD_TRACE_LOADED_OBJECTS=1"}).output;
  const auto count = std::count(libraries.begin(), libraries.end(), '\n');
  BOOST_TEST(count > 5);
  BOOST_TEST(count < 60);
  BOOST_TEST((libraries.find("gdal") == std::string::npos), libraries);
}

BOOST_AUTO_TEST_SUITE_END()
