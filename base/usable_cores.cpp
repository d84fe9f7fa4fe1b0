#include "base/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <thread>

#include "base/control_groups.hpp"

namespace polychron {

namespace {

int cores_of_thread() {
  std::array<cpu_set_t, 16> set{};  // room for 16,384 cores; the system refuses too little room
  if (sched_getaffinity(0, sizeof(set), set.data()) == 0)
    return CPU_COUNT_S(sizeof(set), set.data());
  return static_cast<int>(std::thread::hardware_concurrency());
}

struct Quota {
  std::int64_t microseconds = 0, period = 0;
};

/// Version 2: "150000 100000", or "max 100000".
std::optional<Quota> quota_of(const std::string& file) {
  Quota quota;
  std::ifstream in(file);
  if (in >> quota.microseconds >> quota.period) return quota;
  return std::nullopt;
}

/// Version 1 has a file for each number. Without a quota the number is -1.
std::optional<Quota> quota_of(const std::string& file, const std::string& period_file) {
  Quota quota;
  std::ifstream in(file), period(period_file);
  if (in >> quota.microseconds && period >> quota.period) return quota;
  return std::nullopt;
}

}  // namespace

int count_usable_cores(const std::string& root) noexcept {
  std::int64_t least = cores_of_thread();
  const auto look = [&](const std::string& folder, bool unified) {
    const auto quota = unified
                           ? quota_of(folder + "/cpu.max")
                           : quota_of(folder + "/cpu.cfs_quota_us", folder + "/cpu.cfs_period_us");
    if (!quota || quota->microseconds <= 0 || quota->period <= 0) return;
    const auto whole = quota->microseconds / quota->period;
    least = std::min(least, whole + (quota->microseconds % quota->period != 0 ? 1 : 0));
  };
  try {
    each_control_group(root, "cpu", look);
  } catch (...) {  // no memory to look
  }
  return static_cast<int>(std::max<std::int64_t>(1, least));
}

}  // namespace polychron
