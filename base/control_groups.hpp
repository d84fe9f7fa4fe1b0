// The control groups of Linux that this process is in, of both versions.
#pragma once

#include <functional>
#include <string>

namespace polychron {

/// Calls `visit(folder, unified)` for the folder of each group of `controller` ("memory", "cpu"),
/// and for those of the groups above, whose limits hold as well. `unified`: of version 2. A folder
/// may be missing, or be visited twice. `root`: of the file system with /proc and /sys; a test has
/// one of its own.
void each_control_group(const std::string& root, const std::string& controller,
                        const std::function<void(const std::string& folder, bool unified)>& visit);

}  // namespace polychron
