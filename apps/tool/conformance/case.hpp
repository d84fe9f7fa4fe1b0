// Conformance cases: a runner builds one with the public builder, runs it on a context, and judges
// it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/tool/conformance/compare.hpp"
#include "polychron/polychron.hpp"

namespace polychron::conformance {

enum class Outcome { passed, failed, skipped };

/// The result of a case.
struct Verdict {
  Outcome outcome = Outcome::passed;
  std::string reason;  ///< one line; empty if it passed
  /// The element that is farthest beyond its tolerance, if numbers are wrong.
  struct Worst {
    std::string output;
    Difference difference;
    std::string metric;
    double allowed = 0;
  };
  std::optional<Worst> worst;
};

/// Runs cases, one after the other. Used by one thread.
class Runner {
 public:
  explicit Runner(Zeros zeros = Zeros::alike, std::string device = "cpu");
  /// Never throws because of the case: a malformed one has failed, with the reason. A case is
  /// skipped if its operator is not in the operator table.
  Verdict run(const nlohmann::json& test);

 private:
  Runtime runtime_;
  const std::string device_;
  Context context_;
  Zeros zeros_;
};

/// The operator of a case; "subgraph" if it has several, "" if it cannot be found.
std::string operator_of(const nlohmann::json& test);
/// True if `name` occurs in the case.
bool has_operator(const nlohmann::json& test, const std::string& name);
/// Its "name", or "".
std::string name_of(const nlohmann::json& test);

/// The .json files of `directory`, sorted. Throws std::filesystem::filesystem_error.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory);
/// The cases of a file. Throws Malformed, in one line, if it cannot be read or is no JSON array.
std::vector<nlohmann::json> cases_of(const std::filesystem::path& file);

}  // namespace polychron::conformance
