// The refusals of a session before anything is sent, and the names in its errors.
#include "tests/onnx/session_fixture.hpp"

using namespace onnx_tests;

BOOST_AUTO_TEST_SUITE(session_names)

namespace {

/// run() with these inputs is a type_error that says `words`; nothing is sent, no buffer is lost.
void refused(const Session& session, NamedBuffers inputs, const std::vector<std::string>& words,
             const polychron::onnx::RunOptions& options = {}) {
  std::vector<std::size_t> sizes;
  for (const auto& [name, bytes] : inputs) sizes.push_back(bytes.size());
  const auto before = session.context().stats().computes;
  fails(ErrorKind::type_error, words, [&] { session.run(std::move(inputs), options).wait(); });
  BOOST_TEST(session.context().stats().computes == before);
  BOOST_REQUIRE_EQUAL(inputs.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) BOOST_TEST(inputs[i].second.size() == sizes[i]);
}

std::pair<std::string, Buffer> two(std::string name) { return {std::move(name), buffer({1, 2})}; }

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  refused(session, {}, {"model 'arithmetic'", "input 'a' is not given", "float32 [1, 2]"});
  refused(session, named(two("a")), {"input 'b' is not given"});
}

BOOST_AUTO_TEST_CASE(what_is_unknown_is_named_with_what_there_is) {
  const auto session = session_of(arithmetic(), of_rows(1));
  refused(session, named(two("a"), two("c")), {"input 'c' is unknown", "'a', 'b'"});
  refused(session, named(two("a"), two("b"), two("")), {"input '' is unknown"});
  refused(session, named(two("a"), two("b"), two("sum")), {"input 'sum' is unknown"});
}

BOOST_AUTO_TEST_CASE(what_is_given_twice_is_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  refused(session, named(two("a"), two("a")), {"input 'a' is given twice"});
  refused(session, named(two("a"), two("b"), two("b")), {"input 'b' is given twice"});
}

BOOST_AUTO_TEST_CASE(a_wrong_length_is_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  refused(session, named(two("a"), std::pair("b", buffer({1}))),
          {"input 'b' is float32 [1, 2]", "got 4 bytes, expected 8"});
  refused(session, named(two("a"), std::pair("b", Buffer())), {"got 0 bytes, expected 8"});
}

BOOST_AUTO_TEST_CASE(a_buffer_that_was_moved_away_is_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  auto inputs = named(two("a"), two("b"));
  const auto elsewhere = std::move(inputs[1].second);
  refused(session, std::move(inputs), {"input 'b'", "moved away"});
}

BOOST_AUTO_TEST_CASE(values_of_another_type_are_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  fails(ErrorKind::type_error, {"input 'b' is float32 [1, 2]", "int32", "uint8"}, [&] {
    session.run({{"a", Floats{1, 2}}, {"b", std::vector<std::int32_t>{1, 2}}}).wait();
  });
}

BOOST_AUTO_TEST_CASE(a_refused_list_leaves_its_buffers) {
  const auto session = session_of(arithmetic(), of_rows(1));
  auto a = buffer({1, 2});
  fails(ErrorKind::type_error, {"input 'b' is not given"}, [&] {
    session.run({{"a", std::move(a)}}).wait();
  });
  BOOST_TEST(!a.detached());
  same(a.to_vector<float>(), {1, 2});
}

BOOST_AUTO_TEST_CASE(outputs_that_are_unknown_or_named_twice) {
  const auto session = session_of(arithmetic(), of_rows(1));
  refused(session, named(two("a"), two("b")),
          {"output 'total' is unknown", "'sum', 'product', 'difference'"},
          {.outputs = {"sum", "total"}});
  refused(session, named(two("a"), two("b")), {"output 'sum' is given twice"},
          {.outputs = {"sum", "sum"}});
  refused(session, named(two("a"), two("b")), {"output '' is unknown"}, {.outputs = {""}});
}

