// What polychron stress tells of a finding, however it was searched.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "stress/explorer.hpp"
#include "stress/run_recording.hpp"

namespace tool {

nlohmann::json finding_as_json(const polychron::stress::Finding& finding);
/// The program, the schedule, and how to run it again.
void print_finding(const polychron::stress::Finding& finding);
/// What the actors did in a run, for `polychron trace`. Throws UserError if it cannot be written.
void write_trace(const std::string& path, const polychron::stress::RunRecording& recording);
/// The recording of a finding's run; nothing if `path` is empty.
void write_trace(const std::string& path, const polychron::stress::Finding& finding);

}  // namespace tool
