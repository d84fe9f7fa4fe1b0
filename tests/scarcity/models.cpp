// Allocations that fail, one by one, while a model is loaded.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <new>
#include <string>

#include "onnx/proto.hpp"
#include "polychron/onnx.hpp"
#include "polychron/onnx_tensor.hpp"
#include "polychron/session.hpp"
#include "polychron/sessions.hpp"
#include "tests/scarcity/each_allocation.hpp"

using namespace polychron::testing;
using polychron::Error;
using polychron::ErrorKind;

namespace {

/// y = x + w, with names and documentation that no string has room for by itself.
std::string sum() {
  polychron::onnx::proto::ModelProto model;
  model.set_producer_name(std::string(100, 'p'));
  model.add_opset_import()->set_version(13);
  auto& graph = *model.mutable_graph();
  graph.set_doc_string(std::string(5000, 'd'));
  auto& node = *graph.add_node();
  node.set_op_type("Add");
  for (const auto* name : {"x", "w"}) node.add_input(name);
  node.add_output("y");
  for (auto* value : {graph.add_input(), graph.add_output()}) {
    value->set_name("x");
    value->mutable_type()->mutable_tensor_type()->set_elem_type(
        polychron::onnx::proto::TensorProto::FLOAT);
  }
  graph.mutable_output(0)->set_name("y");
  auto& tensor = *graph.add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(polychron::onnx::proto::TensorProto::FLOAT);
  tensor.add_dims(1000);
  tensor.set_raw_data(std::string(4000, '\0'));
  return model.SerializeAsString();
}

/// y = x + x, of four numbers.
std::string twice() {
  polychron::onnx::proto::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto& graph = *model.mutable_graph();
  auto& node = *graph.add_node();
  node.set_op_type("Add");
  for (int i = 0; i < 2; ++i) node.add_input("x");
  node.add_output("y");
  for (auto* value : {graph.add_input(), graph.add_output()}) {
    auto& type = *value->mutable_type()->mutable_tensor_type();
    type.set_elem_type(polychron::onnx::proto::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(4);
  }
  graph.mutable_input(0)->set_name("x");
  graph.mutable_output(0)->set_name("y");
  return model.SerializeAsString();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models)

BOOST_AUTO_TEST_CASE(a_run_asks_for_memory_a_few_times) {
  const auto bytes = twice();
  const polychron::onnx::Session session(polychron::onnx::load(std::as_bytes(std::span(bytes))));
  std::int64_t asked = 0;
  for (bool happened = true; happened && asked < 300; asked += happened) {
    polychron::NamedBuffers inputs;
    inputs.emplace_back("x", polychron::Buffer(16));
    OwnAllocationFails failing(asked + 1);
    try {
      static_cast<void>(session.run(std::move(inputs)));
    } catch (const Error& error) {
      BOOST_TEST(failing.happened(), error.what());
    }
    happened = failing.happened();
  }
  BOOST_TEST(asked <= 19, "a run asks for memory " << asked << " times");
}

BOOST_AUTO_TEST_CASE(loading_throws_and_works_again) {
  const auto bytes = sum();
  std::int64_t failed = 0, done_without = 0;
  for (bool happened = true; happened; failed += happened) {
    bool threw = false;
    {
#ifdef __SANITIZE_ADDRESS__
      // protobuf loses what it is about to fill when an allocation fails: not ours to find.
      const __lsan::ScopedDisabler unseen;
#endif
      OwnAllocationFails failing(failed + 1);
      try {
        const auto model = polychron::onnx::load(std::as_bytes(std::span(bytes)));
        BOOST_REQUIRE_EQUAL(model.summary().initializer_bytes, 4000U);
      } catch (const Error& error) {
        threw = error.kind() == ErrorKind::out_of_memory;
      }
      happened = failing.happened();
    }
    BOOST_REQUIRE_MESSAGE(happened || !threw, "there was memory");
    done_without += happened && !threw;
    BOOST_REQUIRE_LT(failed, 1000);
  }
  BOOST_TEST(done_without <= 1);  // std::stable_sort()'s, which sorts without, too
  BOOST_TEST(failed > 20);
  const auto model = polychron::onnx::load(std::as_bytes(std::span(bytes)));
  BOOST_TEST(model.summary().initializer_bytes == 4000U);
}

// Callers do not help: what an actor does without memory is another question.
BOOST_AUTO_TEST_CASE(calls_of_models_and_sessions_say_out_of_memory) {
  const auto bytes = sum();
  const auto model = polychron::onnx::load(std::as_bytes(std::span(bytes)));
  const polychron::RuntimeOptions alone{.helping = false};
  polychron::Runtime runtime(alone);
  const auto context = runtime.create_context().get();
  const polychron::onnx::SessionOptions options{.bindings = {{"x", {1000}}},
                                                .label = std::string(40, 'm')};
  const polychron::onnx::ImportOptions import{.bindings = options.bindings};
  each_allocation_fails(
      "import_model", [&] { return polychron::GraphBuilder(context); },
      [&](auto& builder) { return polychron::onnx::import_model(model, builder, import); });
  each_allocation_fails("Session",
                        [&] { return polychron::onnx::Session(context, model, options); });
  each_allocation_fails("Session::build",
                        [&] { return polychron::onnx::Session::build(context, model, options); });
  each_allocation_fails("Session of its own",
                        [&] { return polychron::onnx::Session(model, options, {}, alone); });
  const polychron::onnx::Session session(context, model, options);
  const auto inputs = [] {
    polychron::NamedBuffers named;
    named.emplace_back("x", polychron::Buffer(4000));
    return named;
  };
  each_allocation_fails("run", inputs, [&](auto& x) { return session.run(std::move(x)); });
  each_allocation_fails("profile", inputs, [&](auto& x) { return session.profile(std::move(x)); });
  each_allocation_fails("warm_up", [&] { return session.warm_up(); });
  each_allocation_fails("tensor", [&] { return session.create_input_tensor("x"); });
  each_allocation_fails(
      "tensor of nothing", [&] { return session.create_input_tensor("?"); }, ErrorKind::type_error);
  each_allocation_fails(
      "nothing", [] { return polychron::onnx::Session().label().size(); }, ErrorKind::type_error);
  const std::map<std::string, polychron::Shape> shape{{"x", {1000}}};
  each_allocation_fails("Sessions", [&] { return polychron::onnx::Sessions(context, model); });
  each_allocation_fails(
      "at", [&] { return polychron::onnx::Sessions(context, model); },
      [&](auto& sessions) { return sessions.at(shape); });
  each_allocation_fails(
      "prepare", [&] { return polychron::onnx::Sessions(context, model); },
      [&](auto& sessions) {
        sessions.prepare(shape);
        return 0;
      });
  const polychron::OperandDescriptor four{polychron::DataType::float32, {4}};
  each_allocation_fails(
      "make_value", [] { return polychron::Buffer(16); },
      [&](auto& given) { return polychron::onnx::make_value(four, std::move(given)); });
  const auto value = polychron::onnx::make_value(four, polychron::Buffer(16));
  each_allocation_fails("operand_bytes", [&] {
    return polychron::onnx::operand_bytes(value, polychron::DataType::float16);
  });
  const std::filesystem::path nowhere("/nowhere.pb");
  each_allocation_fails(
      "read_tensor", [&] { return polychron::onnx::read_tensor(nowhere); }, ErrorKind::bad_data);
}

BOOST_AUTO_TEST_SUITE_END()
