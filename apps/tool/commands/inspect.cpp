// polychron inspect: shows a model, its unsupported operators, and its plan.
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/random_input.hpp"
#include "apps/tool/session.hpp"
#include "apps/tool/step_times.hpp"
#include "apps/tool/threads.hpp"

namespace tool {
namespace {

using nlohmann::json;
using polychron::onnx::Summary;
using polychron::onnx::ValueInfo;

struct InspectOptions : ModelOptions {
  bool plan = false, time = false, json = false;
  double seconds = 3;
  Workers workers;
};

constexpr const char* inspect_footer =
    R"(Operators that Polychron cannot import are marked "unsupported". In JSON, a dimension is a
number, the symbol of a free one, or null for a free one without a symbol; operand_type is WebNN's.
With --plan, --bind or --constant the model is also compiled, and its plan is shown: a line for
each step, with its operators, its implementation and its shapes. With --time the model also runs
on random inputs, and each line begins with the step's median time. Without these options, weights
in files beside the model are not read.

Examples:
  polychron inspect model.onnx
  polychron inspect model.onnx --plan --time --threads 2
  polychron inspect model.onnx --bind x=1x3x48x320)";

/// A number, the symbol of a free dimension, or null for a free one that has none.
json to_json(const polychron::onnx::Dimension& dimension) {
  if (dimension.value) return *dimension.value;
  return dimension.symbol.empty() ? json() : json(dimension.symbol);
}

json to_json(const ValueInfo& value) {
  json dimensions;  // null: the model does not declare the rank
  if (value.dimensions) {
    dimensions = json::array();
    for (const auto& dimension : *value.dimensions) dimensions.push_back(to_json(dimension));
  }
  json operand_type;
  if (value.data_type) operand_type = to_string(*value.data_type);
  return {{"name", value.name},
          {"type", value.type},
          {"operand_type", operand_type},
          {"dimensions", dimensions}};
}

json to_json(const std::vector<ValueInfo>& values) {
  auto array = json::array();
  for (const auto& value : values) array.push_back(to_json(value));
  return array;
}

json to_json(const Summary& summary) {
  auto operators = json::array();
  for (const auto& entry : summary.operators)
    operators.push_back({{"domain", entry.domain},
                         {"name", entry.name},
                         {"count", entry.count},
                         {"supported", entry.supported}});
  return {{"graph", summary.graph_name},
          {"producer", summary.producer},
          {"ir_version", summary.ir_version},
          {"opset", summary.opset},
          {"inputs", to_json(summary.inputs)},
          {"outputs", to_json(summary.outputs)},
          {"initializers", summary.initializers},
          {"initializer_bytes", summary.initializer_bytes},
          {"operators", operators}};
}

void print(const std::string& heading, const std::vector<ValueInfo>& values) {
  std::cout << heading << '\n';
  for (const auto& value : values)
    std::cout << "  " << printable(value.name) << "  " << printable(to_string(value)) << '\n';
}

std::string mebibytes(std::uint64_t bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / (1 << 20) << " MiB";
  return text.str();
}

void print(const Summary& summary) {
  std::cout << "graph      " << printable(summary.graph_name) << '\n'
            << "producer   " << printable(summary.producer) << '\n'
            << "format     IR version " << summary.ir_version << ", opset " << summary.opset << '\n'
            << "constants  " << summary.initializers << ", " << mebibytes(summary.initializer_bytes)
            << '\n';
  print("inputs", summary.inputs);
  print("outputs", summary.outputs);
  std::cout << "operators\n";
  for (const auto& entry : summary.operators)
    std::cout << std::setw(6) << entry.count << "  "
              << printable((entry.domain.empty() ? "" : entry.domain + ".") + entry.name)
              << (entry.supported ? "" : "  unsupported") << '\n';
}

std::string milliseconds(double seconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << std::setw(9) << seconds * 1000 << " ms";
  return text.str();
}

/// `times` has the times of its steps, or is empty.
void print_plan(const polychron::Graph& graph, const std::vector<double>& times) {
  std::cout << "plan: " << graph.plan().size() << " steps, constants "
            << mebibytes(graph.memory().constants) << ", arena " << mebibytes(graph.memory().arena)
            << '\n';
  const auto steps = graph.plan();
  for (std::size_t i = 0; i < steps.size(); ++i)
    std::cout << (times.empty() ? "" : milliseconds(times[i])) << "  " << printable(steps[i])
              << '\n';
  if (!times.empty())
    std::cout << milliseconds(std::accumulate(times.begin(), times.end(), 0.0))
              << "  in all steps\n";
}

void inspect_model(const InspectOptions& options, bool force_progress) {
  auto files = files_of(options.constants, "--constant");
  files.insert(files.begin(), {"MODEL", options.model});
  check_files(files);
  const polychron::onnx::ImportOptions import{parse_bindings(options.bindings),
                                              read_constants(options.constants)};
  Progress progress(force_progress);
  progress.show("loading the model");
  auto model = load_model(options.model);
  auto description = to_json(model.summary());
  progress.clear();
  if (!options.json) print(model.summary());
  if (options.plan || options.time || !import.bindings.empty() || !import.constants.empty()) {
    const auto label = model.summary().graph_name;
    const auto opened = open_session(std::move(model), import, options.workers, label, progress);
    progress.clear();
    const auto& graph = opened->session.graph();
    std::vector<double> times;
    if (options.time) {
      progress.show("timing the steps");
      std::mt19937_64 random(1);
      for (const auto& step :
           step_times(opened->session, random_inputs(opened->session, random), options.seconds))
        times.push_back(step.seconds);
      progress.clear();
    }
    if (!options.json) return print_plan(graph, times);
    description["plan"] = {{"steps", graph.plan()},
                           {"constant_bytes", graph.memory().constants},
                           {"arena_bytes", graph.memory().arena}};
    if (options.time) description["plan"]["seconds"] = times;
  }
  if (options.json) std::cout << to_text(description) << '\n';
}

}  // namespace

void add_inspect(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<InspectOptions>();
  auto* command =
      app.add_subcommand("inspect", "Show a model's inputs, outputs, operators and plan");
  command->footer(inspect_footer);
  add_model_options(*command, *options);
  command->add_flag("--plan", options->plan, "Compile the model and show the plan");
  command->add_flag("--time", options->time,
                    "Also run it, and show the time of each step of the plan");
  command->add_option("--seconds", options->seconds, "Duration of the runs for --time")
      ->check(between(0.01, 3600))
      ->type_name("S")
      ->capture_default_str();
  add_threads_option(*command, options->workers.threads);
  add_device_option(*command, options->workers.device);
  command->add_flag("--json", options->json, "Print as JSON");
  command->callback([options, &globals] { inspect_model(*options, globals.progress); });
}

}  // namespace tool
