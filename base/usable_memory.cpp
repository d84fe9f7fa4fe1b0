#include "base/usable_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/control_groups.hpp"

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
  each_control_group(root, "memory", [&](const std::string& folder, bool unified) {
    if (unified) {
      at_most(least, folder + "/memory.max");
      at_most(least, folder + "/memory.high");
    } else {
      at_most(least, folder + "/memory.limit_in_bytes");
    }
  });
  return least;
}

}  // namespace polychron
