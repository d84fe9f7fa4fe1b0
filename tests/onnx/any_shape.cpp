// One session for all shapes of a model with free dimensions.
#include <atomic>
#include <latch>
#include <thread>

#include "polychron/sessions.hpp"
#include "tests/onnx/session_fixture.hpp"

using namespace onnx_tests;
using polychron::onnx::NamedValue;
using polychron::onnx::NamedValues;
using polychron::onnx::Session;
using polychron::onnx::Sessions;

BOOST_AUTO_TEST_SUITE(any_shape)

namespace {

/// "a" and "b" of the model arithmetic, with that many rows.
NamedValues rows(std::uint32_t a, std::uint32_t b) {
  NamedValues inputs;
  inputs.push_back(NamedValue::of("b", {b, 2}, Floats(b * 2, 1)));
  inputs.push_back(NamedValue::of("a", {a, 2}, Floats(a * 2, 2)));
  return inputs;
}

Session session() { return {context(), load(arithmetic().bytes()), {.label = "calculator"}}; }

}  // namespace

BOOST_AUTO_TEST_CASE(each_run_may_have_its_own) {
  const auto any = session();
  BOOST_TEST(any.any_shape());
  BOOST_TEST(any.label() == "calculator");
  BOOST_TEST((any.context() == context()));
  const auto before = context().stats().builds;
  for (const std::uint32_t n : {1U, 3U, 7U, 3U, 1U}) {
    const auto outputs = any.run(rows(n, n)).get();
    BOOST_REQUIRE(outputs.size() == any.summary().outputs.size());
    BOOST_TEST((outputs[0].descriptor.shape == polychron::Shape{n, 2}));
    same(outputs[0].bytes.to_vector<float>(), Floats(n * 2, 3));
  }
  BOOST_TEST(context().stats().builds - before == 3U);
  for (const auto& shape : {std::pair{"n", polychron::Shape{3}}, {"b", {3, 2}}})
    BOOST_TEST((any.at({shape}).get().inputs()[0].second.shape == polychron::Shape{3, 2}));
  BOOST_TEST(context().stats().builds - before == 3U);
}

BOOST_AUTO_TEST_CASE(a_session_of_one_shape_takes_and_gives_shapes_too) {
  const Session one(context(), load(arithmetic().bytes()), {.bindings = {{"n", {3}}}});
  BOOST_TEST(!one.any_shape());
  const auto name = one.outputs().back().first;
  const auto outputs = one.run(rows(3, 3), {.outputs = {name}}).get();
  BOOST_TEST(outputs.size() == 1U);
  BOOST_TEST(outputs[0].name == name);
  BOOST_TEST((outputs[0].descriptor == one.outputs().back().second));
  auto four = rows(4, 4);
  fails(ErrorKind::type_error, {"is float32 [3, 2]: got float32 [4, 2]"},
        [&] { static_cast<void>(one.run(std::move(four))); });
  BOOST_TEST(four[0].bytes.size() == 32U);  // the caller's, still
  BOOST_TEST((one.at({}).get() == one));
  fails(ErrorKind::type_error, {"no free dimension"}, [&] { one.at({{"n", {3}}}).get(); });
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_input_and_the_dimension) {
  const auto any = session();
  const auto run = [&](NamedValues inputs) { any.run(std::move(inputs)).get(); };
  fails(ErrorKind::type_error, {"dimension 'n' would be both"}, [&] { run(rows(3, 4)); });
  fails(ErrorKind::type_error, {"is free, bind the input or the symbol"}, [&] { run({}); });
  auto one_input = rows(3, 3);
  one_input.pop_back();
  fails(ErrorKind::type_error, {"input 'a' is not given"}, [&] { run(std::move(one_input)); });
  auto renamed = rows(3, 3);
  renamed[0].name = "c";
  fails(ErrorKind::type_error, {"input 'c' is unknown"}, [&] { run(std::move(renamed)); });
  auto typed = rows(3, 3);
  typed[0].descriptor.data_type = polychron::DataType::int32;
  fails(ErrorKind::type_error, {"is float32 [3, 2]: got int32 [3, 2]"},
        [&] { run(std::move(typed)); });
  auto ranks = rows(3, 3);
  ranks[0].descriptor.shape = {6};
  fails(ErrorKind::type_error, {"not [6]"}, [&] { run(std::move(ranks)); });
  auto shorter = rows(3, 3);
  shorter[0].bytes = polychron::Buffer(20);
  fails(ErrorKind::type_error, {"got 20 bytes, expected 24"}, [&] { run(std::move(shorter)); });
  auto twice = rows(3, 3);
  twice.push_back(NamedValue::of("b", {3, 2}, Floats(6)));
  fails(ErrorKind::type_error, {"is given twice"}, [&] { run(std::move(twice)); });
}

BOOST_AUTO_TEST_CASE(what_is_bound_stays) {
  const auto model = Model()
                         .node("Relu", {"x"}, {"y"})
                         .input("x", proto::TensorProto::FLOAT, {"rows", "columns"})
                         .output("y");
  const Session any(context(), load(model.bytes()),
                    {.bindings = {{"columns", {2}}}, .label = "wide"});
  const auto run = [&](std::uint32_t rows, std::uint32_t columns) {
    NamedValues inputs;
    inputs.push_back(NamedValue::of("x", {rows, columns}, Floats(rows * columns, 1)));
    return any.run(std::move(inputs)).get().front().descriptor.shape;
  };
  for (const std::uint32_t rows : {3U, 4U}) BOOST_TEST((run(rows, 2) == polychron::Shape{rows, 2}));
  fails(ErrorKind::type_error, {"model 'wide'", "dimension 'columns' would be both 2"},
        [&] { run(3, 5); });
  fails(ErrorKind::type_error, {"'columns' is bound to [2], not [5]"}, [&] {
    any.at({{"rows", {3}}, {"columns", {5}}}).get();
  });
  BOOST_TEST(any.at({{"rows", {3}}}).get().label() == "wide rows=3");
}

