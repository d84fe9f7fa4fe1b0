#include "base/control_groups.hpp"

#include <fstream>

namespace polychron {

void each_control_group(const std::string& root, const std::string& controller,
                        const std::function<void(const std::string& folder, bool unified)>& visit) {
  const auto mounts = root + "/sys/fs/cgroup";
  // In a container the path may be the host's, of which only the root is there.
  const auto walk = [&](const std::string& mount, const std::string& group, bool unified) {
    for (auto end = group.size(); end != std::string::npos; end = group.rfind('/', end - 1)) {
      visit(mount + group.substr(0, end), unified);
      if (end == 0) break;
    }
  };
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1.
  for (std::string number, controllers, group; std::getline(groups, number, ':') &&
                                               std::getline(groups, controllers, ':') &&
                                               std::getline(groups, group);) {
    if (controllers.empty()) {
      walk(mounts, group, true);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      // Controllers that share a mount have a folder of both names, and mostly links of one.
      walk(mounts + "/" + controller, group, false);
      if (controllers != controller) walk(mounts + "/" + controllers, group, false);
    }
  }
}

}  // namespace polychron
