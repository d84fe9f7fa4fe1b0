#include "tests/kernels/coverage.hpp"

#include <iomanip>
#include <set>
#include <sstream>

namespace polychron::tests {

namespace {

constexpr int operator_width = 23, implementation_width = 17, type_width = 9;

bool allows(const ops::Row& row, DataType type) {
  return row.operands()[telling_operand(row)].types.has(type);
}

}  // namespace

void Coverage::count(const GeneratedCall& call, const std::vector<Run>& runs) {
  const auto& told = call.operands[telling_operand(*call.row)];
  Cell& cell = cells_[{ops::id(*call.row), told.descriptor.data_type}];
  ++cell.calls;
  ++calls_;
  runs_ += runs.size();
  std::set<std::size_t> took;
  for (const Run& run : runs) took.insert(run.implementation);
  for (const std::size_t implementation : took) ++cell.by[implementation];
  if (took.empty()) ++cell.reference_only;
}

std::string Coverage::table() const {
  std::ostringstream text;
  text << std::left << std::setw(operator_width) << "operator" << std::setw(implementation_width)
       << "implementation" << std::right;
  for (const DataType type : all_data_types) text << std::setw(type_width) << to_string(type);
  text << '\n';
  for (const ops::Row& row : ops::rows()) {
    const auto line = [&](const std::string& implementation, auto&& number) {
      text << std::left << std::setw(operator_width) << row.name << std::setw(implementation_width)
           << implementation << std::right;
      for (const DataType type : all_data_types) {
        const auto cell = cells_.find({ops::id(row), type});
        if (!allows(row, type))
          text << std::setw(type_width) << '-';
        else
          text << std::setw(type_width) << (cell == cells_.end() ? 0 : number(cell->second));
      }
      text << '\n';
    };
    const auto list = ways_of(ops::id(row));
    std::map<std::string_view, int> named;
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      const int number = ++named[list[i].name];
      const auto name =
          std::string(list[i].name) + (number > 1 ? " " + std::to_string(number) : "");
      line(name, [&](const Cell& cell) {
        const auto found = cell.by.find(i);
        return found == cell.by.end() ? 0 : found->second;
      });
    }
    line("reference only", [](const Cell& cell) { return cell.reference_only; });
  }
  return text.str();
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> list;
  for (const ops::Row& row : ops::rows())
    for (const DataType type : all_data_types)
      if (allows(row, type) && !cells_.contains({ops::id(row), type}))
        list.push_back(std::string(row.name) + " of " + std::string(to_string(type)));
  return list;
}

}  // namespace polychron::tests
