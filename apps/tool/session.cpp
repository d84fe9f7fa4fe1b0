#include "apps/tool/session.hpp"

#include <charconv>
#include <limits>
#include <optional>

#include "apps/tool/arguments.hpp"
#include "apps/tool/free_dimensions.hpp"
#include "apps/tool/input_file.hpp"
#include "apps/tool/program.hpp"
#include "apps/tool/report.hpp"

namespace tool {
namespace {

/// "1x3x48x320"; nullopt if it is anything else.
std::optional<polychron::Shape> parse_shape(std::string_view text) {
  polychron::Shape shape;
  for (;;) {
    std::uint32_t dimension = 0;
    const auto* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, dimension);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(dimension);
    if (next == end) return shape;
    if (*next != 'x') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  }
}

}  // namespace

polychron::onnx::Model load_model(const std::string& path) {
  if (path != standard_stream) return polychron::onnx::load(path);
  const auto bytes = read_standard_input(std::numeric_limits<int>::max());  // protobuf's own limit
  try {
    return polychron::onnx::load(bytes);
  } catch (const polychron::Error& error) {
    throw polychron::Error(error.kind(), "standard input: " + error.message());
  }
}

NpyArray load_array(const std::string& path) {
  if (path != standard_stream) return read_npy(path);
  return parse_npy(read_standard_input(max_npy_bytes, npy_magic), standard_input_name);
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.model, "ONNX file, opset 1 to 28; - is standard input")
      ->required()
      ->check(not_empty("a file"));
  command
      .add_option(
          "--bind", options.bindings,
          "Sizes of free dimensions, by input (x=1x3x48x320) or by symbol (batch=1); repeatable")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  command
      .add_option("--constant", options.constants,
                  "A value of an input that the import needs, such as a shape; repeatable")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
}

std::string label_of(const std::string& model_path) {
  if (model_path == standard_stream) return "model";
  return std::filesystem::path(model_path).stem().string();
}

std::pair<std::string, std::string> split_assignment(const std::string& argument,
                                                     std::string_view option,
                                                     std::string_view expected) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size())
    throw UserError(std::string(option) + " " + argument + ": expected " + std::string(expected));
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::vector<NamedFile> files_of(const std::vector<std::string>& arguments,
                                std::string_view option) {
  std::vector<NamedFile> files;
  for (const auto& argument : arguments) {
    auto [name, file] = split_assignment(argument, option, "NAME=FILE.npy");
    files.push_back({std::string(option) + ' ' + name, std::move(file)});
  }
  return files;
}

Bindings parse_bindings(const std::vector<std::string>& arguments) {
  constexpr std::string_view expected = "NAME=1x3x48x320 or SYMBOL=1, of whole numbers";
  Bindings bindings;
  for (const auto& argument : arguments) {
    const auto [name, value] = split_assignment(argument, "--bind", expected);
    const auto shape = parse_shape(value);
    if (!shape) throw UserError("--bind " + argument + ": expected " + std::string(expected));
    if (!bindings.emplace(name, *shape).second)
      throw UserError("--bind " + argument + ": '" + name + "' is bound twice");
  }
  return bindings;
}

Constants read_constants(const std::vector<std::string>& arguments) {
  Constants constants;
  for (const auto& argument : arguments) {
    const auto [name, file] = split_assignment(argument, "--constant", "NAME=FILE.npy");
    if (constants.contains(name)) throw UserError("--constant " + name + " is given twice");
    constants.emplace(name, to_value(load_array(file)));
  }
  return constants;
}

namespace {

/// Throws the import's error with a hint: the option that gives a needed value or binds a free
/// dimension.
[[noreturn]] void tell(const polychron::Error& error, const polychron::onnx::Summary& model,
                       const polychron::onnx::ImportOptions& options) {
  const auto missing = missing_bindings(model, options);
  if (error.kind() == polychron::ErrorKind::type_error && !missing.empty())
    throw UserError(error.message() + "; for example: " + missing);
  if (error.message().find(polychron::onnx::needs_value) == std::string::npos) throw error;
  throw UserError(error.message() + ": give the input that it comes from with --constant");
}

}  // namespace

void Opened::close() {
  session = {};
  recording.write();
}

std::unique_ptr<Opened> open_session(polychron::onnx::Model model,
                                     const polychron::onnx::ImportOptions& options,
                                     const Workers& workers, const std::string& label,
                                     Progress& progress, const std::string& trace) {
  auto opened = std::make_unique<Opened>(trace);
  polychron::ContextOptions context_options;
  context_options.label = "polychron";
  context_options.threads = workers.threads;
  context_options.lanes = workers.lanes;
  context_options.device = workers.device;
  const auto context = opened->runtime.create_context(context_options).get();

  const auto warning = [&](const std::string& text) {
    progress.clear();
    warn("warning: " + text);
  };
  progress.show("importing the model");
  const auto summary = model.summary();
  try {
    auto building = [&](const polychron::onnx::Model imported) {
      return polychron::onnx::Session::build(context, imported,
                                             {options.bindings, options.constants, warning, label});
    }(std::move(model));
    progress.show("compiling the graph");
    opened->session = building.get();
    if (opened->session.any_shape()) opened->session.graph();  // throws: it says what is free
  } catch (const polychron::Error& error) {
    tell(error, summary, options);
  }
  return opened;
}

}  // namespace tool
