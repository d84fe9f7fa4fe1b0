// polychron run: runs a model on inputs from .npy files, and writes its outputs to .npy files.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/input_file.hpp"
#include "apps/tool/npy.hpp"
#include "apps/tool/output_files.hpp"
#include "apps/tool/platform.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/session.hpp"
#include "apps/tool/threads.hpp"

namespace tool {
namespace {

using polychron::onnx::Summary;
using polychron::onnx::ValueInfo;
using Inputs = std::map<std::string, NpyArray>;

struct RunOptions : ModelOptions {
  std::string output_directory, trace;
  std::vector<std::string> inputs;
  Workers workers;
};

constexpr const char* run_footer =
    R"(Inputs are little-endian .npy files of the type that the model declares (bool and uint8
both serve for bool, float64 and float32 for double, int32 also for int16 and uint16). Free
dimensions that are not bound are those of the file. What an operator needs to know when the model
is imported (axes, shapes, scales) is given with --constant in place of --input. Each output becomes
DIR/NAME.npy; characters of NAME that file names should not have become '_'. One of MODEL and the
inputs may be -, standard input.
With --output-dir - the output goes to standard output, if the model has only one.

Examples:
  polychron run mnist.onnx --input Input3=digit.npy --output-dir results
  polychron run bert.onnx --input input_ids=ids.npy --input attention_mask=mask.npy \
                          --output-dir results --bind batch=1
  polychron run double.onnx --input x=- --output-dir - < x.npy > y.npy)";

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
    inputs.emplace(std::move(name), load_array(file));
  }
  return inputs;
}

bool fits(const ValueInfo& info, const NpyArray& array) {
  const auto& [type, shape] = array.descriptor;
  if (info.data_type && *info.data_type != type) return false;
  if (!array.carried.empty() && info.type != array.carried) return false;
  if (!info.dimensions) return true;
  return std::equal(info.dimensions->begin(), info.dimensions->end(), shape.begin(), shape.end(),
                    [](const auto& dimension, std::uint32_t size) {
                      return !dimension.value || *dimension.value == size;
                    });
}

/// Checks that exactly the non-constant inputs of the model are given, each with the declared type
/// and shape.
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
      throw UserError("input '" + info.name + "': the file has " + to_string(input->second) +
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

/// Checks the files against --bind, which may give another shape.
void check_shapes(const polychron::onnx::Session& session, const Inputs& inputs) {
  for (const auto& [name, descriptor] : session.inputs()) {
    const auto& given = inputs.at(name).descriptor;
    if (given != descriptor)
      throw UserError("input '" + name + "': the file has " + to_string(given) + ", expected " +
                      to_string(descriptor));
  }
}

std::string file_name(std::string output) {
  constexpr std::size_t longest = 200;  // file systems allow 255 bytes, some of which the tool adds
  if (output.size() > longest) output.resize(longest);
  const auto is_odd = [](char c) {
    return std::string_view("/\\:*?\"<>| ").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  std::replace_if(output.begin(), output.end(), is_odd, '_');
  // Refuse names that are not text or that a terminal would obey when it lists the directory.
  if (printable(output) != output)
    std::replace_if(
        output.begin(), output.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7e; },
        '_');
  return output + ".npy";
}

/// One file name for each output, all different.
std::vector<std::string> file_names(const std::vector<std::string>& outputs) {
  std::set<std::string> taken;
  std::vector<std::string> files;
  for (const auto& output : outputs) {
    auto file = file_name(output);
    while (!taken.insert(file).second) file = std::to_string(files.size()) + "_" + file;
    files.push_back(std::move(file));
  }
  return files;
}

/// Converts elements to the type of their operand.
void convert(Inputs& inputs) {
  for (auto& [name, array] : inputs) {
    if (array.carried.empty()) continue;
    const auto type = array.descriptor.data_type;
    try {
      array.bytes = polychron::onnx::operand_bytes(to_value(std::move(array)), type);
      array.carried = {};
    } catch (const polychron::Error& error) {
      throw UserError("input '" + name + "': " + error.message());
    }
  }
}

/// The outputs that the model declares as bool.
std::set<std::string> bools_of(const Summary& model) {
  std::set<std::string> names;
  for (const auto& output : model.outputs)
    if (output.type == "bool") names.insert(output.name);
  return names;
}

/// Makes the elements of a bool output 0 or 1, whatever values passed through the model.
void make_bools(polychron::Buffer& bytes) {
  for (auto& byte : bytes.as<std::uint8_t>()) byte = byte != 0 ? 1 : 0;
}

void write_outputs(const RunOptions& options, const polychron::NamedDescriptors& outputs,
                   const std::set<std::string>& bools, const polychron::NamedBuffers& results) {
  const OutputDirectory directory(options.output_directory);
  OutputFiles files;
  std::string report;
  std::vector<std::string> names;
  for (const auto& [name, descriptor] : outputs) names.push_back(name);
  names = file_names(names);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [name, descriptor] = outputs[i];
    const bool is_bool = bools.contains(name);
    const auto header = npy_header(descriptor, is_bool);
    const auto path = directory.path() / names[i];
    files.add(path, {std::as_bytes(std::span(header)), results[i].second.bytes()});
    report += printable(name) + "  " +
              (is_bool ? "bool " + polychron::to_string(descriptor.shape) : to_string(descriptor)) +
              "  " + printable(path.string()) + '\n';
  }
  files.commit();
  std::cout << report;
}

