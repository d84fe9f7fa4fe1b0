// The program that docs/coming-from-onnxruntime.md quotes works.
#include "tests/tool/command.hpp"
#include "tests/tool/models.hpp"

using namespace test_tool;

BOOST_AUTO_TEST_SUITE(session_example)

BOOST_AUTO_TEST_CASE(what_the_page_quotes_works) {
  const TemporaryDirectory directory;
  const auto model = directory / "model.onnx";
  write_model(model, "Add", [](onnx::ModelProto& message) {
    auto& graph = *message.mutable_graph();
    graph.mutable_node(0)->set_output(0, "y");
    graph.mutable_output(0)->set_name("y");
  });
  const auto outcome = run_program("polychron_session", {model});
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output ==
             "run: 2 4 6 8\n"
             "input x: float32 [2, 4]\n"
             "declared: float [batch, 4]\n"
             "float32 [3, 4]: 6 7 8 9 6 7 8 9 6 7 8 9\n"
             "input x: float32 [8, 4]\n"
             "declared: float [batch, 4]\n"
             "later: 11 12 13 14\n"
             "compute: 1 2 3 4\n"
             "chained: 3 5 7 9\n"
             "outputs: 1\n"
             "type_error: run 'request 8' of model 'model' failed: input 'x' is float32 [1, 4]: "
             "got 8 bytes, expected 16\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_is_told) {
  const auto outcome = run_program("polychron_session", {"no such model.onnx"});
  BOOST_TEST(outcome.exit_code == 1);
  BOOST_TEST(outcome.errors.find("no such model.onnx") != std::string::npos, outcome.errors);
}

BOOST_AUTO_TEST_SUITE_END()
