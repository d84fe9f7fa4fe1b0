#include "apps/tool/conformance/case.hpp"

#include <algorithm>
#include <fstream>
#include <new>
#include <sstream>
#include <utility>

#include "apps/tool/conformance/case_builder.hpp"
#include "apps/tool/conformance/values.hpp"

namespace polychron::conformance {

namespace {

/// Deeper than the nesting of any case. JSON is walked recursively when it is shown.
constexpr int deepest = 32;

/// A case must not take the machine's memory.
constexpr std::uint64_t memory_limit = 2ULL << 30;

Context make_context(Runtime& runtime, const std::string& device) {
  ContextOptions options;
  options.label = "conformance";
  options.device = device;
  options.memory_limit = memory_limit;
  return runtime.create_context(options).get();
}

Tensor make_tensor(Context& context, const OperandDescriptor& descriptor) {
  return context.create_tensor({descriptor, true, true, {}}).get();
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

double excess(const Verdict::Worst& worst) {
  return worst.difference.distance / std::max(worst.allowed, 1e-300);
}

/// Compares output by output. Describes the worst difference in full, and counts the others.
void judge(const std::string& name, std::span<const std::byte> bytes, const json& test, Zeros zeros,
           Verdict& verdict) {
  const auto& tolerance = member(test, "tolerance");
  Verdict::Worst found;
  found.output = name;
  found.metric = text_of(member(tolerance, "metric"));
  found.allowed = real_of(member(tolerance, "value"));
  found.difference = compare(bytes, test.at("outputs").at(name), found.metric, zeros);
  if (found.difference.distance <= found.allowed) return;
  verdict.outcome = Outcome::failed;
  if (verdict.worst && excess(*verdict.worst) >= excess(found)) return;
  verdict.reason = "output " + excerpt(name) + ": " + found.difference.text() + ", off by " +
                   number(found.difference.distance) + " " + found.metric + ", allowed " +
                   number(found.allowed);
  verdict.worst = std::move(found);
}

Verdict run_case(Context& context, const json& test, Zeros zeros) {
  CaseBuilder builder(context, test);
  const auto& expected = member(test, "outputs");
  if (!expected.is_object() || expected.empty()) throw Malformed("'outputs' names no output");
  const auto graph = builder.build(expected);
  for (const auto& [name, descriptor] : graph.outputs()) {
    bytes_of(expected.at(name));  // reports malformed data
    if (const auto wanted = descriptor_of(expected.at(name)); wanted != descriptor)
      return {Outcome::failed,
              "output " + excerpt(name) + " is " + to_string(descriptor) + ", expected " +
                  to_string(wanted),
              std::nullopt};
  }
  NamedTensors inputs, outputs;
  for (const auto& [name, descriptor] : graph.inputs()) {
    inputs.emplace_back(name, make_tensor(context, descriptor));
    context.write_tensor(inputs.back().second, bytes_of(test.at("inputs").at(name)));
  }
  for (const auto& [name, descriptor] : graph.outputs())
    outputs.emplace_back(name, make_tensor(context, descriptor));
  context.dispatch(graph, inputs, outputs);
  Verdict verdict;
  for (const auto& [name, tensor] : outputs) {
    const auto result = context.read_tensor(tensor).get();
    judge(name, result.bytes(), test, zeros, verdict);
  }
  return verdict;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

const json* operators_of(const json& test) {
  if (!test.is_object() || !test.contains("operators")) return nullptr;
  const auto& operators = test.at("operators");
  return operators.is_array() ? &operators : nullptr;
}

std::string name_at(const json& object) {
  if (!object.is_object()) return {};
  const auto name = object.find("name");
  return name != object.end() && name->is_string() ? name->get<std::string>() : std::string();
}

}  // namespace

Runner::Runner(Zeros zeros, std::string device)
    : device_(std::move(device)), context_(make_context(runtime_, device_)), zeros_(zeros) {}

Verdict Runner::run(const json& test) {
  const auto failed = [](const std::string& why) {
    return Verdict{Outcome::failed, one_line(why), std::nullopt};
  };
  try {
    return run_case(context_, test, zeros_);
  } catch (const UnknownOperator& unknown) {
    return {Outcome::skipped, one_line(unknown.what()), std::nullopt};
  } catch (const Malformed& problem) {
    return failed(std::string("malformed: ") + problem.what());
  } catch (const Error& error) {
    if (error.root().kind() == ErrorKind::context_lost) context_ = make_context(runtime_, device_);
    return failed(error.what());
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  }
}

std::string operator_of(const json& test) {
  const auto* operators = operators_of(test);
  if (operators == nullptr || operators->empty()) return {};
  return operators->size() > 1 ? "subgraph" : name_at(operators->front());
}

bool has_operator(const json& test, const std::string& name) {
  const auto* operators = operators_of(test);
  return operators != nullptr &&
         std::ranges::any_of(*operators, [&](const json& call) { return name_at(call) == name; });
}

std::string name_of(const json& test) { return name_at(test); }

std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::vector<json> cases_of(const std::filesystem::path& file) {
  std::error_code unknown;  // before it is opened: opening a pipe waits for its other end
  if (!std::filesystem::is_regular_file(file, unknown)) throw Malformed("it is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Malformed("cannot be read");
  json content;
  try {
    content = json::parse(stream, [](int depth, json::parse_event_t, json&) {
      if (depth > deepest) throw Malformed("is nested too deeply");
      return true;
    });
  } catch (const json::exception& error) {
    throw Malformed(one_line(error.what()));
  }
  if (!content.is_array()) throw Malformed("expected a list of cases, found " + excerpt(content));
  return content.get<std::vector<json>>();
}

}  // namespace polychron::conformance
