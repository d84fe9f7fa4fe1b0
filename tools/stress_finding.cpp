#include "tools/stress_finding.hpp"

#include <iostream>
#include <span>

#include "tools/output_files.hpp"

namespace tool {

namespace stress = polychron::stress;

nlohmann::json finding_as_json(const stress::Finding& finding) {
  return {{"what", finding.what},
          {"program", to_string(finding.program)},
          {"schedule", stress::to_string(finding.schedule)},
          {"token", finding.token}};
}

void print_finding(const stress::Finding& finding) {
  std::cout << to_string(finding.program) << "schedule: " << stress::to_string(finding.schedule)
            << "\nagain: polychron stress --replay " << finding.token << '\n';
}

void write_trace(const std::string& path, const stress::RunTrace& trace, const std::string& title) {
  const auto text = trace.chrome_json(title);
  OutputFiles files;
  files.add(path, {std::as_bytes(std::span(text))});
  files.commit();
}

void write_trace(const std::string& path, const stress::Finding& finding) {
  if (path.empty()) return;
  stress::RunTrace trace;
  static_cast<void>(stress::replay(finding.token, nullptr, &trace));
  write_trace(path, trace, finding.what);
}

}  // namespace tool
