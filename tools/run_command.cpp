// polychron run: a model on inputs from .npy files; its outputs become .npy files.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.hpp"
#include "tools/npy.hpp"
#include "tools/output_files.hpp"
#include "tools/progress.hpp"
#include "tools/session.hpp"
#include "tools/threads.hpp"

namespace tool {
namespace {

using polychron::onnx::Summary;
using polychron::onnx::ValueInfo;
using Inputs = std::map<std::string, NpyArray>;

struct Options {
  std::string model, output_directory;
  std::vector<std::string> inputs, constants, bindings;
  int threads = 1;
};

constexpr const char* footer =
    R"(Inputs are little-endian .npy files in C order of the type that the model declares (bool and
uint8 both serve for bool). Free dimensions that are not bound are those of the file. What an
operator needs to know when the model is imported (axes, shapes, scales) is given with --constant in
place of --input. Each output becomes DIR/NAME.npy; characters of NAME that file names should not
have become '_'.

Examples:
  polychron run mnist.onnx --input Input3=digit.npy --output-dir results
  polychron run bert.onnx --input input_ids=ids.npy --input attention_mask=mask.npy \
                          --output-dir results --bind batch=1)";

std::string names_of(const std::vector<ValueInfo>& values) {
  std::string names;
  for (const auto& value : values) names += (names.empty() ? "'" : ", '") + value.name + "'";
  return names.empty() ? "none" : names;
}

Inputs read_inputs(const std::vector<std::string>& arguments) {
  Inputs inputs;
  for (const auto& argument : arguments) {
    auto [name, file] = split_assignment(argument, "--input", "NAME=FILE.npy");
    if (inputs.count(name) != 0) throw UserError("--input " + name + " is given twice");
    inputs.emplace(std::move(name), read_npy(file));
  }
  return inputs;
}

bool fits(const ValueInfo& info, const NpyArray& array) {
  const auto& [type, shape] = array.descriptor;
  if (info.data_type && *info.data_type != type) return false;
  if (array.is_bool && info.type != "bool") return false;
  if (!info.dimensions) return true;
  return std::equal(info.dimensions->begin(), info.dimensions->end(), shape.begin(), shape.end(),
                    [](const auto& dimension, std::uint32_t size) {
                      return !dimension.value || *dimension.value == size;
                    });
}

/// Every input of the model that is no constant is there, no other is, and each is of the declared
/// type and shape.
void check_inputs(const Summary& model, const Inputs& inputs, const Constants& constants) {
  for (const auto& [name, array] : inputs) {
    const auto is_it = [&name = name](const auto& info) { return info.name == name; };
    if (constants.contains(name))
      throw UserError("--input " + name + " is also given with --constant");
    if (std::none_of(model.inputs.begin(), model.inputs.end(), is_it))
      throw UserError("--input " + name + ": the model has no such input, it has " +
                      names_of(model.inputs));
  }
  for (const auto& info : model.inputs) {
    if (constants.contains(info.name)) continue;
    const auto input = inputs.find(info.name);
    if (input == inputs.end())
      throw UserError("input '" + info.name + "' is missing: expected --input " + info.name +
                      "=FILE.npy with " + to_string(info));
    if (!fits(info, input->second))
      throw UserError("input '" + info.name + "': the file has " +
                      (input->second.is_bool
                           ? "bool " + polychron::to_string(input->second.descriptor.shape)
                           : to_string(input->second.descriptor)) +
                      ", expected " + to_string(info));
  }
}

/// Inputs with free dimensions that --bind does not mention take the shape of their file.
Bindings complete_bindings(Bindings bindings, const Summary& model, const Inputs& inputs) {
  for (const auto& info : model.inputs) {
    const auto input = inputs.find(info.name);
    if (input == inputs.end()) continue;  // a constant
    const auto& shape = input->second.descriptor.shape;
    const auto decided = [&](const auto& dimension) {
      return dimension.value || bindings.count(dimension.symbol) != 0;
    };
    if (!info.dimensions || !std::all_of(info.dimensions->begin(), info.dimensions->end(), decided))
      bindings.emplace(info.name, shape);
  }
  return bindings;
}

/// What --bind says may differ from what the file has.
void check_shapes(const polychron::Graph& graph, const Inputs& inputs) {
  for (const auto& [name, descriptor] : graph.inputs()) {
    const auto& given = inputs.at(name).descriptor;
    if (given != descriptor)
      throw UserError("input '" + name + "': the file has " + to_string(given) + ", expected " +
                      to_string(descriptor));
  }
}

std::string file_name(std::string output) {
  const auto is_odd = [](char c) {
    return std::string_view("/\\:*?\"<>| ").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) < 0x20;
  };
  std::replace_if(output.begin(), output.end(), is_odd, '_');
  return output + ".npy";
}

void write_outputs(const std::string& directory, const polychron::NamedDescriptors& outputs,
                   std::vector<polychron::Future<polychron::Buffer>> replies) {
  std::error_code ignored;  // if it fails, so does writing into it
  std::filesystem::create_directory(directory, ignored);
  OutputFiles files;
  std::set<std::string> names;
  std::string report;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& [name, descriptor] = outputs[i];
    auto file = file_name(name);
    if (!names.insert(file).second) names.insert(file = std::to_string(i) + "_" + file);
    const auto bytes = replies[i].get();
    const auto header = npy_header(descriptor);
    const auto path = std::filesystem::path(directory) / file;
    files.add(path, {std::as_bytes(std::span(header)), bytes.bytes()});
    report += name + "  " + to_string(descriptor) + "  " + path.string() + '\n';
  }
  files.commit();
  std::cout << report;
}

void run_model(const Options& options, bool force_progress) {
  const auto given_bindings = parse_bindings(options.bindings);
  const auto inputs = read_inputs(options.inputs);
  const auto constants = read_constants(options.constants);
  Progress progress(force_progress);
  progress.show("loading the model");
  const auto model = polychron::onnx::load(options.model);
  check_inputs(model.summary(), inputs, constants);
  const polychron::onnx::ImportOptions import{
      complete_bindings(given_bindings, model.summary(), inputs), constants};
  require_output_directory(options.output_directory);

  Session session(model, import, options.threads,
                  std::filesystem::path(options.model).stem().string(), progress);
  check_shapes(session.graph(), inputs);
  progress.show("running");
  const auto& graph_inputs = session.graph().inputs();
  for (std::size_t i = 0; i < graph_inputs.size(); ++i)
    session.write(i, inputs.at(graph_inputs[i].first).bytes.bytes());
  session.dispatch();
  auto replies = session.read();
  for (const auto& reply : replies) reply.wait();
  progress.clear();
  write_outputs(options.output_directory, session.graph().outputs(), std::move(replies));
}

}  // namespace

void add_run(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("run", "Run a model on inputs from .npy files");
  command->footer(footer);
  command->add_option("MODEL", options->model, "ONNX file, opset 1 to 21")->required();
  command->add_option("--input", options->inputs, "A value for an input; repeatable")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command->add_option("--constant", options->constants, constant_help)
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command->add_option("--output-dir", options->output_directory, "Where the outputs go")
      ->type_name("DIR")
      ->required();
  command->add_option("--bind", options->bindings, bind_help)
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  add_threads_option(*command, options->threads);
  command->callback([options, &globals] {
    make_threads_wait_passively(options->threads, globals.arguments);
    run_model(*options, globals.progress);
  });
}

}  // namespace tool
