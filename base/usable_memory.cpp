#include "base/usable_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace polychron {

namespace {

/// Lowers `least` to the number in the file. Files that are not there, or say "max", say nothing.
void at_most(std::uint64_t& least, const std::string& file) {
  std::uint64_t number = 0;
  if (std::ifstream(file) >> number) least = std::min(least, number);
}

std::uint64_t machine_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  if (file >> name >> kibibytes && name == "MemTotal:") return kibibytes * 1024;
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint64_t usable_memory(const std::string& root) {
  auto least = machine_memory(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/group" in version 2, "4:cpu,memory:/group" in version 1.
  for (std::string number, controllers, group; std::getline(groups, number, ':') &&
                                               std::getline(groups, controllers, ':') &&
                                               std::getline(groups, group);) {
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const auto mount = root + (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    // In a container the path may be the host's, of which only the root is there.
    for (auto end = group.size(); end != std::string::npos; end = group.rfind('/', end - 1)) {
      const auto folder = mount + group.substr(0, end);
      if (unified) {
        at_most(least, folder + "/memory.max");
        at_most(least, folder + "/memory.high");
      } else {
        at_most(least, folder + "/memory.limit_in_bytes");
      }
      if (end == 0) break;
    }
  }
  return least;
}

}  // namespace polychron
