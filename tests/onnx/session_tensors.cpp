// Sessions on tensors: chains of models, and outputs that nobody asks for.
#include "onnx/spare_outputs.hpp"
#include "tests/onnx/session_fixture.hpp"
#include "tests/patience.hpp"

using namespace onnx_tests;
using polychron::NamedTensors;

BOOST_AUTO_TEST_SUITE(session_tensors)

BOOST_AUTO_TEST_CASE(one_models_output_is_the_next_ones_input) {
  const auto first = session_of(times(3)), second = session_of(times(5));
  const auto x = first.create_input_tensor("x").get();
  const auto hidden = first.create_output_tensor("y").get();
  const auto y = second.create_output_tensor("y").get();
  context().write_tensor(x, Floats{1, 2});
  first.dispatch({{"x", x}}, {{"y", hidden}});
  second.dispatch({{"x", hidden}}, {{"y", y}});
  same(context().read_tensor(y).get().to_vector<float>(), {15, 30});
}

BOOST_AUTO_TEST_CASE(tensors_are_of_the_models_inputs_and_outputs) {
  const auto session = session_of(arithmetic(), of_rows(3));
  const auto a = session.create_input_tensor("a").get();
  BOOST_TEST(to_string(a.descriptor()) == "float32 [3, 2]");
  BOOST_TEST(a.label() == "a");
  BOOST_TEST((a.writable() && !a.readable()));
  const auto sum = session.create_output_tensor("sum").get();
  BOOST_TEST((sum.readable() && !sum.writable()));
  fails(ErrorKind::type_error, {"input 'sum' is unknown", "model 'arithmetic'"},
        [&] { session.create_input_tensor("sum").get(); });
  fails(ErrorKind::type_error, {"output 'a' is unknown"},
        [&] { session.create_output_tensor("a").get(); });
}

BOOST_AUTO_TEST_CASE(outputs_that_nobody_wants_have_tensors_that_are_used_again) {
  auto options = of_rows(1);
  options.max_spare_outputs = 2;
  const auto session = session_of(arithmetic(), options);
  const auto a = session.create_input_tensor("a").get(), b = session.create_input_tensor("b").get();
  const auto sum = session.create_output_tensor("sum").get();
  context().write_tensor(a, Floats{1, 2});
  context().write_tensor(b, Floats{3, 4});
  const auto before = context().stats().tensors;
  for (int i = 0; i < 6; ++i) session.dispatch({{"b", b}, {"a", a}}, {{"sum", sum}});
  same(context().read_tensor(sum).get().to_vector<float>(), {4, 6});
  BOOST_TEST(context().stats().tensors == before + 4);  // two each of the other two outputs
}

BOOST_AUTO_TEST_CASE(without_spare_outputs_their_tensors_go) {
  auto options = of_rows(1);
  options.max_spare_outputs = 0;
  const auto session = session_of(arithmetic(), options);
  const auto a = session.create_input_tensor("a").get(), b = session.create_input_tensor("b").get();
  const auto before = context().stats().tensors;
  session.dispatch({{"a", a}, {"b", b}}, {});
  same(values(session.run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}, {.outputs = {"sum"}}).get(),
              "sum"),
       {4, 6});
  // Their actors end after the run has been answered.
  BOOST_TEST(polychron::testing::comes([&] { return context().stats().tensors == before; }),
             context().stats().tensors << " tensors, there were " << before);
}

BOOST_AUTO_TEST_CASE(wrong_tensors_are_named) {
  const auto session = session_of(arithmetic(), of_rows(1));
  const auto a = session.create_input_tensor("a").get(), b = session.create_input_tensor("b").get();
  const auto sum = session.create_output_tensor("sum").get();
  const auto before = context().stats().dispatches;
  const auto refused = [&](const std::vector<std::string>& words, const NamedTensors& inputs,
                           const NamedTensors& outputs) {
    fails(ErrorKind::type_error, words, [&] { session.dispatch(inputs, outputs); });
  };
  refused({"input 'b' is not given"}, {{"a", a}}, {{"sum", sum}});
  refused({"input 'c' is unknown"}, {{"a", a}, {"c", b}}, {});
  refused({"input 'a' is given twice"}, {{"a", a}, {"a", b}}, {});
  refused({"input 'b'", "default-constructed"}, {{"a", a}, {"b", {}}}, {});
  refused({"output 'total' is unknown"}, {{"a", a}, {"b", b}}, {{"total", sum}});
  refused({"output 'sum' is given twice"}, {{"a", a}, {"b", b}}, {{"sum", sum}, {"sum", sum}});
  refused({"tensor 'sum' is given twice"}, {{"a", sum}, {"b", b}}, {{"sum", sum}});
  BOOST_TEST(context().stats().dispatches == before);
}

BOOST_AUTO_TEST_CASE(spare_buffers_are_bounded_and_used_again) {
  polychron::onnx::detail::SpareBuffers spares(2, 2);
  auto first = spares.take(0, 64);
  const auto* const at = first.data();
  spares.keep(0, std::move(first));
  BOOST_TEST(spares.count() == 1U);
  auto again = spares.take(0, 64);
  BOOST_TEST(again.data() == at);
  BOOST_TEST(spares.count() == 0U);
  spares.keep(0, std::move(again));
  for (int i = 0; i < 5; ++i) spares.keep(1, Buffer(32));
  BOOST_TEST(spares.count() == 3U);  // one of the first output, two of the second
  Buffer gone(1);
  const auto elsewhere = std::move(gone);
  spares.keep(0, std::move(gone));  // what was moved away is not kept
  BOOST_TEST(spares.count() == 3U);
  BOOST_TEST(spares.take(1, 32).size() == 32U);
}

BOOST_AUTO_TEST_SUITE_END()
