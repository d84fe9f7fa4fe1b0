#include "tools/platform.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tool {

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string reason_not_writable(const std::filesystem::path& directory) {
  return access(directory.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

std::int64_t process_id() { return getpid(); }

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void restart_with(const char* variable, const char* value, char** arguments) {
  setenv(variable, value, 1);
  execv("/proc/self/exe", arguments);
}

QuietStandardError::QuietStandardError() : saved_(dup(STDERR_FILENO)) {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (saved_ >= 0 && nothing >= 0) dup2(nothing, STDERR_FILENO);
  if (nothing >= 0) close(nothing);
}

QuietStandardError::~QuietStandardError() {
  if (saved_ < 0) return;
  dup2(saved_, STDERR_FILENO);
  close(saved_);
}

}  // namespace tool
