#include "apps/tool/onnx_case.hpp"

#include <algorithm>
#include <new>
#include <sstream>
#include <utility>

#include "apps/tool/conformance/compare.hpp"

namespace tool {

namespace fs = std::filesystem;
namespace onnx = polychron::onnx;
using polychron::Error;
using polychron::ErrorKind;

namespace {

/// Keeps a model from taking all of the machine's memory.
constexpr std::uint64_t memory_limit = 2ULL << 30;

/// The reason why a test has not passed. A stage throws it to end the test.
struct Stopped {
  OnnxOutcome outcome;
  std::string reason;
};

struct DataSet {
  std::vector<onnx::TensorValue> inputs, outputs;
};

std::vector<onnx::TensorValue> read_tensors(const fs::path& directory, const std::string& prefix) {
  std::vector<onnx::TensorValue> tensors;
  for (;;) {
    const auto file = directory / (prefix + std::to_string(tensors.size()) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(onnx::read_tensor(file));
  }
}

std::vector<fs::path> data_sets_of(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// WebNN's graphs have tensors of numbers only.
void check_types(const onnx::Summary& summary) {
  for (const auto& input : summary.inputs)
    if (input.type == "not a tensor" || input.type == "string")
      throw Stopped{OnnxOutcome::skipped,
                    "input '" + input.name + "' is " +
                        (input.type == "string" ? "a tensor of strings" : "not a tensor")};
  for (const auto& output : summary.outputs)
    if (output.type == "not a tensor")
      throw Stopped{OnnxOutcome::refused, "output '" + output.name + "' is not a tensor"};
}

/// ONNX's own files up to 1.12 store the bits of bfloat16 numbers as uint16.
void correct_types(std::vector<onnx::TensorValue>& tensors,
                   const std::vector<onnx::ValueInfo>& declared) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (declared[i].type == "bfloat16" && tensors[i].type == "uint16") tensors[i].type = "bfloat16";
}

/// Assigns tensors by position, as ONNX's own runner does.
DataSet read_data(const fs::path& directory, const onnx::Summary& summary) {
  DataSet data{read_tensors(directory, "input_"), read_tensors(directory, "output_")};
  const auto check = [&](const char* what, std::size_t files, std::size_t values) {
    if (files != values)
      throw Stopped{OnnxOutcome::failed, directory.filename().string() + " has " +
                                             std::to_string(files) + " files for " +
                                             std::to_string(values) + what};
  };
  check(" inputs", data.inputs.size(), summary.inputs.size());
  check(" outputs", data.outputs.size(), summary.outputs.size());
  correct_types(data.inputs, summary.inputs);
  correct_types(data.outputs, summary.outputs);
  return data;
}

/// Adds to `options` the input whose value an import needed: the one that the message names, or
/// else the last, as operands such as axes and shapes come late. False if none is left.
bool give_constant(const std::string& message, const onnx::Summary& summary, const DataSet& data,
                   onnx::ImportOptions& options) {
  if (message.find(onnx::needs_value) == std::string::npos) return false;
  std::size_t chosen = summary.inputs.size();
  for (std::size_t i = 0; i < summary.inputs.size(); ++i) {
    const auto& name = summary.inputs[i].name;
    if (options.constants.contains(name)) continue;
    chosen = i;
    if (message.find("('" + name + "') " + std::string(onnx::needs_value)) != std::string::npos)
      break;
  }
  if (chosen == summary.inputs.size()) return false;
  options.constants.emplace(summary.inputs[chosen].name, data.inputs[chosen]);
  return true;
}

/// The shape that an input is bound to. In some tests an operand of which only the type matters
/// (CastLike) has a single number as data, which stands for every element of the declared shape.
polychron::Shape bound_shape(const onnx::ValueInfo& input, const onnx::TensorValue& value) {
  if (!input.dimensions || polychron::element_count(value.shape) != 1U) return value.shape;
  polychron::Shape declared;
  for (const auto& dimension : *input.dimensions) {
    if (!dimension.value) return value.shape;
    declared.push_back(*dimension.value);
  }
  return declared;
}

/// Imports and compiles; makes inputs constants only if the import needs their values.
polychron::Graph build(const polychron::Context& context, const onnx::Model& model,
                       const DataSet& data, onnx::ImportOptions& options) {
  const auto& inputs = model.summary().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    options.bindings[inputs[i].name] = bound_shape(inputs[i], data.inputs[i]);
  for (;;) {
    polychron::GraphBuilder builder(context);
    polychron::NamedOperands outputs;
    try {
      outputs = onnx::import_model(model, builder, options);
    } catch (const Error& error) {
      if (give_constant(error.what(), model.summary(), data, options)) continue;
      if (error.kind() == ErrorKind::not_supported || error.kind() == ErrorKind::type_error)
        throw Stopped{OnnxOutcome::refused, error.what()};
      throw;
    }
    return builder.build(outputs).get();
  }
}

const onnx::TensorValue& input_value(const std::string& name, const onnx::Summary& summary,
                                     const DataSet& data) {
  const auto found = std::ranges::find(summary.inputs, name, &onnx::ValueInfo::name);
  return data.inputs.at(static_cast<std::size_t>(found - summary.inputs.begin()));
}

/// The data for an input of the graph; see bound_shape().
polychron::Buffer bytes_for(const polychron::OperandDescriptor& descriptor,
                            const onnx::TensorValue& value) {
  auto bytes = onnx::operand_bytes(value, descriptor.data_type);
  const auto size = polychron::byte_length(descriptor).value();
  if (bytes.size() == size || bytes.size() != polychron::byte_size(descriptor.data_type))
    return bytes;
  auto repeated = polychron::Buffer::uninitialized(size);
  for (std::size_t i = 0; i < size; i += bytes.size())
    std::ranges::copy(bytes.bytes(), repeated.data() + i);
  return repeated;
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// ONNX's own runner allows 1e-3, and bfloat16 two units in its last place. So does this one
/// float16, whose expected numbers are the results of operators that round to it.
double relative_tolerance(const std::string& type) {
  if (type == "bfloat16") return 0x1p-6;
  return type == "float16" ? 0x1p-9 : 1e-3;
}

/// ONNX's own runner allows 1e-7. The expected numbers were calculated in float32: beside large
/// ones a 0 has an error of about a unit of these.
double absolute_tolerance(double largest) { return std::max(1e-7, largest * 0x1p-23); }

void check_output(const std::string& name, const polychron::OperandDescriptor& descriptor,
                  std::span<const std::byte> actual, const onnx::TensorValue& expected) {
  const auto type = operand_type(expected);
  if (expected.shape != descriptor.shape || (type && *type != descriptor.data_type)) {
    const auto name_of_type = type ? std::string(to_string(*type)) : expected.type;
    throw Stopped{OnnxOutcome::failed, "output '" + name + "': expected " + name_of_type + " " +
                                           polychron::to_string(expected.shape) + ", got " +
                                           to_string(descriptor)};
  }
  const auto bytes = onnx::operand_bytes(expected, descriptor.data_type);
  const auto largest = polychron::conformance::largest_of(bytes.bytes(), descriptor.data_type);
  const auto worst = polychron::conformance::compare_close(
      actual, bytes.bytes(), descriptor.data_type, relative_tolerance(expected.type),
      absolute_tolerance(largest));
  if (!(worst.distance <= 1))
    throw Stopped{OnnxOutcome::failed, "output '" + name + "': " + worst.text() + ", " +
                                           number(worst.distance) + " times what is allowed"};
}

void run_data(polychron::Context& context, const polychron::Graph& graph,
              const onnx::Summary& summary, const DataSet& data) {
  polychron::NamedTensors inputs, outputs;
  for (const auto& [name, descriptor] : graph.inputs()) {
    inputs.emplace_back(name, context.create_tensor({descriptor, false, true, name}).get());
    context.write_tensor(inputs.back().second,
                         bytes_for(descriptor, input_value(name, summary, data)));
  }
  for (const auto& [name, descriptor] : graph.outputs())
    outputs.emplace_back(name, context.create_tensor({descriptor, true, false, name}).get());
  context.dispatch(graph, inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto bytes = context.read_tensor(outputs[i].second).get();
    check_output(outputs[i].first, graph.outputs()[i].second, bytes.bytes(), data.outputs.at(i));
  }
}

polychron::Context make_context(polychron::Runtime& runtime, const std::string& device) {
  polychron::ContextOptions options;
  options.label = "onnx-tests";
  options.device = device;
  options.memory_limit = memory_limit;
  return runtime.create_context(options).get();
}

/// onnx::load() without the path in the error, because equal reasons are counted.
onnx::Model load(const fs::path& file) {
  try {
    return onnx::load(file);
  } catch (const Error& error) {
    const auto where = error.message().find("': ");
    throw where == std::string::npos ? error
                                     : Error(error.kind(), error.message().substr(where + 3));
  }
}

void run_test(polychron::Context& context, const fs::path& directory, OnnxVerdict& verdict) {
  const auto model = load(directory / "model.onnx");
  const auto& summary = model.summary();
  for (const auto& entry : summary.operators)
    verdict.operators.push_back((entry.domain.empty() ? "" : entry.domain + ".") + entry.name);
  check_types(summary);
  const auto sets = data_sets_of(directory);
  if (sets.empty()) throw Stopped{OnnxOutcome::skipped, "there is no test_data_set"};
  for (const auto& set : sets) {
    const auto data = read_data(set, summary);
    onnx::ImportOptions options;
    const auto graph = build(context, model, data, options);
    verdict.constants.clear();
    for (const auto& [name, value] : options.constants) verdict.constants.push_back(name);
    run_data(context, graph, summary, data);
  }
}

}  // namespace

OnnxRunner::OnnxRunner(std::string device)
    : device_(std::move(device)), context_(make_context(runtime_, device_)) {}

OnnxVerdict OnnxRunner::run(const fs::path& directory) {
  OnnxVerdict verdict;
  const auto stop = [&](OnnxOutcome outcome, const std::string& reason) {
    verdict.outcome = outcome;
    verdict.reason = reason;
  };
  try {
    run_test(context_, directory, verdict);
  } catch (const Stopped& stopped) {
    stop(stopped.outcome, stopped.reason);
  } catch (const Error& error) {
    if (error.root().kind() == ErrorKind::context_lost) context_ = make_context(runtime_, device_);
    const bool refusal = error.root().kind() == ErrorKind::not_supported;
    stop(refusal ? OnnxOutcome::refused : OnnxOutcome::failed, error.what());
  } catch (const fs::filesystem_error& error) {
    stop(OnnxOutcome::failed, error.what());
  } catch (const std::bad_alloc&) {
    stop(OnnxOutcome::failed, "out of memory");
  }
  return verdict;
}

std::vector<fs::path> find_onnx_tests(const fs::path& root) {
  std::vector<fs::path> found;
  if (fs::exists(root / "model.onnx")) found.push_back(root);
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory() && fs::exists(entry.path() / "model.onnx"))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace tool