BOOST_AUTO_TEST_CASE(outputs_of_the_callers_are_checked_likewise) {
  const auto session = session_of(times(2));
  const auto compute = [&](NamedBuffers outputs) {
    return [&session, made = std::make_shared<NamedBuffers>(std::move(outputs))] {
      session.compute(named(two("x")), std::move(*made)).wait();
    };
  };
  fails(ErrorKind::type_error, {"output 'y' is not given"}, compute({}));
  fails(ErrorKind::type_error, {"output 'z' is unknown"}, compute(named(two("z"))));
  fails(ErrorKind::type_error, {"output 'y' is given twice"}, compute(named(two("y"), two("y"))));
  fails(ErrorKind::type_error, {"got 4 bytes"}, compute(named(std::pair("y", buffer({1})))));
}

BOOST_AUTO_TEST_CASE(an_input_that_nothing_depends_on_is_told) {
  const auto model =
      Model().node("Neg", {"x"}, {"y"}).input("x", ramp({2})).input("idle", ramp({2})).output("y");
  const auto session = session_of(model);
  BOOST_TEST(session.inputs().size() == 1U);
  refused(session, named(two("x"), two("idle")), {"input 'idle' is not taken", "no output"});
}

BOOST_AUTO_TEST_CASE(names_from_files_are_escaped) {
  const auto model =
      Model().node("Neg", {"x\n\x1b[2J"}, {"y"}).input("x\n\x1b[2J", ramp({2})).output("y");
  const auto session = session_of(model, {.label = "odd\nlabel"});
  refused(session, {}, {"input 'x\\x0a\\x1b[2J' is not given", "model 'odd\\x0alabel'"});
  refused(session, named(two(std::string(5000, 'n'))), {"nnn...' is unknown"});
}

BOOST_AUTO_TEST_CASE(many_names_are_cut) {
  Model model;
  std::vector<std::string> terms;
  for (int i = 0; i < 12; ++i) {
    terms.push_back("x" + std::to_string(i));
    model.input(terms.back(), ramp({2}));
  }
  model.node("Sum", terms, {"y"}).output("y");
  refused(session_of(model), named(two("z")), {"'x0', 'x1'", "'x7' and 4 more"});
}

BOOST_AUTO_TEST_CASE(errors_bear_the_run_and_the_model) {
  const auto session = session_of(arithmetic(), of_rows(1));
  try {
    session.run({}, {.label = "request 7"}).wait();
    BOOST_ERROR("nothing was thrown");
  } catch (const Error& error) {
    BOOST_TEST(error.operation() == "run");
    BOOST_TEST(error.label() == "request 7");
    BOOST_TEST(error.object() == "model 'arithmetic'");
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_cannot_be_imported_is_named) {
  const auto model = Model().node("Mystery", {"x"}, {"y"}).input("x", ramp({2})).output("y");
  const std::vector<std::string> words{"model 'secret'", "operator 'Mystery'", "not known"};
  fails(ErrorKind::not_supported, words, [&] { session_of(model, {.label = "secret"}); });
  fails(ErrorKind::not_supported, words,
        [&] { Session::build(context(), load(model.bytes()), {.label = "secret"}).get(); });
  fails(ErrorKind::type_error, {"model 'g'", "'a'", "free"},
        [&] { session_of(arithmetic()).graph(); });
  fails(ErrorKind::type_error, {"'m' to bind"}, [&] {
    session_of(times(1), {.bindings = {{"m", {1}}}});
  });
  fails(ErrorKind::bad_data, {"no such/model.onnx"},
        [] { Session("no such/model.onnx", {}).label(); });
}

BOOST_AUTO_TEST_CASE(a_handle_to_nothing_is_refused_by_every_call) {
  const Session nothing;
  const auto refuses = [](auto call) {
    fails(ErrorKind::type_error, {"default-constructed"}, call);
  };
  BOOST_TEST(!nothing);
  refuses([&] { nothing.run({}).wait(); });
  refuses([&] { nothing.run(NamedBuffers()).wait(); });
  refuses([&] { nothing.compute({}, {}).wait(); });
  refuses([&] { nothing.dispatch({}, {}); });
  refuses([&] { nothing.create_input_tensor("x").wait(); });
  refuses([&] { nothing.create_output_tensor("x").wait(); });
  refuses([&] { nothing.warm_up().wait(); });
  refuses([&] { nothing.destroy(); });
  refuses([&] { static_cast<void>(nothing.label()); });
  refuses([&] { static_cast<void>(nothing.inputs()); });
  refuses([] { Session(polychron::Context(), load(times(1).bytes())).label(); });
}

BOOST_AUTO_TEST_SUITE_END()