/// Checks before the work that the outputs can be written.
void require_outputs_place(const RunOptions& options, const Summary& model) {
  if (options.output_directory != standard_stream) {
    require_output_directory(options.output_directory);
    std::vector<std::string> names;
    for (const auto& output : model.outputs) names.push_back(output.name);
    std::vector<NamedFile> written{{"--output-dir", options.output_directory}};
    for (const auto& file : file_names(names))
      written.push_back({"the output '" + names[written.size() - 1] + "'",
                         (std::filesystem::path(options.output_directory) / file).string()});
    written.push_back({"--trace", options.trace});
    return check_files({}, written);
  }
  if (model.outputs.size() != 1)
    throw UserError("--output-dir -: standard output takes one output, and the model has " +
                    std::to_string(model.outputs.size()) + "; expected a directory");
  if (stdout_is_terminal())
    throw UserError("--output-dir -: standard output is a terminal, expected a file or a pipe");
}

void write_to_standard_output(const polychron::OperandDescriptor& descriptor, bool is_bool,
                              const polychron::Buffer& bytes) {
  std::cout << npy_header(descriptor, is_bool);
  std::cout.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
}

void run_model(const RunOptions& options, bool force_progress) {
  const auto given_bindings = parse_bindings(options.bindings);
  auto files = files_of(options.inputs, "--input");
  for (auto& file : files_of(options.constants, "--constant")) files.push_back(std::move(file));
  files.insert(files.begin(), {"MODEL", options.model});
  check_files(files, {{"--trace", options.trace}});
  auto inputs = read_inputs(options.inputs);
  const auto constants = read_constants(options.constants);
  Progress progress(force_progress);
  progress.show("loading the model");
  auto model = load_model(options.model);
  check_inputs(model.summary(), inputs, constants);
  convert(inputs);
  const polychron::onnx::ImportOptions import{
      complete_bindings(given_bindings, model.summary(), inputs), constants};
  require_outputs_place(options, model.summary());
  const auto bools = bools_of(model.summary());

  const auto opened = open_session(std::move(model), import, options.workers,
                                   label_of(options.model), progress, options.trace);
  const auto& session = opened->session;
  check_shapes(session, inputs);
  progress.show("running");
  polychron::NamedBuffers buffers;
  for (const auto& [name, descriptor] : session.inputs())
    buffers.emplace_back(name, std::move(inputs.at(name).bytes));
  auto outputs = session.run(std::move(buffers)).get();
  for (auto& [name, bytes] : outputs)
    if (bools.contains(name)) make_bools(bytes);
  progress.clear();
  if (options.output_directory == standard_stream)
    write_to_standard_output(session.outputs().front().second,
                             bools.contains(session.outputs().front().first),
                             outputs.front().second);
  else
    write_outputs(options, session.outputs(), bools, outputs);
  opened->close();
}

}  // namespace

void add_run(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run a model on inputs from .npy files");
  command->footer(run_footer);
  add_model_options(*command, *options);
  command->add_option("--input", options->inputs, "A value for an input; repeatable")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command
      ->add_option("--output-dir", options->output_directory,
                   "Directory for the outputs; - for standard output")
      ->type_name("DIR")
      ->required()
      ->check(not_empty("a directory"));
  add_workers_options(*command, options->workers);
  add_trace_option(*command, options->trace);
  command->callback([options, &globals] { run_model(*options, globals.progress); });
}

}  // namespace tool
