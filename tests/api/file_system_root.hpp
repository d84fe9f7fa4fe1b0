// A file system of a test's own, in which the library looks for limits of the process.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace polychron::testing {

class Root {
 public:
  Root() {
    auto name = (std::filesystem::temp_directory_path() / "polychron.XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << content;
  }

 private:
  std::string path_;
};

}  // namespace polychron::testing
