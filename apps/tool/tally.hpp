// The outcomes of test cases: counted by operator, shown as a table, as JSON and as a closing line.
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

  /// `outcome` is an index; `reason` may be empty.
  void count(const std::string& operator_name, std::size_t outcome, const std::string& reason);
  std::size_t total(std::size_t outcome) const;

  /// One line for each operator, with its counts in columns.
  std::string table() const;
  /// "14  argMax is not in the operator table": the count of each reason for `outcome`, most
  /// frequent first.
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
