// The allowed dependencies between folders: includes and linked symbols are checked against them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace style {

/// For each folder the folders and libraries whose headers it may include, besides its own and the
/// standard library's. "include" is include/polychron.
inline const std::map<std::string, std::set<std::string>> allowed{
    {"include", {}},
    {"base", {"include"}},
    {"ops", {"base", "include"}},
    {"kernels", {"base", "ops", "include", "oneapi", "Eigen", "unsupported", "hwy", "omp.h", "CL"}},
    {"messages", {"base", "kernels", "ops", "include", "caf", "boost/container"}},
    {"observe/recording", {"base", "messages", "kernels", "ops", "include"}},
    {"actors", {"base", "messages", "kernels", "ops", "include", "caf", "boost/container"}},
    {"runtime",
     {"base", "observe/recording", "actors", "messages", "kernels", "ops", "include", "caf",
      "boost/container"}},
    {"onnx", {"include", "onnx", "google", "boost/container"}},
    {"apps/text", {"include", "nlohmann"}},
    {"apps/tool/conformance", {"ops", "include", "nlohmann"}},
    {"examples", {"include"}},
    {"apps/ocr", {"include", "opencv2", "nlohmann"}},
    {"observe/stress",
     {"base", "runtime", "observe/recording", "actors", "messages", "kernels", "ops", "include",
      "caf", "nlohmann"}},
    {"observe/trace", {"observe/recording", "include", "nlohmann", "boost/archive", "zlib.h"}},
    {"observe/replay",
     {"base", "ops", "kernels", "messages", "observe/recording", "runtime", "observe/stress",
      "observe/trace", "include"}},
    {"apps/tool",
     {"base", "include", "apps/tool/conformance", "observe/replay", "observe/stress",
      "observe/trace", "CLI", "nlohmann"}},
    {"tests/fuzz", {"ops", "apps/tool", "include", "onnx", "apps/text", "google", "fuzzer"}},
    {"tests/bench", {"actors", "benchmark", "include"}},
};

/// The longest folder of the table that `path` is in, "" for none: "observe/trace" for
/// "observe/trace/json.hpp".
inline std::string folder_of(std::string_view path) {
  std::string longest;
  for (const auto& [folder, targets] : allowed)
    if (path.starts_with(folder + "/") && folder.size() > longest.size()) longest = folder;
  return longest;
}

}  // namespace style
