// Written conformance cases read back as the same: for each row, generated calls with special
// numbers, through the public builder to the graph that a backend gets.
#include <boost/test/unit_test.hpp>

#include "apps/tool/conformance/case_builder.hpp"
#include "apps/tool/conformance/case_writer.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "runtime/runtime_state.hpp"
#include "tests/kernels/generated_call.hpp"
#include "tests/kernels/generated_values.hpp"
#include "tests/kernels/shrink.hpp"

namespace polychron::tests {

namespace {

using conformance::json;

/// Keeps the graph that it was given last, and compiles none.
class Listener final : public kernels::ForwardingBackend {
 public:
  Listener() : ForwardingBackend(kernels::make_cpu_backend()) {}
  Result<std::shared_ptr<kernels::Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    heard = std::move(graph);
    return Error(ErrorKind::not_supported, "it only listens");
  }

  std::shared_ptr<const ops::Graph> heard;
};

/// A NaN is a NaN: cases do not say which.
json numbers(const OperandDescriptor& descriptor, std::span<const std::byte> bytes) {
  return conformance::operand_of(descriptor, bytes);
}

void compare(const GeneratedCall& call, const ops::Graph& graph, const json& written) {
  BOOST_REQUIRE_EQUAL(graph.nodes.size(), 1U);
  const ops::Node& node = graph.nodes[0];
  BOOST_TEST(ops::row(node.op).name == call.row->name);
  BOOST_TEST(conformance::fields_of(node.attributes).dump() ==
             conformance::fields_of(call.attributes).dump());
  BOOST_REQUIRE_EQUAL(node.inputs.size(), call.operands.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto& operand = call.operands[i];
    BOOST_TEST((node.inputs[i] != ops::no_value) == operand.present);
    if (!operand.present) continue;
    const auto& value = graph.values[node.inputs[i]];
    BOOST_TEST(to_string(value.descriptor) == to_string(operand.descriptor));
    BOOST_TEST((value.constant != nullptr) == operand.constant);
    const auto name = "in" + std::to_string(i);
    const auto read = value.constant ? Buffer::copy_of(value.constant->bytes())
                                     : conformance::bytes_of(written.at("inputs").at(name));
    BOOST_TEST(numbers(operand.descriptor, read.bytes()) ==
               numbers(operand.descriptor, operand.bytes));
  }
  for (std::size_t i = 0; i < call.results.size(); ++i)
    BOOST_TEST(to_string(graph.values[node.outputs[i]].descriptor) == to_string(call.results[i]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(written_cases)

BOOST_AUTO_TEST_CASE(read_back_as_they_were) {
  const auto listener = std::make_shared<Listener>();
  Runtime runtime(detail::RuntimeState::create(
      {}, [&](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
        return std::static_pointer_cast<kernels::Backend>(listener);
      }));
  const Context context = runtime.create_context().get();
  for (const auto& row : ops::rows())
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
      BOOST_TEST_CONTEXT(row.name << ", seed " << seed) {
        test::Random random(seed);
        const auto choices = type_choices(row);
        const auto call = generate(row, choices[seed * 7 % choices.size()], random);
        const auto cases = json::parse(case_text(call, "a case"));
        BOOST_REQUIRE_EQUAL(cases.size(), 1U);
        conformance::CaseBuilder builder(context, cases[0]);
        listener->heard.reset();
        BOOST_CHECK_THROW(builder.build(cases[0]["outputs"]), Error);
        BOOST_REQUIRE_MESSAGE(listener->heard, cases[0].dump());
        compare(call, *listener->heard, cases[0]);
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
