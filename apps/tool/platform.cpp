#include "apps/tool/platform.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tool {

namespace {

/// A file that a signal removes. The handler runs at any moment, on any thread, and may not take
/// locks or memory: it walks a list that only grows, at its head. Written by the one thread that
/// writes files.
struct Doomed {
  std::string path;
  std::atomic<bool> removed_by_signals;
  Doomed* next;
};
std::atomic<Doomed*> doomed_files{nullptr};
static_assert(std::atomic<Doomed*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void remove_doomed_files(int signal_number) {
  for (const auto* file = doomed_files.load(); file != nullptr; file = file->next)
    if (file->removed_by_signals.load()) unlink(file->path.c_str());
  raise(signal_number);  // the default action is restored: ends the process
}

void listen_to_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_doomed_files;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

void remove_when_interrupted(const std::filesystem::path& file) {
  doomed_files.store(new Doomed{file.string(), true, doomed_files.load()});
  listen_to_signals();
}

void keep_when_interrupted(const std::filesystem::path& file) {
  for (auto* known = doomed_files.load(); known != nullptr; known = known->next)
    if (known->path == file.string()) known->removed_by_signals.store(false);
}

void take_precautions() {
  signal(SIGXFSZ, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)  // open() takes the lowest free descriptor
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

bool is_standard_stream(const std::filesystem::path& file) {
  struct stat there {};
  if (stat(file.c_str(), &there) != 0) return false;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (fstat(stream, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino)
      return true;
  }
  return false;
}

std::string reason_not_writable(const std::filesystem::path& directory) {
  return access(directory.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace tool
