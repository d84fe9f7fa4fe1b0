// Writes seeds for the corpora. For fuzz_onnx: ONNX's node tests as they are, and with their inputs
// as initializers, which leads through the importer's own arithmetic. For fuzz_npy: a few headers.
// Usage: fuzz_seeds ONNX-DATA SEEDS
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest = 16U << 10;  // small ones run faster, and show as much

template <class Message>
bool read(const fs::path& path, Message& message) {
  if (!fs::exists(path) || fs::file_size(path) > largest) return false;
  std::ifstream file(path, std::ios::binary);
  return message.ParseFromIstream(&file);
}

void write(const fs::path& path, const onnx::ModelProto& model) {
  std::ofstream file(path, std::ios::binary);
  model.SerializeToOstream(&file);
}

/// Gives inputs the test's values, if these have a moderate size; false if there is none.
bool give_values(onnx::ModelProto& model, const fs::path& test) {
  bool any = false;
  auto& graph = *model.mutable_graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto file = test / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    onnx::TensorProto tensor;
    const bool is_tensor = graph.input(i).type().has_tensor_type();
    if (!is_tensor || !read(file, tensor)) continue;
    tensor.set_name(graph.input(i).name());
    *graph.add_initializer() = tensor;
    any = true;
  }
  return any;
}

void write_models(const fs::path& data, const fs::path& corpus) {
  fs::create_directories(corpus);
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    onnx::ModelProto model;
    if (entry.path().extension() != ".onnx" || !read(entry.path(), model)) continue;
    const auto test = entry.path().parent_path();
    write(corpus / test.filename(), model);
    if (give_values(model, test)) write(corpus / (test.filename().string() + "_known"), model);
  }
}

void write_arrays(const fs::path& corpus) {
  fs::create_directories(corpus);
  for (const std::string type : {"<f4", "<i8", "|b1", "<f2", ">f4"})
    for (const std::string shape : {"()", "(2,)", "(1, 2)"}) {
      const auto text =
          "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
      std::ofstream file(corpus / (type.substr(1) + shape), std::ios::binary);
      file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(text.size()) << '\0' << text
           << std::string(static_cast<std::size_t>(type.back() - '0') * (shape == "()" ? 1 : 2), 0);
    }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const fs::path seeds = arguments[2];
  write_models(arguments[1], seeds / "onnx");
  write_arrays(seeds / "npy");
}