BOOST_AUTO_TEST_CASE(what_is_about_one_graph_asks_for_a_shape) {
  const auto any = session();
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { any.inputs(); }, [&] { any.outputs(); }, [&] { any.graph(); },
           [&] { static_cast<void>(any.warm_up()); },
           [&] {
             static_cast<void>(any.run({{"a", Floats{1, 2}}, {"b", Floats{1, 2}}}));
           },
           [&] { static_cast<void>(any.create_input_tensor("a")); }})
    fails(ErrorKind::type_error, {"dimension 0 is free"}, call);
}

BOOST_AUTO_TEST_CASE(after_its_end_it_runs_nothing) {
  const auto any = session();
  auto last = any.run(rows(5, 5));
  any.destroy();
  same(last.get()[0].bytes.to_vector<float>(), Floats(10, 3));
  fails(ErrorKind::invalid_state, {"destroyed"}, [&] { any.run(rows(5, 5)).get(); });
}

// The import waits for its executor, and the run for the import.
BOOST_AUTO_TEST_CASE(a_shape_that_is_not_built_yet_is_awaited) {
  std::vector<std::function<void()>> tasks;
  const Sessions all(context(), load(arithmetic().bytes()),
                     {.executor = [&](std::function<void()> task) { tasks.push_back(task); }});
  auto first = all.run(rows(6, 6)), second = all.run(rows(6, 6));
  BOOST_REQUIRE(tasks.size() == 1U);
  BOOST_TEST(!first.ready());
  tasks.front()();
  for (auto* outputs : {&first, &second})
    same(outputs->get()[0].bytes.to_vector<float>(), Floats(12, 3));
  fails(ErrorKind::type_error, {"would be both"}, [&] { all.run(rows(6, 7)).get(); });
  auto dropped = all.run(rows(9, 9));
  tasks.clear();
  fails(ErrorKind::aborted, {"the executor dropped the import"}, [&] { dropped.get(); });
}

BOOST_AUTO_TEST_CASE(threads_run_all_lengths) {
  const auto any = session();
  std::atomic<int> right{0};
  std::latch begin(4);
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      begin.arrive_and_wait();
      for (std::uint32_t i = 0; i < 30; ++i) {
        const auto n = (i * 7 + t * 3) % 20 + 1;
        right += std::ranges::equal(any.run(rows(n, n)).get()[0].bytes.to_vector<float>(),
                                    Floats(n * 2, 3));
      }
    });
  threads.clear();
  BOOST_TEST(right == 120);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_refused_leaves_the_buffers) {
  polychron::Runtime runtime;
  auto own = runtime.create_context().get();
  const Session any(own, load(arithmetic().bytes()));
  any.run(rows(3, 3)).get();
  const auto one = any.at({{"n", {3}}}).get();
  one.destroy();
  auto inputs = rows(3, 3);
  for (const auto& session : {any, one}) {
    try {
      session.run(std::move(inputs)).get();
      BOOST_ERROR("a destroyed graph ran");
    } catch (const Error& error) {
      BOOST_TEST((error.kind() == ErrorKind::invalid_state), error.what());
    }
    BOOST_TEST_REQUIRE(inputs.size() == 2U);
    for (const auto& input : inputs) BOOST_TEST(input.bytes.size() == 24U);
  }
}

// A binding of that name would mean the input.
BOOST_AUTO_TEST_CASE(a_symbol_may_have_the_name_of_an_input) {
  const auto model = Model()
                         .node("Add", {"n", "b"}, {"y"})
                         .input("n", proto::TensorProto::FLOAT, {"n", 2})
                         .input("b", proto::TensorProto::FLOAT, {"n", 2})
                         .output("y");
  auto inputs = rows(3, 3);
  inputs[1].name = "n";
  const auto outputs = Session(context(), load(model.bytes())).run(std::move(inputs)).get();
  same(outputs[0].bytes.to_vector<float>(), Floats(6, 3));
}

// The past of a decoder at its first token: the graph does not take it.
BOOST_AUTO_TEST_CASE(an_input_may_have_no_elements) {
  const auto model = Model()
                         .node("Concat", {"past", "x"}, {"y"}, {{"axis", 0}})
                         .input("past", proto::TensorProto::FLOAT, {"p", 2})
                         .input("x", proto::TensorProto::FLOAT, {"n", 2})
                         .output("y");
  const Session any(context(), load(model.bytes()));
  for (const std::uint32_t past : {0U, 2U}) {
    NamedValues inputs;
    inputs.push_back(NamedValue::of("past", {past, 2}, Floats(past * 2, 1)));
    inputs.push_back(NamedValue::of("x", {1, 2}, Floats{5, 6}));
    const auto outputs = any.run(std::move(inputs)).get();
    BOOST_TEST((outputs[0].descriptor.shape == polychron::Shape{past + 1, 2}));
  }
}

BOOST_AUTO_TEST_CASE(a_session_with_a_context_of_its_own) {
  Session any(load(arithmetic().bytes()));
  auto outputs = any.run(rows(2, 2));
  BOOST_TEST(outputs.get().size() == 3U);
  any = {};
}

BOOST_AUTO_TEST_SUITE_END()
