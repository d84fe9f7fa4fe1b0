// A small model and an input that fits, in a directory of their own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/tool/npy.hpp"
#include "tests/tool/command.hpp"
#include "tests/tool/models.hpp"

namespace test_tool {

/// The model of write_model(), its input x, and a directory for outputs that does not exist yet.
struct SmallFiles {
  using Strings = std::vector<std::string>;

  SmallFiles() {
    write_model(model);
    write_input("x.npy", {polychron::DataType::float32, {2, 4}});
  }

  /// An array file of the descriptor's size: 10, 20, ... 80, whatever the type; then zeros.
  std::string write_input(const std::string& name, const polychron::OperandDescriptor& descriptor) {
    const std::vector<float> values{10, 20, 30, 40, 50, 60, 70, 80};
    std::string elements(reinterpret_cast<const char*>(values.data()), sizeof(float) * 8);
    elements.resize(*polychron::byte_length(descriptor));
    write_text(directory / name, tool::npy_header(descriptor) + elements);
    return directory / name;
  }

  Strings run_with(const std::string& model_path, const std::string& input,
                   const std::string& output) const {
    return {"run", model_path, "--input", "x=" + input, "--output-dir", output};
  }
  Strings run(const Strings& more = {}) const {
    auto arguments = run_with(model, array, outputs);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryDirectory directory;
  std::string model = directory / "small.onnx";
  std::string array = directory / "x.npy";
  std::string outputs = directory / "outputs";
  const std::vector<float> sums{11, 22, 33, 44, 51, 62, 73, 84};
};

}  // namespace test_tool
