#include "apps/tool/tally.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace tool {

void Tally::count(const std::string& operator_name, std::size_t outcome,
                  const std::string& reason) {
  const auto row = operators_.try_emplace(operator_name, outcomes_.size(), 0).first;
  ++row->second.at(outcome);
  if (!reason.empty()) ++reasons_[{outcome, reason}];
}

std::size_t Tally::total(std::size_t outcome) const {
  std::size_t sum = 0;
  for (const auto& [name, counts] : operators_) sum += counts[outcome];
  return sum;
}

std::string Tally::table() const {
  std::size_t width = 8;
  for (const auto& [name, counts] : operators_) width = std::max(width, name.size());
  std::ostringstream text;
  text << std::left << std::setw(static_cast<int>(width)) << "operator" << std::right;
  for (const auto& outcome : outcomes_) text << std::setw(9) << outcome;
  for (const auto& [name, counts] : operators_) {
    text << '\n' << std::left << std::setw(static_cast<int>(width)) << name << std::right;
    for (const auto count : counts) text << std::setw(9) << count;
  }
  text << '\n';
  return text.str();
}

std::string Tally::reasons(std::size_t outcome) const {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [key, count] : reasons_)
    if (key.first == outcome) found.emplace_back(count, key.second);
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::ostringstream text;
  for (const auto& [count, reason] : found)
    text << outcomes_[outcome] << std::setw(6) << count << "  " << reason << '\n';
  return text.str();
}

std::string Tally::closing_line() const {
  std::string text;
  for (std::size_t i = 0; i < outcomes_.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(total(i)) + " " + outcomes_[i];
  return text;
}

nlohmann::json Tally::to_json() const {
  auto result = nlohmann::json::object();
  auto& operators = result["operators"] = nlohmann::json::object();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    result[outcomes_[i]] = total(i);
    for (const auto& [name, counts] : operators_) operators[name][outcomes_[i]] = counts[i];
  }
  return result;
}

}  // namespace tool
