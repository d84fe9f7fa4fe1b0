// The output of polychron stress for a finding, for all kinds of search.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "observe/stress/explorer.hpp"
#include "observe/stress/run_recording.hpp"

namespace tool {

nlohmann::json finding_as_json(const polychron::stress::Finding& finding);
/// Prints the program, the schedule, and the command that replays it.
void print_finding(const polychron::stress::Finding& finding);
/// Writes the recording of a run, for `polychron trace`. Throws UserError if it cannot be written.
void write_trace(const std::string& path, const polychron::stress::RunRecording& recording);
/// Writes the recording of a finding's run; does nothing if `path` is empty.
void write_trace(const std::string& path, const polychron::stress::Finding& finding);

}  // namespace tool
