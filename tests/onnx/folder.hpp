// A folder on the disk for models and what lies beside them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace onnx_tests {

/// A fresh folder with the models in model/, removed at the end.
struct Folder {
  std::filesystem::path root;
  Folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "polychron-onnx-XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root = pattern;
    std::filesystem::create_directories(root / "model" / "weights");
  }
  ~Folder() { std::filesystem::remove_all(root); }

  void write(const std::filesystem::path& name, const std::string& bytes) const {
    std::ofstream(root / name, std::ios::binary) << bytes;
  }
};

}  // namespace onnx_tests
