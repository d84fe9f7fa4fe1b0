// The coverage of generated calls: operator x type x implementation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/comparison.hpp"
#include "tests/kernels/generated_call.hpp"

namespace polychron::tests {

class Coverage {
 public:
  void count(const GeneratedCall& call, const std::vector<Run>& runs);
  /// A line for each implementation of each operator, and one for what only the reference takes;
  /// a column for each type. "-": the row does not allow the type.
  std::string table() const;
  /// Calls that the row allows and that were not made, "add of int8".
  std::vector<std::string> missing() const;
  std::uint64_t calls() const { return calls_; }
  /// Runs of implementations besides the reference, in all layouts.
  std::uint64_t runs() const { return runs_; }

 private:
  struct Cell {
    std::uint64_t calls = 0;
    std::uint64_t reference_only = 0;
    std::map<std::size_t, std::uint64_t> by;  ///< calls that implementation number ... took
  };
  std::map<std::pair<ops::OpId, DataType>, Cell> cells_;
  std::uint64_t calls_ = 0, runs_ = 0;
};

}  // namespace polychron::tests
