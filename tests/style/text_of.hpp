// A file of the project, as text.
#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/paths.hpp"

namespace style {

/// The project's folder.
inline const std::filesystem::path root = polychron::testing::source_directory();

/// `file` is relative to the project's root.
inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(root / file);
  BOOST_REQUIRE_MESSAGE(in, file << " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace style
