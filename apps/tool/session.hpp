// From the command line to a session, for `run`, `bench` and `inspect`.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tool/named_files.hpp"
#include "apps/tool/npy.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/threads.hpp"
#include "apps/tool/trace_file.hpp"
#include "polychron/onnx.hpp"
#include "polychron/polychron.hpp"
#include "polychron/session.hpp"

namespace tool {

using Bindings = std::map<std::string, polychron::Shape>;
using Constants = std::map<std::string, polychron::onnx::TensorValue>;

/// MODEL, --bind and --constant.
struct ModelOptions {
  std::string model;
  std::vector<std::string> bindings, constants;
};
void add_model_options(CLI::App& command, ModelOptions& options);

/// A model or an array, from a file or from standard input. Throws UserError and polychron::Error.
polychron::onnx::Model load_model(const std::string& path);
NpyArray load_array(const std::string& path);

/// The label of the model's graphs.
std::string label_of(const std::string& model_path);

/// "x=1x3x48x320", "batch=1". Throws UserError.
Bindings parse_bindings(const std::vector<std::string>& arguments);

/// Splits "NAME=VALUE" at the first '='. Throws UserError with the form that `option` expects.
std::pair<std::string, std::string> split_assignment(const std::string& argument,
                                                     std::string_view option,
                                                     std::string_view expected);

/// The files of NAME=FILE.npy options, before any of them is read. Throws UserError.
std::vector<NamedFile> files_of(const std::vector<std::string>& arguments, std::string_view option);

/// "axes=axes.npy". Throws UserError.
Constants read_constants(const std::vector<std::string>& arguments);

/// A runtime with one context, and the model on it.
struct Opened {
  explicit Opened(const std::string& trace) : recording(runtime, trace) {}
  polychron::Runtime runtime;
  TraceFile recording;
  polychron::onnx::Session session;

  /// Ends the session, and writes the recording. Throws UserError if it cannot be written.
  void close();
};

/// Imports and compiles the model, shows progress, and then drops the model. Records to `trace`
/// unless that is empty. Throws polychron::Error, and UserError if an option would help.
std::unique_ptr<Opened> open_session(polychron::onnx::Model model,
                                     const polychron::onnx::ImportOptions& options,
                                     const Workers& workers, const std::string& label,
                                     Progress& progress, const std::string& trace = {});

}  // namespace tool
