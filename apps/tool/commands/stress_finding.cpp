#include "apps/tool/commands/stress_finding.hpp"

#include <iostream>
#include <span>

#include "apps/tool/output_files.hpp"

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

void write_trace(const std::string& path, const stress::RunRecording& recording) {
  const auto bytes = recording.file();
  OutputFiles files;
  files.add(path, {bytes});
  files.commit();
}

void write_trace(const std::string& path, const stress::Finding& finding) {
  if (path.empty()) return;
  stress::RunRecording recording;
  static_cast<void>(stress::replay(finding.token, nullptr, &recording));
  write_trace(path, recording);
}

}  // namespace tool
