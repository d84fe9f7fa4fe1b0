// The allowed dependencies between folders: includes and linked symbols are checked against them.
#pragma once

#include <map>
#include <set>
#include <string>

namespace style {

/// For each folder the folders and libraries whose headers it may include, besides its own and the
/// standard library's. "include" is include/polychron.
inline const std::map<std::string, std::set<std::string>> allowed{
    {"include", {}},
    {"base", {"include"}},
    {"ops", {"base", "include"}},
    {"kernels", {"base", "ops", "include", "oneapi", "Eigen", "unsupported", "hwy", "omp.h"}},
    {"messages", {"base", "kernels", "ops", "include", "caf", "boost/container"}},
    {"recording", {"base", "messages", "kernels", "ops", "include"}},
    {"actors", {"base", "messages", "kernels", "ops", "include", "caf", "boost/container"}},
    {"runtime",
     {"base", "recording", "actors", "messages", "kernels", "ops", "include", "caf",
      "boost/container"}},
    {"onnx", {"include", "onnx", "google", "boost/container"}},
    {"conformance", {"ops", "include", "nlohmann"}},
    {"examples", {"include", "opencv2", "nlohmann"}},
    {"stress",
     {"base", "runtime", "recording", "actors", "messages", "kernels", "ops", "include", "caf",
      "nlohmann"}},
    {"trace", {"recording", "include", "nlohmann", "boost/archive", "zlib.h"}},
    {"replay",
     {"base", "ops", "kernels", "messages", "recording", "runtime", "stress", "trace", "include"}},
    {"tools", {"base", "include", "conformance", "replay", "stress", "trace", "CLI", "nlohmann"}},
    {"fuzz", {"ops", "tools", "include", "onnx", "google", "fuzzer"}},
    {"bench", {"actors", "benchmark", "include"}},
};

}  // namespace style
