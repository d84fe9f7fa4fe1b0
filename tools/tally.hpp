// What became of cases: counted by operator, shown as a table, as JSON and as a closing line.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tool {

/// Counts of each of `outcomes`, whose names are in a fixed order: "passed", "failed", ... Used by
/// one thread.
class Tally {
 public:
  explicit Tally(std::vector<std::string> outcomes) : outcomes_(std::move(outcomes)) {}

  /// `outcome` is an index; `reason` is empty for what needs none.
  void count(const std::string& operator_name, std::size_t outcome, const std::string& reason);
  std::size_t total(std::size_t outcome) const;

  /// A line for each operator, its counts in columns.
  std::string table() const;
  /// "14  argMax is not in the operator table": how often each reason was given for `outcome`,
  /// most frequent first.
  std::string reasons(std::size_t outcome) const;
  /// "1134 passed, 0 failed, 96 skipped".
  std::string closing_line() const;
  /// {"passed": 3, ..., "operators": {"add": {"passed": 3, ...}}}.
  nlohmann::json to_json() const;

 private:
  std::vector<std::string> outcomes_;
  std::map<std::string, std::vector<std::size_t>> operators_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> reasons_;
};

}  // namespace tool
