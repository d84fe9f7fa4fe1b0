#include "apps/ocr/output.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/tool/printable.hpp"
#include "apps/tool/report.hpp"

namespace tool {
namespace {

bool is_uncertain(const ocr::Line& line) { return line.confidence < certain; }

nlohmann::json to_json(const std::string& name, const ocr::Picture& picture,
                       const ocr::Page& page) {
  auto lines = nlohmann::json::array();
  for (const auto& line : page.lines) {
    auto corners = nlohmann::json::array();
    for (const auto& corner : line.corners) corners.push_back({corner.x, corner.y});
    lines.push_back({{"text", line.text},
                     {"confidence", line.confidence},
                     {"uncertain", is_uncertain(line)},
                     {"corners", corners}});
  }
  nlohmann::json object{
      {"picture", name},           {"width", page.size.width},      {"height", page.size.height},
      {"rotation", page.rotation}, {"unreadable", page.unreadable}, {"lines", lines}};
  if (!picture.damage.empty()) object["damage"] = picture.damage;
  return object;
}

std::string count_of(std::size_t count, const char* thing) {
  return std::to_string(count) + ' ' + thing + (count == 1 ? "" : "s");
}

/// "lines 2, 3 and 7 are uncertain", numbered as printed.
std::string uncertain_lines(const ocr::Page& page) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < page.lines.size(); ++i)
    if (is_uncertain(page.lines[i])) numbers.push_back(std::to_string(i + 1));
  if (numbers.empty()) return {};
  std::string text = numbers.size() == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + numbers[i];
  return text + (numbers.size() == 1 ? " is" : " are") + " uncertain";
}

void warn_of_doubts(const std::string& name, const ocr::Page& page) {
  auto doubts = uncertain_lines(page);
  if (page.unreadable != 0)
    doubts += (doubts.empty() ? "" : "; ") + count_of(page.unreadable, "more line") +
              " could not be read";
  if (!doubts.empty()) warn("picture '" + name + "': " + doubts + " (--json has figures)");
}

}  // namespace

void OcrOutput::add(const std::string& name, const ocr::Picture& picture, const ocr::Page& page) {
  if (!picture.damage.empty())
    warn("picture '" + name + "': " + picture.damage + "; what is there was read");
  warn_of_doubts(name, page);
  if (json_) return add_json(to_text(to_json(name, picture, page)));
  begin_text(name);
  for (const auto& line : page.lines) std::cout << printable(line.text) << '\n';
  std::cout.flush();
}

void OcrOutput::add_failure(const std::string& name, const std::string& why) {
  if (json_ && several_) add_json(to_text({{"picture", name}, {"error", why}}));
}

void OcrOutput::begin_text(const std::string& name) {
  if (several_) std::cout << (told_ == 0 ? "" : "\n") << "==> " << printable(name) << " <==\n";
  ++told_;
}

void OcrOutput::add_json(const std::string& object) {
  if (several_) std::cout << (told_ == 0 ? "[\n" : ",\n");
  std::cout << object << std::flush;
  ++told_;
}

void OcrOutput::end() {
  if (json_ && told_ != 0) std::cout << (several_ ? "\n]\n" : "\n");
}

}  // namespace tool
