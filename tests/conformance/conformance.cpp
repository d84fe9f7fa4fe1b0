// The public suite's numeric cases (../shared/conformance/*.json), through builder, compiler and
// device. Generic over the operator table: operators that it does not have yet are counted and
// named.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "ops/table.hpp"
#include "polychron/polychron.hpp"
#include "tests/conformance/attributes.hpp"
#include "tests/conformance/values.hpp"

using namespace polychron;
using namespace polychron::test;

namespace {

/// A case that cannot be run, and why.
struct NotRun {
  std::string reason;
};

/// Builds the graph of a case, by the names in it.
class CaseBuilder {
 public:
  CaseBuilder(const Context& context, const json& test) : builder_(context) {
    for (const auto& [name, operand] : test.at("inputs").items()) {
      const auto descriptor = descriptor_of(operand);
      operands_.emplace(name, operand.value("constant", false)
                                  ? builder_.constant(descriptor, bytes_of(operand))
                                  : builder_.input(name, descriptor));
    }
    for (const auto& call : test.at("operators")) add(call);
  }

  Graph build(const json& outputs) {
    NamedOperands named;
    for (const auto& [name, operand] : outputs.items())
      named.emplace_back(name, operands_.at(name));
    return builder_.build(named).get();
  }

 private:
  void add(const json& call) {
    const auto name = call.at("name").get<std::string>();
    const ops::Row* row = ops::find(name);
    if (row == nullptr) throw NotRun{name + " is not in the operator table yet"};
    std::vector<const Operand*> operands(row->operands().size(), nullptr);
    auto attributes = ops::default_attributes(row->attributes);
    const auto set = [&](const std::string& key, const json& value) {
      if (key == "label") return;
      for (std::size_t i = 0; i < row->operands().size(); ++i) {
        if (row->operands()[i].name != key) continue;
        if (!row->call.variadic()) {
          operands[i] = &operands_.at(value.get<std::string>());
          return;
        }
        operands.clear();
        for (const auto& item : value) operands.push_back(&operands_.at(item.get<std::string>()));
        return;
      }
      if (!set_field(attributes, key, value))
        throw std::runtime_error(name + " has no '" + key + "'");
    };
    for (const auto& argument : call.at("arguments"))
      for (const auto& [key, value] : argument.items()) {
        if (key != "options") {
          set(key, value);
          continue;
        }
        for (const auto& [option, option_value] : value.items()) set(option, option_value);
      }
    auto results = builder_.apply(name, operands, std::move(attributes));
    const auto& outputs = call.at("outputs");
    for (std::size_t i = 0; i < results.size(); ++i)
      operands_.insert_or_assign((outputs.is_array() ? outputs.at(i) : outputs).get<std::string>(),
                                 results[i]);
  }

  GraphBuilder builder_;
  std::map<std::string, Operand> operands_;
};

Tensor make_tensor(Context& context, const OperandDescriptor& descriptor) {
  TensorDescriptor tensor;
  tensor.data_type = descriptor.data_type;
  tensor.shape = descriptor.shape;
  tensor.readable = tensor.writable = true;
  return context.create_tensor(tensor).get();
}

/// Runs one case; what is wrong about it, or nothing. Throws NotRun, Error.
std::string run(Context& context, const json& test) {
  CaseBuilder builder(context, test);
  const auto graph = builder.build(test.at("outputs"));
  NamedTensors inputs;
  for (const auto& [name, descriptor] : graph.inputs()) {
    inputs.emplace_back(name, make_tensor(context, descriptor));
    context.write_tensor(inputs.back().second, bytes_of(test.at("inputs").at(name)));
  }
  NamedTensors outputs;
  for (const auto& [name, descriptor] : graph.outputs())
    outputs.emplace_back(name, make_tensor(context, descriptor));
  context.dispatch(graph, inputs, outputs);
  std::string problems;
  for (const auto& [name, tensor] : outputs) {
    const auto& expected = test.at("outputs").at(name);
    if (tensor.descriptor() != descriptor_of(expected)) {
      problems += name + " is " + to_string(tensor.descriptor()) + ", expected " +
                  to_string(descriptor_of(expected)) + "; ";
      continue;
    }
    const auto bytes = context.read_tensor(tensor).get();
    const auto& tolerance = test.at("tolerance");
    const auto metric = tolerance.at("metric").get<std::string>();
    const auto worst = compare(bytes.bytes(), expected, metric);
    if (!(worst.distance <= tolerance.at("value").get<double>()))
      problems += name + ": " + worst.text + ", off by " + std::to_string(worst.distance) + " " +
                  metric + ", allowed " + tolerance.at("value").dump() + "; ";
  }
  return problems;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_AUTO_TEST_CASE(every_case) {
  const std::filesystem::path folder = POLYCHRON_SOURCE_DIR "/../shared/conformance";
  if (!std::filesystem::exists(folder)) {
    BOOST_TEST_MESSAGE("skipped: ../shared is absent");
    return;
  }
  Runtime runtime;
  auto context = runtime.create_context().get();
  int passed = 0;
  std::map<std::string, int> not_run;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  for (const auto& file : files) {
    for (const auto& test : json::parse(std::ifstream(file))) {
      const auto name = file.stem().string() + " \"" + test.at("name").get<std::string>() + "\"";
      try {
        const auto problems = run(context, test);
        BOOST_TEST(problems.empty(), name << ": " << problems);
        if (problems.empty()) ++passed;
      } catch (const NotRun& why) {
        ++not_run[why.reason];
      } catch (const std::exception& error) {
        BOOST_ERROR(name << ": " << error.what());
      }
    }
  }
  int absent = 0;
  for (const auto& [reason, count] : not_run) {
    BOOST_TEST_MESSAGE("not run: " << count << " cases, " << reason);
    absent += count;
  }
  BOOST_TEST_MESSAGE(passed << " cases passed, " << absent << " not run");
  BOOST_TEST(passed > 0);
}

BOOST_AUTO_TEST_SUITE_END()
